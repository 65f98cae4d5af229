// A bump allocator: many small immutable things with one lifetime. Nothing is freed before the arena
// dies; only trivially destructible types may live in it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace hv {

class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  void* Allocate(size_t bytes, size_t alignment) {
    size_t begin = (used_ + alignment - 1) / alignment * alignment;
    if (begin + bytes > capacity_) {
      Grow(bytes + alignment);
      begin = 0;
    }
    used_ = begin + bytes;
    return current_ + begin;
  }

  template <class T, class... Args>
  T* New(Args&&... args) {
    static_assert(std::is_trivially_destructible_v<T>);
    return new (Allocate(sizeof(T), alignof(T))) T{std::forward<Args>(args)...};
  }

  template <class T>
  std::span<T> NewArray(size_t count) {
    static_assert(std::is_trivially_destructible_v<T>);
    if (count == 0) return {};
    T* first = static_cast<T*>(Allocate(count * sizeof(T), alignof(T)));
    std::uninitialized_value_construct_n(first, count);
    return {first, count};
  }

  template <class T>
  std::span<const T> Copy(std::span<const T> source) {
    std::span<T> copy = NewArray<T>(source.size());
    std::copy(source.begin(), source.end(), copy.begin());
    return copy;
  }

  template <class T>
  std::span<const T> Copy(const std::vector<T>& source) {
    return Copy(std::span<const T>(source));
  }

  std::string_view CopyText(std::string_view text) {
    if (text.empty()) return {};
    char* copy = static_cast<char*>(Allocate(text.size(), 1));
    std::memcpy(copy, text.data(), text.size());
    return {copy, text.size()};
  }

  // Bytes handed out by the system so far.
  size_t bytes_reserved() const { return reserved_; }

 private:
  void Grow(size_t at_least) {
    constexpr size_t kFirst = 4096, kLargest = size_t{1} << 20;
    const size_t size = std::max(at_least, std::clamp(reserved_, kFirst, kLargest));
    blocks_.push_back(std::make_unique_for_overwrite<std::byte[]>(size));
    current_ = blocks_.back().get();
    capacity_ = size;
    used_ = 0;
    reserved_ += size;
  }

  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  std::byte* current_ = nullptr;
  size_t used_ = 0;
  size_t capacity_ = 0;
  size_t reserved_ = 0;
};

}  // namespace hv
