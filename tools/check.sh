#!/usr/bin/env bash
# Installs what is missing, builds with warnings as errors, runs every test but the nightly ones, and
# closes with the line "N passed, N failed". Usage: tools/check.sh [preset], ci by default (asan, tsan,
# dev also work).
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

preset=${1:-ci}
build=build/$preset
[[ $preset == ci ]] && build=build/release
results=$PWD/$build/test_results.xml

run ./tools/install_dependencies.sh
run cmake --preset "$preset"
run cmake --build --preset "$preset"

rm -f "$results"
code=0
run ctest --test-dir "$build" --output-on-failure --no-tests=error --parallel "$(nproc)" \
  --label-exclude nightly --output-junit "$results" || code=$?
[[ -f $results ]] || { echo "error: ctest wrote no $results" >&2; exit 70; }

# Only a test that ran and passed counts as passed: one that was skipped or could not start failed.
count() { grep -c "<testcase .*status=\"$1\"" "$results" || true; }
passed=$(count run)
failed=$(($(grep -c '<testcase ' "$results") - passed))
((failed == 0 || code != 0)) || code=8
echo "$passed passed, $failed failed"
exit "$code"
