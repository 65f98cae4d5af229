// Stable radix sort of unsigned keys, alone or with what they carry: 11 bits at a time from the low
// end, digits that all keys share left out. The time is linear whatever the keys are.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace hv {

// A key and the position it came from.
template <class Key>
struct KeyedPosition {
  Key key;
  uint32_t position;
};

template <class Key>
Key KeyOf(Key key) {
  return key;
}
template <class Key>
Key KeyOf(const KeyedPosition<Key>& item) {
  return item.key;
}

// Sorts `items` (fewer than 2^32) by KeyOf, ascending; `scratch` is of the same size.
template <class Item>
void RadixSort(std::vector<Item>* items, std::vector<Item>* scratch) {
  using Key = decltype(KeyOf(std::declval<const Item&>()));
  constexpr int kBits = 11;
  constexpr int kDigits = (static_cast<int>(sizeof(Key)) * 8 + kBits - 1) / kBits;
  const auto digit = [](const Item& item, int d) {
    return static_cast<size_t>(KeyOf(item) >> (d * kBits)) & ((size_t{1} << kBits) - 1);
  };
  std::vector<std::array<uint32_t, size_t{1} << kBits>> counts(kDigits);
  for (const Item& item : *items) {
    for (int d = 0; d < kDigits; ++d) ++counts[static_cast<size_t>(d)][digit(item, d)];
  }
  for (int d = 0; d < kDigits; ++d) {
    auto& next = counts[static_cast<size_t>(d)];
    if (items->empty() || next[digit(items->front(), d)] == items->size()) continue;
    uint32_t begin = 0;
    for (uint32_t& n : next) begin += std::exchange(n, begin);
    for (const Item& item : *items) (*scratch)[next[digit(item, d)]++] = item;
    items->swap(*scratch);
  }
}

}  // namespace hv
