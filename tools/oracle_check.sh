#!/usr/bin/env bash
# Optional, not part of check.sh: compares run_hlo with XLA:CPU on random modules, op by op and in small
# graphs (tests/oracle). Installs jax into a virtual environment unless ORACLE_PYTHON names a Python that
# has it. Usage: tools/oracle_check.sh [--count=20000] [--seed=1] [--only=FAMILY].
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"

python=${ORACLE_PYTHON:-build/oracle/bin/python}
if ! "$python" -c 'import jax' 2> /dev/null; then
  run python3 -m venv build/oracle
  python=build/oracle/bin/python
  run "$python" -m pip install --quiet jax numpy
fi
run cmake --preset ci
run cmake --build --preset ci --target run_hlo
run nice -n 5 "$python" tests/oracle/oracle.py --run-hlo build/release/run_hlo \
  --scratch build/oracle_cases "$@"
