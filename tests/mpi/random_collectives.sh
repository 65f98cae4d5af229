#!/usr/bin/env bash
# random_collectives.sh FIRST_SEED LAST_SEED COUNT: modules of COUNT random collectives each, on eight
# devices, run by ranks that are delayed at random: over shared memory, over a window of MPI, over
# messages, on pretended nodes of three ranks. Says where the bits differ from those of one process.
set -u
first=$1 last=$2 count=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export LD_PRELOAD=$(dirname "$(command -v run_hlo)")/libfaulty_mpi.so
export ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0

run() {
  timeout 600 run_hlo --json --seed="$seed" "$@" "$scratch/module.hlo" |
    sed -E 's/"seconds": [0-9.e+-]+, "peak_bytes": [0-9]+/-/'
  echo "exit code ${PIPESTATUS[0]}"  # 124: did not end
}

different=0
for ((seed = first; seed <= last; ++seed)); do
  random_collectives "$seed" "$count" >"$scratch/module.hlo"
  run >"$scratch/alone"
  grep -q '"outputs"' "$scratch/alone" || { echo "seed $seed: does not run"; continue; }
  ranks=$((2 + seed % 7))
  for way in HV_TRANSPORT=memfd HV_TRANSPORT=window HV_TRANSPORT=p2p HV_RANKS_PER_NODE=3; do
    export "${way?}"
    HV_FAULT=delay@all run -n "$ranks" >"$scratch/together"
    cmp -s "$scratch/together" "$scratch/alone" ||
      { echo "seed $seed: $ranks ranks differ with $way, $(tail -1 "$scratch/together")"; different=1; }
    unset "${way%%=*}"
  done
done
((different)) || echo "$(((last - first + 1) * count)) collectives agree"
