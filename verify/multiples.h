// Unknowns that are rational multiples of each other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace hv {

// A positive rational number in lowest terms.
struct Ratio {
  int64_t over = 1, under = 1;

  static Ratio Of(int64_t over, int64_t under) {
    const int64_t common = std::gcd(over, under);
    return {over / common, under / common};
  }
  // Sizes of groups make small numbers; what does not stay small is refused by its caller.
  bool IsSmall() const { return std::max(over, under) < (int64_t{1} << 24); }
  Ratio Inverse() const { return {under, over}; }
  friend Ratio operator*(const Ratio& a, const Ratio& b) {
    return Of(a.over * b.over, a.under * b.under);
  }
  friend bool operator==(const Ratio&, const Ratio&) = default;
  friend bool operator<(const Ratio& a, const Ratio& b) {
    return a.over * b.under < b.over * a.under;
  }
};

// Unknowns that are multiples of each other: union-find with a ratio on every edge.
class Multiples {
 public:
  size_t Add() {
    parent_.push_back(parent_.size());
    ratio_.emplace_back();
    return parent_.size() - 1;
  }
  size_t size() const { return parent_.size(); }

  // The unknown that stands for its class, and which multiple of it this one is.
  std::pair<size_t, Ratio> Find(size_t unknown) {
    size_t root = unknown;
    Ratio ratio;
    while (parent_[root] != root) {
      ratio = ratio * ratio_[root];
      root = parent_[root];
    }
    parent_[unknown] = root;
    ratio_[unknown] = ratio;
    return {root, ratio};
  }

  // a = q b. False, and nothing changes, if that contradicts what is known.
  bool Relate(size_t a, size_t b, const Ratio& q) {
    const auto [root_a, ratio_a] = Find(a);
    const auto [root_b, ratio_b] = Find(b);
    const Ratio between = q * ratio_b * ratio_a.Inverse();  // root_a = between root_b
    if (root_a == root_b) return between == Ratio{};
    if (!between.IsSmall()) return false;
    parent_[root_a] = root_b;
    ratio_[root_a] = between;
    return true;
  }

 private:
  std::vector<size_t> parent_;
  std::vector<Ratio> ratio_;  // to the parent
};

}  // namespace hv
