#include "verify/linear_forms.h"

#include <algorithm>

namespace hv {

// Let D be the difference of the two forms, constants counted as one more leaf, of code 1. Weights
// of both and every concrete value lie below 2^59, so that D vanishes modulo p only if it is zero.
// Natural weights: two multisets of at most W codes whose power sums 0..W agree are one (Newton's
// identities hold modulo p > W). Signed weights: D has at most 2W leaves, and never more than there
// are, and the powers of as many distinct codes are independent (Vandermonde).
std::optional<int64_t> PowerSumsNeeded(const ArithmeticFacts& both, double weight, int64_t leaves) {
  const bool integral = both.IsLinear() && !both.scales && !both.fractions && !both.elided;
  if (!integral || weight >= 0x1p59) return std::nullopt;
  const double by_weight = both.negative ? 2 * weight : weight + 1;
  return static_cast<int64_t>(std::min(static_cast<double>(leaves) + 1, by_weight));
}

// Without converts and bitcasts data never leaves its type, so equal forms are equal sums in one
// type. Equality over the reals alone is less than what running the modules shows, unless it is the
// types of sums that changed.
std::optional<Proof> ProofOfEqualForms(const ArithmeticFacts& before,
                                       const ArithmeticFacts& after) {
  ArithmeticFacts both = before;
  both.Merge(after);
  if (both.IsMovement()) {
    return Proof{both.signed_zeros ? Level::kReassociation : Level::kBitwise, "", ""};
  }
  if (both.OnlyIntegers()) {
    if (both.types.size() != 1 || both.converts) return std::nullopt;
    return Proof{both.signed_zeros ? Level::kReassociation : Level::kBitwise, "", ""};
  }
  if (!both.OnlyFloats()) return std::nullopt;
  const bool constants = both.constants || both.moved_constants;
  if (!both.converts && !constants && both.types.size() == 1) {
    return Proof{Level::kReassociation, "", ""};
  }
  std::string precision = PrecisionChange(before, after);
  if (precision.empty()) return std::nullopt;
  return Proof{Level::kReal, std::move(precision), ""};
}

}  // namespace hv
