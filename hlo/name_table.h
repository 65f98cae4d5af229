// Names to numbers, one table per computation: open addressing, emptied in constant time so that a
// table serves many computations. Keys must outlive the table's use.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "hlo/word_table.h"

namespace hv {

class NameTable {
 public:
  static constexpr int32_t kAbsent = -1;

  void Clear() {
    ++generation_;
    count_ = 0;
  }

  int32_t Find(std::string_view name) const {
    const Slot& slot = slots_[SlotOf(name)];
    return slot.generation == generation_ ? slot.value : kAbsent;
  }

  // False, and nothing changed, if the name is there already.
  bool Insert(std::string_view name, int32_t value) {
    Slot& slot = slots_[SlotOf(name)];
    if (slot.generation == generation_) return false;
    slot = {name, generation_, value};
    if (2 * ++count_ > slots_.size()) Grow();
    return true;
  }

 private:
  struct Slot {
    std::string_view name;
    uint32_t generation = 0;
    int32_t value = kAbsent;
  };

  size_t SlotOf(std::string_view name) const {
    const size_t mask = slots_.size() - 1;
    size_t at = HashText(name) & mask;
    while (slots_[at].generation == generation_ && slots_[at].name != name) at = (at + 1) & mask;
    return at;
  }

  void Grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.generation == generation_) slots_[SlotOf(slot.name)] = slot;
    }
  }

  std::vector<Slot> slots_ = std::vector<Slot>(32);
  uint32_t generation_ = 1;
  size_t count_ = 0;
};

}  // namespace hv
