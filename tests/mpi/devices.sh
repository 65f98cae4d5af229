#!/usr/bin/env bash
# devices.sh FOLDER [SIZE...]: modules for meshes of 1 to 64 (or SIZE) partitions, each an all-reduce over
# strided groups of which every device cuts out a shard; as cases of run_hlo, and as scenarios for two
# passes.
set -eu
folder=$1
shift
(($# > 0)) || set -- 1 2 3 5 7 8 12 16 24 32 48 64

groups() {  # of $1 partitions, every $2-th together
  local list=() group d
  for ((group = 0; group < $2; ++group)); do
    local members=()
    for ((d = group; d < $1; d += $2)); do members+=("$d"); done
    list+=("{$(IFS=,; echo "${members[*]}")}")
  done
  (IFS=,; echo "${list[*]}")
}

module() {
  cat <<HLO
HloModule strided_$2_of_$1, num_partitions=$1

add {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT sum = s32[] add(a, b)
}

ENTRY main {
  x = s32[$1] parameter(0)
  sum = s32[$1] all-reduce(x), channel_id=1, use_global_device_ids=true, replica_groups={$(groups "$1" "$2")}, to_apply=add
  offset = u32[] partition-id()
  ROOT shard = s32[1] dynamic-slice(sum, offset), dynamic_slice_sizes={1}
}
HLO
}

scenarios=()
for size in "$@"; do
  for strides in 1 4; do
    ((strides == 1 || size % strides == 0)) || continue
    case_folder=$folder/cases/${size}_by_$strides
    mkdir -p "$case_folder"
    module "$size" "$strides" >"$case_folder/module.hlo"
    echo '{}' >"$case_folder/case.json"
    for pass in aws_neuron_rewrite_all_reduce_dynamic_slice \
      all_reduce_dynamic_slice_to_reduce_scatter; do
      scenarios+=("{\"version\": 1, \"name\": \"$size by $strides, $pass\",
        \"module\": \"$case_folder/module.hlo\", \"passes\": [\"$pass\"]}")
    done
  done
done
(IFS=,; echo "{\"scenarios\": [${scenarios[*]}]}") >"$folder/scenarios.json"
