#!/usr/bin/env bash
# fault.sh FAULT COMMAND...
# Runs COMMAND, which starts ranks, with a fault in one of them (see faulty_mpi.cc), or with FAULT
# "SIGNAL": that signal sent to COMMAND itself once its ranks run. Says how it ended and what it left
# behind: processes, shared memory, session folders.
set -u
fault=$1
shift

scratch=$(mktemp -d)
mkdir "$scratch/shared" "$scratch/sessions"
export TMPDIR=$scratch/sessions OMPI_MCA_btl_vader_backing_directory=$scratch/shared
export OMPI_MCA_osc_sm_backing_directory=$scratch/shared
export ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0

mine() {  # processes of this run, zombies aside: they all inherit its TMPDIR
  local folder
  for folder in /proc/[0-9]*; do
    [[ ${folder#/proc/} == $$ || ${folder#/proc/} == "$BASHPID" ]] && continue
    grep -qsz "^TMPDIR=$TMPDIR\$" "$folder/environ" && echo "${folder#/proc/}"
  done
}

if [[ $fault == *@* ]]; then
  HV_FAULT=$fault LD_PRELOAD=$(dirname "$(command -v run_hlo)")/libfaulty_mpi.so "$@"
  code=$?
else
  "$@" &
  command=$!
  until (($(mine | wc -l) > 3)); do sleep 0.05; done
  kill -s "$fault" "$command"
  wait "$command" 2>/dev/null
  code=$?
fi

for ((i = 0; i < 100; ++i)); do
  [[ -z $(mine) ]] && break
  sleep 0.1
done
left=$(
  for process in $(mine); do
    cat "/proc/$process/comm"
    kill -KILL "$process"
  done
  find "$scratch" -type f -printf '%P\n'
)
echo "exit code $code, ${left:-nothing} left"
rm -rf "$scratch"
