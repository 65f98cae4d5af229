#!/usr/bin/env bash
# The main job in a minute: installs what is missing, builds, and verifies two rewrites of collectives
# on eight MPI ranks. The first is right and cheaper, the second is wrong and gets a counterexample.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

run ./tools/install_dependencies.sh
run cmake --preset release
run cmake --build --preset release --target verify_rewrite run_hlo rewrite_hlo

echo
echo "== 1. all-reduce + dynamic-slice becomes a reduce-scatter: right, and it halves the traffic"
run mpirun -n 8 build/release/verify_rewrite scenarios/truth-09-repeated-pool-strided-2x4.json

echo
echo "== 2. the same pass on contiguous groups: the offsets no longer fit, and it says where"
run mpirun -n 8 build/release/verify_rewrite scenarios/truth-10-repeated-pool-contiguous-2x4.json

echo
echo "== 3. right, but dearer: the all-reduce has a second user and stays"
run mpirun -n 8 build/release/verify_rewrite scenarios/truth-11-second-user-p4.json
