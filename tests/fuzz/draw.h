// Seeded choices: a stream of words of the counter-based generator, one word per choice. Equal seeds
// give equal choices everywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "base/philox.h"

namespace hv {

class Draw {
 public:
  Draw(uint64_t seed, uint64_t stream) : rng_(seed, stream) {}
  int64_t Below(int64_t n) {
    return static_cast<int64_t>(rng_.Word(next_++) % static_cast<uint64_t>(n));
  }
  int64_t In(int64_t low, int64_t high) { return low + Below(high - low + 1); }
  bool OneIn(int64_t n) { return Below(n) == 0; }
  template <class T>
  const T& Of(const std::vector<T>& list) {
    return list[static_cast<size_t>(Below(static_cast<int64_t>(list.size())))];
  }
  template <class T>
  void Shuffle(std::vector<T>* list) {
    for (size_t i = list->size(); i > 1; --i) {
      std::swap((*list)[i - 1], (*list)[static_cast<size_t>(Below(static_cast<int64_t>(i)))]);
    }
  }
  // 0 .. n-1 in random order.
  std::vector<int64_t> Permutation(int64_t n) {
    std::vector<int64_t> order(static_cast<size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    Shuffle(&order);
    return order;
  }

 private:
  CounterRng rng_;
  uint64_t next_ = 0;
};

}  // namespace hv
