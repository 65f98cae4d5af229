// Philox4x32-10, a counter-based generator (Salmon et al., SC'11): the same (key, counter) gives the
// same words everywhere. Inputs and seeded choices come from here, and rng-bit-generator too.
#pragma once

#include <array>
#include <cstdint>

namespace hv {

using PhiloxKey = std::array<uint32_t, 2>;
using PhiloxBlock = std::array<uint32_t, 4>;

constexpr PhiloxBlock Philox4x32(PhiloxKey key, PhiloxBlock counter) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{0xD2511F53} * counter[0];
    const uint64_t p1 = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(p1 >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(p1),
               static_cast<uint32_t>(p0 >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(p0)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

// A stream of words addressed by position, keyed by up to four integers (seed, trial, device, ...).
class CounterRng {
 public:
  CounterRng(uint64_t seed, uint64_t stream) : seed_(seed), stream_(stream) {}

  // The `index`-th 64-bit word of this stream.
  constexpr uint64_t Word(uint64_t index) const {
    const PhiloxBlock block =
        Philox4x32({static_cast<uint32_t>(seed_), static_cast<uint32_t>(seed_ >> 32)},
                   {static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32),
                    static_cast<uint32_t>(stream_), static_cast<uint32_t>(stream_ >> 32)});
    return block[0] | uint64_t{block[1]} << 32;
  }

 private:
  uint64_t seed_;
  uint64_t stream_;
};

}  // namespace hv
