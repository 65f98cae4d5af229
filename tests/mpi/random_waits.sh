#!/usr/bin/env bash
# random_waits.sh FIRST_SEED LAST_SEED: modules whose groups go their own ways, right and wrong ones, run
# by ranks that are delayed at random: agreeing by groups and all together, on one node, on
# pretended nodes of three ranks, by messages. Says where a report differs from that of one process,
# and at last how the runs ended.
set -u
first=$1 last=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export LD_PRELOAD=$(dirname "$(command -v run_hlo)")/libfaulty_mpi.so
export ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0

run() {
  { timeout 60 run_hlo --json --seed="$seed" "$@" "$scratch/module.hlo" 2>/dev/null; echo "exit $?"; } |
    sed -E 's/"seconds": [0-9.e+-]+, "peak_bytes": [0-9]+/-/'
}

different=0
for ((seed = first; seed <= last; ++seed)); do
  random_waits "$seed" >"$scratch/module.hlo"
  run >"$scratch/alone"
  grep -oE '"outputs"|deadlock: |mismatch: |undefined-input|outside' "$scratch/alone" | head -1 >>"$scratch/ends"
  ranks=$((2 + seed % 7))
  for way in HV_AGREEMENT=groups HV_AGREEMENT=global HV_RANKS_PER_NODE=3 HV_TRANSPORT=p2p; do
    export "${way?}"
    HV_FAULT=delay@all run -n "$ranks" | cmp -s - "$scratch/alone" ||
      { echo "seed $seed: $ranks ranks differ with $way"; different=1; }
    unset "${way%%=*}"
  done
done
((different)) || echo "$((last - first + 1)) reports agree"
[[ -v TELL ]] && sort "$scratch/ends" | uniq -c
exit 0
