// What handles of values share: bytes of elements, or a domain's own form of a value. Only the thread
// that runs devices makes, drops and counts storage; other threads may read and write the bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace hv {

// Bytes of values alive now and at most so far, over all devices of this process.
struct MemoryUse {
  int64_t live_bytes = 0;
  int64_t peak_bytes = 0;
};
MemoryUse& ProcessMemoryUse();

// What one element is. Movement kernels look at the width alone.
enum class Encoding : uint8_t {
  kNative,  // HostBytes(type) bytes, as in a Literal: exact values of the HLO type
  kCode,    // the domain's own element (Domain::code_bytes), standing for a value of the HLO type
};

enum class StorageKind : uint8_t { kArray, kTuple, kExtended };

// Counted by the handles that share it.
struct Storage {
  explicit Storage(StorageKind k) : kind(k) {}
  Storage(const Storage& other) : kind(other.kind) {}  // a copy has handles of its own
  Storage& operator=(const Storage&) { return *this; }

  int64_t handles = 0;
  const StorageKind kind;
  Encoding encoding = Encoding::kNative;  // kArray
  int element_bytes = 0;                  // kArray
};

// A representation that is not a dense array (symbolic terms); domains that use one downcast it.
class ExtendedValue : public Storage {
 public:
  ExtendedValue() : Storage(StorageKind::kExtended) {}
  virtual ~ExtendedValue() = default;
};

// Where large storage comes from if not from the heap: memory that other processes read.
class StorageSource {
 public:
  virtual ~StorageSource() = default;
  virtual std::byte* Allocate(size_t bytes) = 0;            // 64-byte aligned; null: the heap's turn
  virtual bool Release(std::byte* data, size_t bytes) = 0;  // false: not from here
};
void SetStorageSource(StorageSource* source);  // outlives every value

// 64-byte aligned bytes, counted in ProcessMemoryUse if they are this process's own.
class Buffer : public Storage {
 public:
  static Buffer* New(size_t bytes);  // not initialised
  // Bytes of somebody who keeps them as long as anybody has a handle; read only.
  static Buffer* Borrow(std::span<const std::byte> bytes);
  static void Delete(Buffer* buffer);
  std::byte* data() const { return data_; }
  size_t size() const { return size_; }
  bool IsBorrowed() const { return place_ == Place::kElsewhere; }

 private:
  enum class Place : uint8_t { kHere, kLarge, kElsewhere };  // kHere: after this header
  Buffer(Place place, std::byte* data, size_t size, size_t capacity)
      : Storage(StorageKind::kArray), place_(place), data_(data), size_(size),
        capacity_(capacity) {}

  Place place_;
  std::byte* data_;
  size_t size_;
  size_t capacity_;  // reused storage may be larger
};

// Small 64-byte aligned blocks, handed out again by size: asking the system costs more than most
// steps of a loop. Give gets the size that Take got.
void* TakeBlock(size_t bytes);
void GiveBlock(void* block, size_t bytes);

}  // namespace hv
