#!/usr/bin/env bash
# hosts.sh HOSTS SLOTS COMMAND...: runs COMMAND, an mpirun, on the first of HOSTS hosts with SLOTS ranks
# each. A host is a network namespace with a host name of its own; a switch joins them, and Open MPI
# reaches the others over TCP through this same script in place of ssh. Needs iproute2, and root or a
# system that lets users make namespaces.
set -euo pipefail

# In place of ssh: hosts.sh --on ADDRESS WORDS..., as Open MPI calls its agent.
if [[ $1 == --on ]]; then
  shift
  host=${1##*.}
  shift
  exec ip netns exec "$HV_HOSTS-$host" unshare --uts sh -c \
    "hostname $HV_HOSTS-host$host; exec sh -c \"\$1\"" sh "$*"
fi

if ((EUID != 0)); then  # root of a user namespace will do
  exec unshare --user --map-root-user --net --mount \
    sh -c 'mount -t tmpfs tmpfs /run && exec "$@"' sh "$0" "$@"
fi

hosts=$1 slots=$2
shift 2
export HV_HOSTS=hv$$
scratch=$(mktemp -d)
cleanup() {
  for ((h = 0; h <= hosts; ++h)); do
    ip netns pids "$HV_HOSTS-$h" 2>/dev/null | xargs -r kill -KILL 2>/dev/null || true
    ip netns delete "$HV_HOSTS-$h" 2>/dev/null || true
  done
  rm -rf "$scratch"
}
trap cleanup EXIT
trap 'exit 143' TERM INT

# Namespace 0 is the switch, namespaces 1 to HOSTS are the hosts.
ip netns add "$HV_HOSTS-0"
ip -n "$HV_HOSTS-0" link add switch type bridge
ip -n "$HV_HOSTS-0" link set switch up
for ((h = 1; h <= hosts; ++h)); do
  name=$HV_HOSTS-$h
  ip netns add "$name"
  ip -n "$HV_HOSTS-0" link add "port$h" type veth peer name cable netns "$name"
  ip -n "$HV_HOSTS-0" link set "port$h" master switch up
  ip -n "$name" address add "10.77.0.$h/24" dev cable
  ip -n "$name" link set cable up
  ip -n "$name" link set lo up
  echo "10.77.0.$h slots=$slots" >>"$scratch/hosts"
done

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_orte_default_hostfile=$scratch/hosts
export OMPI_MCA_plm_rsh_agent="$(realpath "$0") --on"
export OMPI_MCA_oob_tcp_if_include=10.77.0.0/24 OMPI_MCA_btl_tcp_if_include=10.77.0.0/24
printf -v words '%q ' "$@"
# Open MPI says so where its agent has started before it could set the group of processes: no harm.
"$0" --on 10.77.0.1 "cd $(printf %q "$PWD") && exec $words" \
  2> >(grep --line-buffered -v 'plm:rsh: Warning: setpgid' >&2)
