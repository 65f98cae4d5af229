// Compact bytes of what one rank found, for the others: one list of fields per type serves writing
// and reading. Ranks of one job run the same program, so the layout needs no version.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "base/check.h"

namespace hv {

class WireWriter {
 public:
  template <class... T>
  void operator()(T&... values) {
    (Put(values), ...);
  }
  std::string Take() { return std::move(bytes_); }

 private:
  template <class T>
  void Put(T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
    } else {
      Fields(*this, value);
    }
  }
  void Put(std::string& text) {
    PutSize(text.size());
    bytes_ += text;
  }
  template <class T>
  void Put(std::vector<T>& list) {
    PutSize(list.size());
    for (T& item : list) Put(item);
  }
  template <class T>
  void Put(std::optional<T>& value) {
    PutSize(value ? 1 : 0);
    if (value) Put(*value);
  }
  void PutSize(uint64_t size) { Put(size); }

  std::string bytes_;
};

class WireReader {
 public:
  explicit WireReader(const std::string& bytes) : bytes_(bytes) {}
  template <class... T>
  void operator()(T&... values) {
    (Get(values), ...);
  }
  bool AtEnd() const { return at_ == bytes_.size(); }

 private:
  template <class T>
  void Get(T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      HV_CHECK(at_ + sizeof value <= bytes_.size(), "message between ranks is too short");
      std::memcpy(&value, bytes_.data() + at_, sizeof value);
      at_ += sizeof value;
    } else {
      Fields(*this, value);
    }
  }
  void Get(std::string& text) {
    const uint64_t size = GetSize();
    HV_CHECK(size <= bytes_.size() - at_, "message between ranks is too short");
    text.assign(bytes_, at_, size);
    at_ += size;
  }
  template <class T>
  void Get(std::vector<T>& list) {
    list.resize(GetSize());
    for (T& item : list) Get(item);
  }
  template <class T>
  void Get(std::optional<T>& value) {
    value.reset();
    if (GetSize() != 0) Get(value.emplace());
  }
  uint64_t GetSize() {
    uint64_t size = 0;
    Get(size);
    return size;
  }

  const std::string& bytes_;
  size_t at_ = 0;
};

}  // namespace hv
