#!/usr/bin/env bash
# lost_ranks.sh COUNT: jobs in which one rank is killed, stopped or leaves, on every transport in turn.
# Each must end in its time with the exit code of its fault, and leave nothing behind.
set -u
count=$1
here=$(dirname "$0")
failed=0
for ((i = 0; i < count; ++i)); do
  kinds=(kill leave kill stop) ways=(memfd p2p window)
  kind=${kinds[i % 4]} way=${ways[i % 3]} ranks=$((2 + i % 4))
  said=$(HV_TRANSPORT=$way timeout 60 "$here/fault.sh" "$kind@$((i % ranks))" \
    run_hlo -n "$ranks" --timeout=1 "$here/endless.hlo" 2>/dev/null)
  [[ $said == "exit code 70, nothing left" ]] ||
    { echo "run $i, $kind with $way on $ranks ranks: ${said:-did not end}"; failed=1; }
done
((failed)) || echo "$count jobs ended as they should"
