// Which summands are wrong, read off sums of powers: the difference D of two linear forms at one
// output element gives D_t = sum over leaves l of D_l a_l^t, and as many of those as twice the
// number of wrong leaves determine them (Berlekamp and Massey). Source: exact inputs as an
// error-correcting code, "Decoding".
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "eval/field.h"

namespace hv {

// One leaf that counts in another way after than before.
struct WrongSummand {
  static constexpr int64_t kConstant = -1;  // the constant part of the sum
  int64_t leaf = kConstant;
  int64_t excess = 0;  // how much more often it counts after; negative: missing
};

// The wrong leaves, by number, that explain all of `sums` (powers 0, 1, ...), where at most half as
// many are wrong as there are sums. Nothing if no such set has codes of leaves 0 ... leaves - 1 (or
// 1, the constant part) and whole multiplicities up to `most`. More sums than were decoded must be
// held against it, see SumOf.
std::optional<std::vector<WrongSummand>> DecodeSums(std::span<const Fp> sums, int64_t leaves,
                                                    const std::function<Fp(int64_t)>& code_of,
                                                    double most);

// The sum of power t that the wrong leaves make.
Fp SumOf(std::span<const WrongSummand> wrong, const std::function<Fp(int64_t)>& code_of,
         uint64_t t);

}  // namespace hv
