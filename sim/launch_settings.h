// What a process sets for itself before it becomes a rank: the defaults of the C library, of Open
// MPI and of the launcher are wrong for many ranks on few cores. What the user has set stands.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace hv {

// Before MPI starts.
void PrepareRank();

// Binds the process to its share of the cores it may use, unless somebody has bound it already:
// unbound ranks that wait for each other end up on one core. `position` of `ranks` on this node.
void BindToCores(int64_t position, int64_t ranks);

// How ranks of one node share memory.
enum class Sharing : uint8_t {
  kAny,     // a memfd, else a window, else messages
  kMemfd,   // or messages
  kWindow,  // of the MPI library, or messages
  kNone,    // messages
};

// What the environment asks for; for tests and for odd systems. A variable that is unset or empty
// asks for nothing.
struct LaunchSettings {
  Sharing sharing = Sharing::kAny;  // HV_TRANSPORT=auto|memfd|window|p2p
  int64_t ranks_per_node = 0;       // HV_RANKS_PER_NODE=N: pretended nodes of N; 0: the real ones
  bool agree_by_groups = true;      // HV_AGREEMENT=groups|global: global: always all ranks together
};

// Errors: "launch-setting".
Result<LaunchSettings> ReadLaunchSettings();

// What is set of it, "NAME=value …": ranks ask alike if it is equal.
std::string LaunchSettingsText();

}  // namespace hv
