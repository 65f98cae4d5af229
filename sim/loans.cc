#include "sim/loans.h"

#include <algorithm>
#include <utility>

namespace hv {

int32_t Loans::Lend(Value value, uint32_t borrowers) {
  const auto free = std::find_if(lent_.begin(), lent_.end(), [](const Value& v) { return v.empty(); });
  if (free == lent_.end()) return -1;
  *free = std::move(value);
  const auto loan = static_cast<int32_t>(free - lent_.begin());
  own_.loans[loan].store(borrowers);
  return loan;
}

void Loans::Cancel(int32_t loan) { lent_[static_cast<size_t>(loan)] = {}; }

void Loans::Collect() {
  for (size_t n = 0; n < lent_.size(); ++n) {
    if (!lent_[n].empty() && own_.loans[n].load() == 0) lent_[n] = {};
  }
}

Value Loans::Take(RankHeader* lender, int32_t loan, const Shape* shape,
                  std::span<const std::byte> bytes) {
  taken_[bytes.data()] = {&lender->loans[loan]};
  return Value::Borrowed(shape, Encoding::kNative, HostBytes(shape->type), bytes);
}

void Loans::Began(const std::byte* data) {
  if (taken_.empty()) return;
  if (const auto taken = taken_.find(data); taken != taken_.end()) ++taken->second.storages;
}

void Loans::Ended(const std::byte* data) {
  if (taken_.empty()) return;
  const auto taken = taken_.find(data);
  if (taken == taken_.end() || --taken->second.storages > 0) return;
  taken->second.count->fetch_sub(1);
  taken_.erase(taken);
}

}  // namespace hv
