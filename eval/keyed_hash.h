// A keyed function from words to 128 bits, the pseudo-random function behind codes of what is not
// arithmetic: equal inputs give equal outputs, others collide as random numbers would.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hv {

class KeyedHash {
 public:
  explicit constexpr KeyedHash(uint64_t key) : a_(Mix(key ^ kA, kB)), b_(Mix(key ^ kC, kD)) {}

  constexpr KeyedHash& Add(uint64_t word) {
    a_ = Mix(a_ ^ word, kA) ^ b_;
    b_ = Mix(b_ + word, a_ ^ kC);
    ++length_;
    return *this;
  }
  constexpr KeyedHash& Add(std::string_view text) {
    uint64_t word = 0;
    int filled = 0;
    for (const char c : text) {
      word |= static_cast<uint64_t>(static_cast<unsigned char>(c)) << (8 * filled);
      if (++filled == 8) {
        Add(word);
        word = 0;
        filled = 0;
      }
    }
    return Add(word).Add(text.size());
  }
  constexpr uint64_t First() const { return Mix(a_ ^ length_ ^ kD, b_ ^ kB); }
  constexpr uint64_t Second() const { return Mix(b_ ^ length_ ^ kA, a_ ^ kD); }

 private:
  static constexpr uint64_t kA = 0xA0761D6478BD642F, kB = 0xE7037ED1A0B428DB,
                            kC = 0x8EBC6AF09C88C6E3, kD = 0x589965CC75374CC3;
  // Both halves of the product, folded; operands of zero are avoided by an odd offset.
  static constexpr uint64_t Mix(uint64_t x, uint64_t y) {
    const unsigned __int128 product =
        static_cast<unsigned __int128>(x ^ 0x9E3779B97F4A7C15) * (y | 1);
    const uint64_t folded = static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
    return folded ^ (folded >> 29) ^ (x << 7 | x >> 57);
  }

  uint64_t a_, b_;
  uint64_t length_ = 0;
};

}  // namespace hv
