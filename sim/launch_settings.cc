#include "sim/launch_settings.h"

#include <malloc.h>
#include <sched.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <iterator>
#include <string_view>
#include <vector>

namespace hv {
namespace {

std::string_view Environment(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr ? text : "";
}

constexpr const char* kTransport = "HV_TRANSPORT";
constexpr const char* kRanksPerNode = "HV_RANKS_PER_NODE";
constexpr const char* kAgreement = "HV_AGREEMENT";

constexpr struct {
  std::string_view name;
  Sharing sharing;
} kSharings[] = {{"", Sharing::kAny},
                 {"auto", Sharing::kAny},
                 {"memfd", Sharing::kMemfd},
                 {"window", Sharing::kWindow},
                 {"p2p", Sharing::kNone}};

std::string Assigned(const char* name) { return name + ("=" + std::string(Environment(name))); }

}  // namespace

// The C library unmaps large temporaries after every call, and touching fresh pages costs more than
// reducing them; UCX probing costs 200 ms of start-up; ranks that wait spin. Open MPI 4's launcher may
// hang or crash if it has to end a job while a rank waits in MPI_Finalize (a fence of PMIx that stays
// open), so that, where no messages between hosts can be under way any more, nobody waits there.
void PrepareRank() {
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
  mallopt(M_TOP_PAD, 64 << 20);
  setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
  const std::string_view local = Environment("OMPI_COMM_WORLD_LOCAL_SIZE");
  const bool one_node = !local.empty() && local == Environment("OMPI_COMM_WORLD_SIZE");
  if (!one_node) return;
  setenv("OMPI_MCA_pml", "ob1", 0);
  setenv("OMPI_MCA_async_mpi_finalize", "1", 0);
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

Result<LaunchSettings> ReadLaunchSettings() {
  LaunchSettings settings;
  const std::string_view transport = Environment(kTransport), ranks = Environment(kRanksPerNode);
  const auto known = std::find_if(std::begin(kSharings), std::end(kSharings),
                                  [&](const auto& row) { return row.name == transport; });
  if (known == std::end(kSharings)) {
    return Invalid("launch-setting",
                   Assigned(kTransport) + ": expected auto, memfd, window or p2p");
  }
  settings.sharing = known->sharing;
  const std::string_view agreement = Environment(kAgreement);
  settings.agree_by_groups = agreement != "global";
  if (settings.agree_by_groups && !agreement.empty() && agreement != "groups") {
    return Invalid("launch-setting", Assigned(kAgreement) + ": expected groups or global");
  }
  if (ranks.empty()) return settings;
  const char* const end = ranks.data() + ranks.size();
  const auto [stop, error] = std::from_chars(ranks.data(), end, settings.ranks_per_node);
  if (error == std::errc() && stop == end && settings.ranks_per_node > 0) return settings;
  return Invalid("launch-setting", Assigned(kRanksPerNode) + ": expected a number of ranks");
}

std::string LaunchSettingsText() {
  std::string text;
  for (const char* name : {kTransport, kRanksPerNode, kAgreement}) {
    if (!Environment(name).empty()) text += (text.empty() ? "" : " ") + Assigned(name);
  }
  return text;
}

}  // namespace hv
