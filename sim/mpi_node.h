// Which ranks share a node, and the memory they share, found out through MPI.
#pragma once

#define OMPI_SKIP_MPICXX 1  // the C++ bindings do not compile without warnings
#include <mpi.h>

#include <string>
#include <vector>

#include "sim/launch_settings.h"
#include "sim/node_ranks.h"

namespace hv {

// Every rank's text by rank of `communicator`; texts that together fit an int.
std::vector<std::string> GatherTexts(const std::string& mine, MPI_Comm communicator);

// The nodes of a job. Collective over all ranks, with the same settings on all.
struct MpiNodes {
  explicit MpiNodes(const LaunchSettings& settings);

  int64_t most_ranks = 1;                // of one node
  std::vector<std::vector<Rank>> ranks;  // by node, ascending; nodes by their lowest rank
  MPI_Comm leaders = MPI_COMM_NULL;      // one rank of each node, in this order; null elsewhere
  NodeRanks* own = nullptr;              // alone, or memory is not shared; lives for ever
  bool share_memory = false;             // on every node of several ranks, and there is one
};

}  // namespace hv
