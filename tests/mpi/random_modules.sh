#!/usr/bin/env bash
# random_modules.sh collectives FIRST_SEED LAST_SEED COUNT: modules of COUNT random collectives each;
# random_modules.sh waits FIRST_SEED LAST_SEED: modules whose groups go their own ways, right and wrong
# ones. All on eight devices, run by ranks that are delayed at random, on every transport and on
# pretended nodes of three ranks; agreeing by groups and all together. Says where a report differs
# from that of one process; with TELL set, at last how the runs ended.
set -u
kind=$1 first=$2 last=$3 count=${4:-}
case $kind in
  collectives) ways=(HV_TRANSPORT={memfd,window,p2p} HV_RANKS_PER_NODE=3) many=$count what=collectives ;;
  waits) ways=(HV_AGREEMENT={groups,global} HV_TRANSPORT={window,p2p} HV_RANKS_PER_NODE=3)
    many=1 what=reports ;;
esac
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export LD_PRELOAD=$(dirname "$(command -v run_hlo)")/libfaulty_mpi.so
export ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0

run() {
  { timeout 600 run_hlo --json --seed="$seed" "$@" "$scratch/module.hlo" 2>/dev/null
    echo "exit code $?"; } |  # 124: did not end
    sed -E 's/"seconds": [0-9.e+-]+, "peak_bytes": [0-9]+/-/'
}

different=0
for ((seed = first; seed <= last; ++seed)); do
  "random_$kind" "$seed" $count >"$scratch/module.hlo"
  run >"$scratch/alone"
  grep -oE '"outputs"|deadlock: |mismatch: |undefined-input|outside' "$scratch/alone" | head -1 >"$scratch/end"
  [[ $kind == waits || $(<"$scratch/end") == '"outputs"' ]] || { echo "seed $seed: does not run"; different=1; }
  cat "$scratch/end" >>"$scratch/ends"
  ranks=$((2 + seed % 7))
  for way in "${ways[@]}"; do
    export "${way?}"
    HV_FAULT=delay@all run -n "$ranks" >"$scratch/together"
    cmp -s "$scratch/together" "$scratch/alone" ||
      { echo "seed $seed: $ranks ranks differ with $way, $(tail -1 "$scratch/together")"; different=1; }
    unset "${way%%=*}"
  done
done
((different)) || echo "$(((last - first + 1) * many)) $what agree"
[[ -v TELL ]] && sort "$scratch/ends" | uniq -c
exit 0
