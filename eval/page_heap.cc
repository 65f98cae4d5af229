// The address space is as large as the machine's memory; pages come into being when they are touched.
#include "eval/page_heap.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "base/check.h"

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace hv {
namespace {

constexpr size_t kPage = size_t{1} << 12, kHugePage = size_t{1} << 21;
// Who needs little gets small pages, before the first huge one: first fit keeps it there.
constexpr size_t kSmallPages = size_t{1} << 18;

size_t RoundUp(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

// A hint: failing changes nothing.
void AskForHugePages(std::byte* data, size_t bytes) {
#if defined(__linux__)
  madvise(data, bytes, MADV_HUGEPAGE);
#else
  static_cast<void>(data), static_cast<void>(bytes);
#endif
}

}  // namespace

#if defined(__linux__)

PageHeap::PageHeap() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  if (pages <= 0) return;
  const size_t bytes = RoundUp(static_cast<size_t>(pages) * kPage, kHugePage);
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* const memory = mmap(nullptr, bytes + kHugePage, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (memory == MAP_FAILED) return;
  const auto address = reinterpret_cast<size_t>(memory);
  base_ = static_cast<std::byte*>(memory) + (RoundUp(address, kHugePage) - address);
  bytes_ = bytes;
  free_.Give(0, kSmallPages);  // not beside the others: what needs more begins in a huge page
  free_.Give(kHugePage, bytes);
  AskForHugePages(base_ + kHugePage, bytes - kHugePage);
}

std::byte* PageHeap::Allocate(size_t bytes) {
  const std::optional<size_t> begin = free_.Take(RoundUp(bytes, kPage));
  return begin ? base_ + *begin : nullptr;
}

bool PageHeap::Release(std::byte* data, size_t bytes) {
  if (data < base_ || data >= base_ + bytes_) return false;
  const auto begin = static_cast<size_t>(data - base_);
  const size_t end = begin + RoundUp(bytes, kPage);
  const FreeRanges::Range free = free_.Give(begin, end);
  // Those further off went back when they became free.
  const size_t first = std::max(RoundUp(free.begin, kHugePage), begin / kHugePage * kHugePage);
  const size_t last = std::min(free.end / kHugePage * kHugePage, RoundUp(end, kHugePage));
  if (first < last) madvise(base_ + first, last - first, MADV_DONTNEED);
  return true;
}

#else

PageHeap::PageHeap() = default;
std::byte* PageHeap::Allocate(size_t) { return nullptr; }
bool PageHeap::Release(std::byte*, size_t) { return false; }

#endif

WorkingMemory::~WorkingMemory() { std::free(data_); }

std::byte* WorkingMemory::AtLeast(size_t bytes) {
  if (bytes <= bytes_) return data_;
  std::free(data_);
  const size_t unit = bytes > kSmallPages ? kHugePage : kPage;
  bytes_ = RoundUp(bytes, unit);
  data_ = static_cast<std::byte*>(std::aligned_alloc(unit, bytes_));
  HV_CHECK(data_ != nullptr, "no memory to work in");
  if (unit == kHugePage) AskForHugePages(data_, bytes_);
  return data_;
}

}  // namespace hv
