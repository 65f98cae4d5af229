// Memory of one rank that the other ranks of its node map too. It comes from a memfd, which has no
// name: nothing is left behind whatever ends the process. Blocks are whole pages, populated when
// they are handed out, so that neither this rank nor its peers fault them in one by one.
#pragma once

#include <sys/types.h>

#include <cstddef>

#include "base/free_ranges.h"

namespace hv {

// Address space that is there to be shared: as much as the machine has memory, so that what fits
// the machine fits the arena. Pages come into being when they are touched.
struct SharedRange {
  std::byte* base = nullptr;  // null: could not be had
  size_t bytes = 0;
};

// A new memfd; -1 if there is none to be had. Stays open for peers to find.
int CreateSharedMemory(size_t bytes);
SharedRange MapSharedMemory(int descriptor, size_t bytes);
// Of another process of this user: memory it has created and keeps open as `descriptor`.
SharedRange MapSharedMemoryOf(pid_t process, int descriptor, size_t bytes);

class SharedArena {
 public:
  // Hands out `range` but for its first `header_bytes`.
  SharedArena(SharedRange range, size_t header_bytes);

  // A block of zeros or of what was there before, aligned to pages; null if there is no room.
  std::byte* Allocate(size_t bytes);
  // The pages of a large block go back to the system. False if `data` is not of this arena.
  bool Release(std::byte* data, size_t bytes);
  bool Holds(const std::byte* data) const {
    return data >= range_.base && data < range_.base + range_.bytes;
  }
  size_t OffsetOf(const std::byte* data) const { return static_cast<size_t>(data - range_.base); }

 private:
  SharedRange range_;
  size_t touched_ = 0;  // up to here pages were populated once
  FreeRanges free_;
};

}  // namespace hv
