// Plain values to bytes and back, for messages between ranks of one machine type.
#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/check.h"

namespace hv {

class ByteWriter {
 public:
  template <class T>
  void Put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void PutText(std::string_view text) {
    Put(text.size());
    bytes_.append(text);
  }
  std::string Take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}
  bool done() const { return rest_.empty(); }

  template <class T>
  T Get() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    std::memcpy(&value, Cut(sizeof value).data(), sizeof value);
    return value;
  }
  std::string GetText() {
    const size_t size = Get<size_t>();
    return std::string(Cut(size));
  }

 private:
  std::string_view Cut(size_t size) {
    HV_CHECK(size <= rest_.size(), "a message between ranks is cut short");
    const std::string_view head = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return head;
  }

  std::string_view rest_;
};

}  // namespace hv
