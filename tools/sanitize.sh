#!/usr/bin/env bash
# sanitize.sh [address|thread]: builds with AddressSanitizer and UBSan, or with ThreadSanitizer, and runs
# what shares memory: threads of one process, ranks of one node as threads (the unit tests of the
# simulator), and ranks as processes, through shared memory and through messages, agreeing by groups,
# between pretended nodes, with results shared and private. Ends at the first finding. Takes half an
# hour, most of it for the build.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

kind=${1:-address}
case $kind in
  address) preset=asan ranks="2 4 8" ;;
  thread) preset=tsan ranks="2 4" ;;
  *) echo "usage: $0 [address|thread]" >&2; exit 2 ;;
esac
programs=$PWD/build/$preset
cases=tests/data/cases/conformance
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

run cmake --preset "$preset"
run cmake --build "$programs" --target run_hlo verify_rewrite random_collectives random_waits sim_test

# Libraries are not instrumented: what their threads lock cannot be seen.
export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1
export UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS=ignore_noninstrumented_modules=1:second_deadlock_stack=1
export PATH=$programs:$PATH

# Random collectives, large ones among them; loops and branches whose groups go their own ways, to
# good ends and bad ones, which are no finding. Written beforehand: what follows is `run` in turn.
random_collectives 1 300 >"$scratch/collectives.hlo"
for ((seed = 1; seed <= 6; ++seed)); do random_waits "$seed" >"$scratch/waits$seed.hlo"; done

# What a module brings about; a finding makes it 70.
waits() {
  local seed code
  for ((seed = 1; seed <= 6; ++seed)); do
    code=0
    run run_hlo "$@" --no-outputs "$scratch/waits$seed.hlo" >"$scratch/said" 2>&1 || code=$?
    [[ $code == 0 || $code == 2 || $code == 10 ]] || { cat "$scratch/said"; return 1; }
  done
}

run sim_test --gtest_brief=1
run run_hlo -q --threads=2 --cases "$cases"
run verify_rewrite -q --threads=2 scenarios
run run_hlo --threads=2 --no-outputs "$scratch/collectives.hlo"
run run_hlo -q --threads=2 --cases tests/data/real/modules

# Open MPI keeps memory until a rank ends, and unloads the code that could be named for it.
ASAN_OPTIONS+=:detect_leaks=0
limit=--timeout=600  # with a limit a thread watches each rank
for n in $ranks; do
  for way in HV_TRANSPORT={memfd,window,p2p} HV_AGREEMENT=global HV_RANKS_PER_NODE=2; do
    export "${way?}"
    echo "$way"
    run run_hlo -n "$n" $limit -q --cases "$cases/collectives"
    run run_hlo -n "$n" $limit --threads=2 --no-outputs "$scratch/collectives.hlo"
    waits -n "$n" $limit
    unset "${way%%=*}"
  done
  run verify_rewrite -n "$n" $limit --measure --collective-results=private -q scenarios/truth-0*-p4.json
  run verify_rewrite -n "$n" $limit --threads=2 -q scenarios
  HV_RANKS_PER_NODE=2 run verify_rewrite -n "$n" $limit -q scenarios
done
echo "nothing found by the $kind sanitizer"
