// A 64-bit hash chain for agreement between ranks: the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace hv {

// SplitMix64's finaliser over a running value.
constexpr uint64_t Mix(uint64_t hash, uint64_t word) {
  uint64_t z = hash * 0x9E3779B97F4A7C15 + word + 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

inline uint64_t HashBytes(uint64_t hash, std::span<const std::byte> bytes) {
  while (bytes.size() >= sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, bytes.data(), sizeof word);
    hash = Mix(hash, word);
    bytes = bytes.subspan(sizeof word);
  }
  for (std::byte b : bytes) hash = Mix(hash, static_cast<uint64_t>(b));
  return Mix(hash, bytes.size());
}

}  // namespace hv
