#!/usr/bin/env bash
# sanitize.sh [address|thread]: builds with AddressSanitizer and UBSan, or with ThreadSanitizer, and runs
# what shares memory: threads of one process, ranks of one node as threads (the unit tests of the
# simulator), and ranks as processes, through shared memory and through messages. Ends at the first
# finding. Takes a quarter of an hour, most of it for the build.
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
run cmake --build "$programs" --target run_hlo verify_rewrite random_collectives sim_test

# Libraries are not instrumented: what their threads lock cannot be seen.
export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1
export UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS=ignore_noninstrumented_modules=1:second_deadlock_stack=1
export PATH=$programs:$PATH

run sim_test --gtest_brief=1
run run_hlo -q --threads=2 --cases "$cases"
run verify_rewrite -q --threads=2 scenarios
random_collectives 1 300 >"$scratch/module.hlo"
run run_hlo --threads=2 --no-outputs "$scratch/module.hlo"

# Open MPI keeps memory until a rank ends, and unloads the code that could be named for it.
ASAN_OPTIONS+=:detect_leaks=0
limit=--timeout=600  # with a limit a thread watches each rank
for n in $ranks; do
  for way in memfd window p2p; do
    export HV_TRANSPORT=$way
    echo "HV_TRANSPORT=$way"
    run run_hlo -n "$n" $limit -q --cases "$cases/collectives"
    run run_hlo -n "$n" $limit --threads=2 --no-outputs "$scratch/module.hlo"
  done
  export HV_TRANSPORT=auto
  run verify_rewrite -n "$n" $limit -q scenarios
  HV_RANKS_PER_NODE=2 run verify_rewrite -n "$n" $limit -q scenarios
done
echo "nothing found by the $kind sanitizer"
