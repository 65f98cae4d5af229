// Names to numbers, one table per computation, emptied for the next one. Small slots (open
// addressing) point into a list of entries, so that large tables stay in the cache. Names must
// outlive their use.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "hlo/word_table.h"

namespace hv {

class NameTable {
 public:
  static constexpr int32_t kAbsent = -1;

  void Clear() {
    // A table much larger than what it held is left over from a larger computation.
    const bool oversized = slots_.size() > 8 * entries_.size() + kFirstSize;
    slots_.assign(oversized ? kFirstSize : slots_.size(), Slot{});
    entries_.clear();
  }

  int32_t Find(std::string_view name) const {
    const Slot& slot = slots_[SlotOf(name, Hash(name))];
    return slot.entry == 0 ? kAbsent : entries_[slot.entry - 1].value;
  }

  // False, and nothing changed, if the name is there already.
  bool Insert(std::string_view name, int32_t value) {
    const uint32_t hash = Hash(name);
    Slot& slot = slots_[SlotOf(name, hash)];
    if (slot.entry != 0) return false;
    entries_.push_back({name, value});
    slot = {hash, static_cast<uint32_t>(entries_.size())};
    if (2 * entries_.size() > slots_.size()) Grow();
    return true;
  }

 private:
  static constexpr size_t kFirstSize = 64;

  struct Entry {
    std::string_view name;
    int32_t value;
  };
  struct Slot {
    uint32_t hash = 0;
    uint32_t entry = 0;  // position + 1; 0: empty
  };

  static uint32_t Hash(std::string_view name) { return static_cast<uint32_t>(HashText(name)); }

  size_t SlotOf(std::string_view name, uint32_t hash) const {
    const size_t mask = slots_.size() - 1;
    size_t at = hash & mask;
    while (slots_[at].entry != 0 &&
           (slots_[at].hash != hash || entries_[slots_[at].entry - 1].name != name)) {
      at = (at + 1) & mask;
    }
    return at;
  }

  void Grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    const size_t mask = slots_.size() - 1;
    for (const Slot& slot : old) {
      if (slot.entry == 0) continue;
      size_t at = slot.hash & mask;
      while (slots_[at].entry != 0) at = (at + 1) & mask;
      slots_[at] = slot;
    }
  }

  std::vector<Slot> slots_ = std::vector<Slot>(kFirstSize);
  std::vector<Entry> entries_;
};

}  // namespace hv
