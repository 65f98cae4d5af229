#include "verify/decode.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace hv {
namespace {

// The shortest recurrence s_t + c_1 s_(t-1) + ... + c_L s_(t-L) = 0 that all sums obey, as c_0 = 1,
// c_1,
// ... , c_L (Massey 1969).
std::vector<Fp> ShortestRecurrence(std::span<const Fp> sums) {
  std::vector<Fp> current = {Fp::Of(1)}, previous = {Fp::Of(1)};
  size_t length = 0, gap = 1;
  Fp previous_miss = Fp::Of(1);
  for (size_t t = 0; t < sums.size(); ++t, ++gap) {
    Fp miss;
    for (size_t i = 0; i < current.size() && i <= t; ++i) miss = miss + current[i] * sums[t - i];
    if (miss.IsZero()) continue;
    const std::vector<Fp> kept = current;
    const Fp factor = miss * previous_miss.Inverse();
    current.resize(std::max(current.size(), previous.size() + gap));
    for (size_t i = 0; i < previous.size(); ++i) {
      current[i + gap] = current[i + gap] - factor * previous[i];
    }
    if (2 * length > t) continue;
    length = t + 1 - length;
    previous = kept;
    previous_miss = miss;
    gap = 0;
  }
  current.resize(length + 1);
  return current;
}

// Does the recurrence hold for the powers of `code`?
bool IsRoot(const std::vector<Fp>& recurrence, Fp code) {
  Fp value;
  for (const Fp& c : recurrence) value = value * code + c;
  return value.IsZero();
}

// Multiplicities x with sum over k of x_k codes_k^t = sums_t for t < codes.size(). Codes are
// distinct.
std::vector<Fp> SolveVandermonde(std::span<const Fp> codes, std::span<const Fp> sums) {
  const size_t n = codes.size();
  std::vector<std::vector<Fp>> rows(n);
  for (size_t t = 0; t < n; ++t) {
    for (const Fp& code : codes) rows[t].push_back(code.Power(t));
    rows[t].push_back(sums[t]);
  }
  for (size_t k = 0; k < n; ++k) {
    const auto pivot = std::find_if(rows.begin() + static_cast<int64_t>(k), rows.end(),
                                    [k](const std::vector<Fp>& row) { return !row[k].IsZero(); });
    std::swap(rows[k], *pivot);
    const Fp inverse = rows[k][k].Inverse();
    for (Fp& x : rows[k]) x = x * inverse;
    for (size_t t = 0; t < n; ++t) {
      if (t == k || rows[t][k].IsZero()) continue;
      const Fp factor = rows[t][k];
      for (size_t j = k; j <= n; ++j) rows[t][j] = rows[t][j] - factor * rows[k][j];
    }
  }
  std::vector<Fp> solution;
  for (const std::vector<Fp>& row : rows) solution.push_back(row[n]);
  return solution;
}

int64_t SignedNumber(Fp x) {
  return x.number() > Fp::kPrime / 2 ? -static_cast<int64_t>((-x).number())
                                     : static_cast<int64_t>(x.number());
}

Fp CodeOf(int64_t leaf, const std::function<Fp(int64_t)>& code_of) {
  return leaf == WrongSummand::kConstant ? Fp::Of(1) : code_of(leaf);
}

}  // namespace

std::optional<std::vector<WrongSummand>> DecodeSums(std::span<const Fp> sums, int64_t leaves,
                                                    const std::function<Fp(int64_t)>& code_of,
                                                    double most) {
  const std::vector<Fp> recurrence = ShortestRecurrence(sums);
  const size_t count = recurrence.size() - 1;
  if (count == 0 || 2 * count > sums.size()) return std::nullopt;
  std::vector<WrongSummand> wrong;
  std::vector<Fp> codes;
  for (int64_t leaf = WrongSummand::kConstant; leaf < leaves && codes.size() < count; ++leaf) {
    const Fp code = CodeOf(leaf, code_of);
    if (!IsRoot(recurrence, code)) continue;
    wrong.push_back({leaf, 0});
    codes.push_back(code);
  }
  if (codes.size() != count) return std::nullopt;
  const std::vector<Fp> excess = SolveVandermonde(codes, sums);
  for (size_t k = 0; k < count; ++k) {
    wrong[k].excess = SignedNumber(excess[k]);
    if (std::fabs(static_cast<double>(wrong[k].excess)) > most) return std::nullopt;
  }
  return wrong;
}

Fp SumOf(std::span<const WrongSummand> wrong, const std::function<Fp(int64_t)>& code_of,
         uint64_t t) {
  Fp sum;
  for (const WrongSummand& w : wrong) {
    sum = sum + Fp::OfSigned(w.excess) * CodeOf(w.leaf, code_of).Power(t);
  }
  return sum;
}

}  // namespace hv
