#!/usr/bin/env bash
# lost_ranks.sh COUNT [JOBS]: COUNT jobs, JOBS at a time, that would do random collectives for ever,
# in which one rank is killed, is stopped, leaves or ends MPI early, at a random time, on every
# transport in turn. Each must end in its time with the exit code of its fault, and leave nothing
# behind: no process, no shared memory, no folder.
set -u
here=$(dirname "$0")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export here scratch

lose() {
  local i=$1 kinds=(kill leave stop kill finish) ways=(memfd p2p window auto) said
  local kind=${kinds[i % 5]} way=${ways[i / 5 % 4]} ranks=$((2 + i / 20 % 5))
  local fault=$kind@$((i % ranks)) at=$((100 + i * 7919 % 400))
  random_collectives "$i" 10 endless >"$scratch/$i.hlo"
  said=$(HV_FAULT_AT=$at HV_TRANSPORT=$way timeout 300 "$here/fault.sh" "$fault" \
    run_hlo -n "$ranks" --timeout=3 "$scratch/$i.hlo" 2>"$scratch/$i.said")
  [[ $said == "exit code 70, nothing left" ]] ||
    echo "run $i, $fault at time $at with $way on $ranks ranks: ${said:-did not end}" \
      "$(head -3 "$scratch/$i.said")"
  rm "$scratch/$i."*
}
export -f lose

failed=$(seq 0 $(($1 - 1)) | xargs -P "${2:-1}" -I{} bash -c 'lose {}')
[[ -z $failed ]] && echo "$1 jobs ended as they should" || echo "$failed"
