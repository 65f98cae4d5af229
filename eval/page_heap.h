// Private memory of this process in huge pages: one stretch of address space, cut into whole small pages
// and joined again, so that storage of any size shares huge pages with its neighbours. A huge page costs
// one fault instead of 512, each of which costs as much as computing on its 4 KiB.
#pragma once

#include <cstddef>

#include "base/free_ranges.h"

namespace hv {

class PageHeap {
 public:
  PageHeap();  // with no memory where the system has none to give
  PageHeap(const PageHeap&) = delete;

  std::byte* Allocate(size_t bytes);  // aligned to pages; null: there is no room
  // Huge pages that hold nothing more go back to the system. False: not from here.
  bool Release(std::byte* data, size_t bytes);

 private:
  std::byte* base_ = nullptr;
  size_t bytes_ = 0;
  FreeRanges free_;
};

// Memory of one thread that stays for the next use: fresh pages would cost as much as working on them.
class WorkingMemory {
 public:
  WorkingMemory() = default;
  WorkingMemory(const WorkingMemory&) = delete;
  ~WorkingMemory();
  std::byte* AtLeast(size_t bytes);  // aligned to cache lines; what was there is lost if it grows

 private:
  std::byte* data_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace hv
