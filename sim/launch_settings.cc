#include "sim/launch_settings.h"

#include <malloc.h>
#include <sched.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace hv {
namespace {

std::string_view Environment(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr ? text : "";
}

}  // namespace

// The C library unmaps large temporaries after every call, and touching fresh pages costs more than
// reducing them; UCX probing costs 200 ms of start-up; ranks that wait spin.
void PrepareRank() {
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
  mallopt(M_TOP_PAD, 64 << 20);
  setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
  const std::string_view local = Environment("OMPI_COMM_WORLD_LOCAL_SIZE");
  const bool one_node = !local.empty() && local == Environment("OMPI_COMM_WORLD_SIZE");
  if (one_node) setenv("OMPI_MCA_pml", "ob1", 0);
}

void BindToCores(int64_t position, int64_t ranks) {
  if (!Environment("OMPI_MCA_hwloc_base_binding_policy").empty()) return;
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  std::vector<size_t> cores;
  for (size_t core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &allowed)) cores.push_back(core);
  }
  const auto count = static_cast<int64_t>(cores.size());
  if (count < 2 || ranks < 2) return;
  const int64_t begin = ranks <= count ? position * count / ranks : position % count;
  const int64_t end = ranks <= count ? (position + 1) * count / ranks : begin + 1;
  cpu_set_t own;
  CPU_ZERO(&own);
  for (int64_t c = begin; c < end; ++c) CPU_SET(cores[static_cast<size_t>(c)], &own);
  sched_setaffinity(0, sizeof own, &own);
}

Sharing SharingAskedFor() {
  const std::string_view asked = Environment("HV_TRANSPORT");
  if (asked == "memfd") return Sharing::kMemfd;
  if (asked == "window") return Sharing::kWindow;
  return asked == "p2p" ? Sharing::kNone : Sharing::kAny;
}

int64_t RanksPerPretendedNode() {
  const std::string_view text = Environment("HV_RANKS_PER_NODE");
  int64_t ranks = 0;
  std::from_chars(text.data(), text.data() + text.size(), ranks);
  return std::max<int64_t>(ranks, 0);
}

}  // namespace hv
