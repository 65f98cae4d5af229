// What a process sets for itself before it becomes a rank: the defaults of the C library, of Open
// MPI and of the launcher are wrong for many ranks on few cores. What the user has set stands.
#pragma once

#include <cstdint>

namespace hv {

// Before MPI starts.
void PrepareRank();

// Binds the process to its share of the cores it may use, unless somebody has bound it already:
// unbound ranks that wait for each other end up on one core. `position` of `ranks` on this node.
void BindToCores(int64_t position, int64_t ranks);

// How ranks of one node share memory, from HV_TRANSPORT; for tests and for odd systems.
enum class Sharing : uint8_t {
  kAny,     // unset or "auto": a memfd, else a window, else messages
  kMemfd,   // "memfd": or messages
  kWindow,  // "window": of the MPI library, or messages
  kNone,    // "p2p": messages
};
Sharing SharingAskedFor();

// HV_RANKS_PER_NODE: ranks are dealt to pretended nodes of so many; 0: the real ones.
int64_t RanksPerPretendedNode();

}  // namespace hv
