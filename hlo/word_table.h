// Lookup of a fixed list of words, built at compile time: open addressing with at least half the
// slots empty, so a lookup is one hash and mostly one comparison. Also the hash of texts used at
// run time.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace hv {

// Mixes eight bytes at a time; for tables in memory only (depends on byte order).
inline uint64_t HashText(std::string_view text) {
  constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15;
  const char* p = text.data();
  size_t left = text.size();
  uint64_t hash = left * kMultiplier;
  const auto mix = [&hash](uint64_t word) {
    hash = (hash ^ word) * kMultiplier;
    hash ^= hash >> 32;
  };
  for (; left >= 8; left -= 8, p += 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    mix(word);
  }
  uint64_t tail = 0;
  for (size_t i = 0; i < left; ++i) tail |= uint64_t{static_cast<unsigned char>(p[i])} << (8 * i);
  mix(tail);
  return hash * kMultiplier >> 16;  // low bits depend on all of the text
}

template <size_t kCount>
class WordTable {
 public:
  constexpr explicit WordTable(const std::array<std::string_view, kCount>& words) : words_(words) {
    slots_.fill(-1);
    for (size_t i = 0; i < kCount; ++i) {
      size_t slot = Hash(words[i]) % kSlots;
      while (slots_[slot] >= 0) slot = (slot + 1) % kSlots;
      slots_[slot] = static_cast<int16_t>(i);
    }
  }

  // Position of `word` in the list, -1 if it is not there.
  constexpr int Find(std::string_view word) const {
    for (size_t slot = Hash(word) % kSlots; slots_[slot] >= 0; slot = (slot + 1) % kSlots) {
      if (words_[static_cast<size_t>(slots_[slot])] == word) return slots_[slot];
    }
    return -1;
  }

 private:
  static constexpr size_t kSlots = std::bit_ceil(2 * kCount + 1);

  // Length, and up to eight characters spread over the word, tell HLO's words apart well.
  static constexpr uint32_t Hash(std::string_view word) {
    const size_t size = word.size();
    uint32_t hash = static_cast<uint32_t>(size) * 0x9E3779B1u;
    const size_t step = size / 8 + 1;
    for (size_t i = 0; i < size; i += step) {
      hash = (hash ^ static_cast<unsigned char>(word[i])) * 0x01000193u;
    }
    if (size > 0) hash = (hash ^ static_cast<unsigned char>(word[size - 1])) * 0x01000193u;
    return hash ^ hash >> 15;
  }

  std::array<std::string_view, kCount> words_;
  std::array<int16_t, kSlots> slots_{};
};

}  // namespace hv
