// Storage of elements comes from three places: small blocks from lists by size, large storage that
// was freed before, and fresh pages. Uses of memory are counted here, in one place, for --memory-limit
// and "peak_bytes".
#include "eval/storage.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <new>
#include <tuple>

#include "eval/borrowing.h"
#include "eval/page_heap.h"

namespace hv {
namespace {

constexpr size_t kLine = 64;  // bytes of a cache line: what all storage is aligned to
constexpr size_t kLargestBlock = 4096;
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kKeepsBlocks = false;  // a sanitizer sees the use of a freed block
#else
constexpr bool kKeepsBlocks = true;
#endif
constexpr size_t kKeptFrom = size_t{1} << 12;  // smaller storage is cheap to ask for again
constexpr std::align_val_t kAlignment{kLine};

// A free block holds the way to the next.
struct FreeBlock {
  FreeBlock* next;
};
FreeBlock* free_blocks[kLargestBlock / kLine + 1] = {};  // by lines

size_t LinesOf(size_t bytes) { return (bytes + kLine - 1) / kLine; }

StorageSource* storage_source = nullptr;
BorrowWatch* borrow_watch = nullptr;

PageHeap& ThePageHeap() {
  static PageHeap& heap = *new PageHeap();  // outlives every value
  return heap;
}

// Fresh storage.
std::byte* Allocate(size_t bytes) {
  if (bytes >= kKeptFrom) {
    std::byte* data = storage_source != nullptr ? storage_source->Allocate(bytes) : nullptr;
    if (data == nullptr && kKeepsBlocks) data = ThePageHeap().Allocate(bytes);
    if (data != nullptr) return data;
  }
  return static_cast<std::byte*>(::operator new(bytes, kAlignment));
}

void Free(std::byte* data, size_t bytes) {
  if (bytes >= kKeptFrom) {
    if (storage_source != nullptr && storage_source->Release(data, bytes)) return;
    if (ThePageHeap().Release(data, bytes)) return;
  }
  ::operator delete(data, kAlignment);
}

// A block that was none before. Other processes are to read those of values too, so with a source they
// are cut from its storage.
void* NewBlock(size_t bytes) {
  constexpr size_t kSlabBytes = size_t{1} << 16;
  static std::byte* slab = nullptr;
  static size_t left = 0;
  if (storage_source == nullptr) return ::operator new(bytes, kAlignment);
  if (left < bytes) slab = Allocate(left = kSlabBytes);
  left -= bytes;
  return slab + left;
}

// Freed storage kept for reuse: touching fresh pages costs more than computing on them. Live and
// kept bytes together stay within an eighth more than was alive at the peak: without any room, the
// least new value would drive out storage that the next step asks for.
class Keeper {
 public:
  // Storage of at least `bytes`, at most an eighth more; null if none is kept.
  std::byte* Take(size_t bytes, size_t* capacity) {
    const auto found = kept_.lower_bound(bytes);
    if (found == kept_.end() || found->first > bytes + bytes / 8) return nullptr;
    *capacity = found->first;
    std::byte* data = found->second;
    kept_bytes_ -= found->first;
    kept_.erase(found);
    return data;
  }
  void Keep(std::byte* data, size_t capacity) {
    kept_.emplace(capacity, data);
    kept_bytes_ += capacity;
  }
  // Gives storage back until at most `bytes` are kept.
  void ShrinkTo(size_t bytes) {
    while (kept_bytes_ > bytes) {
      const auto largest = std::prev(kept_.end());
      kept_bytes_ -= largest->first;
      Free(largest->second, largest->first);
      kept_.erase(largest);
    }
  }

 private:
  std::multimap<size_t, std::byte*> kept_;  // by capacity
  size_t kept_bytes_ = 0;
};

Keeper& TheKeeper() {
  static Keeper& keeper = *new Keeper();  // outlives every value
  return keeper;
}

// Storage of `bytes`, and how many there really are.
std::byte* TakeLarge(size_t bytes, size_t* capacity) {
  *capacity = bytes;
  std::byte* data = bytes < kKeptFrom ? nullptr : TheKeeper().Take(bytes, capacity);
  if (data != nullptr) return data;
  const MemoryUse& use = ProcessMemoryUse();
  static int64_t highest = 0;  // over all runs: the next one of the kind finds warm storage
  highest = std::max(highest, use.peak_bytes);
  const int64_t room = highest + highest / 8 - use.live_bytes;
  TheKeeper().ShrinkTo(static_cast<size_t>(std::max(room, int64_t{0})));
  return Allocate(bytes);
}

}  // namespace

MemoryUse& ProcessMemoryUse() {
  static MemoryUse use;
  return use;
}

void SetStorageSource(StorageSource* source) { storage_source = source; }

void SetBorrowWatch(BorrowWatch* watch) { borrow_watch = watch; }

void* TakeBlock(size_t bytes) {
  if (bytes > kLargestBlock || !kKeepsBlocks) return ::operator new(bytes, kAlignment);
  FreeBlock*& first = free_blocks[LinesOf(bytes)];
  if (first == nullptr) return NewBlock(LinesOf(bytes) * kLine);
  FreeBlock* block = first;
  first = block->next;
  return block;
}

void GiveBlock(void* block, size_t bytes) {
  if (bytes > kLargestBlock || !kKeepsBlocks) return ::operator delete(block, kAlignment);
  FreeBlock*& first = free_blocks[LinesOf(bytes)];
  first = new (block) FreeBlock{first};
}

Buffer* Buffer::New(size_t bytes) {
  MemoryUse& use = ProcessMemoryUse();
  use.live_bytes += static_cast<int64_t>(bytes);
  Buffer* buffer = nullptr;
  if (kLine + bytes <= kLargestBlock) {
    auto* block = static_cast<std::byte*>(TakeBlock(kLine + bytes));
    buffer = new (block) Buffer(Place::kHere, block + kLine, bytes, bytes);
  } else {
    size_t capacity = 0;
    std::byte* data = TakeLarge(bytes, &capacity);
    buffer = new (TakeBlock(kLine)) Buffer(Place::kLarge, data, bytes, capacity);
  }
  use.peak_bytes = std::max(use.peak_bytes, use.live_bytes);
  return buffer;
}

Buffer* Buffer::Borrow(std::span<const std::byte> bytes) {
  auto* data = const_cast<std::byte*>(bytes.data());  // IsUnique keeps everybody from writing
  if (borrow_watch != nullptr) borrow_watch->Began(data);
  return new (TakeBlock(kLine)) Buffer(Place::kElsewhere, data, bytes.size(), bytes.size());
}

void Buffer::Delete(Buffer* buffer) {
  const auto [place, data, size, capacity] =
      std::tuple(buffer->place_, buffer->data_, buffer->size_, buffer->capacity_);
  GiveBlock(buffer, place == Place::kHere ? kLine + size : kLine);
  if (place == Place::kElsewhere) {
    if (borrow_watch != nullptr) borrow_watch->Ended(data);
    return;
  }
  ProcessMemoryUse().live_bytes -= static_cast<int64_t>(size);
  if (place == Place::kHere) return;
  if (capacity < kKeptFrom) {
    Free(data, capacity);
  } else {
    TheKeeper().Keep(data, capacity);
  }
}

}  // namespace hv
