#include "verify/leaf_codes.h"

#include "base/philox.h"
#include "eval/field.h"

namespace hv {
namespace {

constexpr int kLowBits = 31, kHighBits = 30;
constexpr uint64_t kLowMask = (uint64_t{1} << kLowBits) - 1;
constexpr uint64_t kHighMask = (uint64_t{1} << kHighBits) - 1;
constexpr uint64_t kPrime = Fq::kPrime;  // the smaller of the two fields

// The finaliser of MurmurHash3: every output bit depends on every input bit.
uint64_t Mix(uint64_t x) {
  x = (x ^ (x >> 33)) * 0xFF51AFD7ED558CCD;
  x = (x ^ (x >> 33)) * 0xC4CEB9FE1A85EC53;
  return x ^ (x >> 33);
}

}  // namespace

CodePermutation::CodePermutation(uint64_t seed, uint64_t stream) {
  const CounterRng rng(seed, stream);
  for (uint64_t i = 0; i < keys_.size(); ++i) keys_[i] = rng.Word(i);
}

// An unbalanced Feistel network: each round is invertible whatever the mixing function.
uint64_t CodePermutation::Permute(uint64_t x) const {
  uint64_t low = x & kLowMask, high = x >> kLowBits;
  for (size_t round = 0; round < keys_.size(); round += 2) {
    low ^= Mix(high ^ keys_[round]) & kLowMask;
    high ^= Mix(low ^ keys_[round + 1]) & kHighMask;
  }
  return low | high << kLowBits;
}

// Cycle walking: a permutation of a larger set, repeated until it lands in the wanted one, permutes
// the wanted one. Ids are shifted by 2 so that they lie in it.
uint64_t CodePermutation::operator()(uint64_t id) const {
  uint64_t x = id + 2;
  do {
    x = Permute(x);
  } while (x < 2 || x >= kPrime);
  return x;
}

uint64_t LeafCodes::Word(int64_t id, int component, int64_t power) const {
  const auto leaf = static_cast<uint64_t>(id), exponent = static_cast<uint64_t>(power);
  if (component == 0) return Fp::Of(first_(leaf)).Power(exponent).number();
  return Fq::Of(second_(leaf)).Power(exponent).number();
}

}  // namespace hv
