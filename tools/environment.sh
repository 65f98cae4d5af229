# Sourced by the scripts: the repository root as working directory, and what Open MPI needs to start
# as many ranks as asked for, as any user, on any number of cores.
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1

run() {
  echo "\$ $*"
  "$@"
}
