#!/usr/bin/env bash
# Installs what the build needs from Debian packages; does nothing where all of it is there.
set -euo pipefail

packages=(g++ cmake ninja-build openmpi-bin libopenmpi-dev libeigen3-dev nlohmann-json3-dev
          libcli11-dev libfmt-dev libexpected-dev libgtest-dev libgmock-dev libbenchmark-dev
          iproute2)

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ $status == installed ]] || missing+=("$package")
done
if ((${#missing[@]} == 0)); then
  echo "== all ${#packages[@]} packages are installed"
  exit 0
fi

as_root=()
((EUID == 0)) || as_root=(sudo)
echo "== installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}"
