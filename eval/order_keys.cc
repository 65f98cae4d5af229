// Widens the keys that narrow_floats.h makes, and integers.
#include "eval/order_keys.h"

#include <limits>

#include "eval/domain.h"
#include "eval/narrow_floats.h"

namespace hv {

std::vector<int64_t> TotalKeys(const Value& value) {
  const ElementType type = value.shape()->type;
  const auto count = static_cast<size_t>(value.element_count());
  if (type == ElementType::kU64) {
    std::vector<int64_t> keys(count);
    constexpr uint64_t kSign = uint64_t{1} << 63;
    for (size_t i = 0; i < count; ++i) {
      keys[i] = static_cast<int64_t>(value.As<uint64_t>()[i] ^ kSign);
    }
    return keys;
  }
  if (!IsFloat(type)) return IntegersOf(value);
  std::vector<int64_t> keys(count);
  if (type == ElementType::kF64) {
    TotalOrderKeys(type, value.bytes().data(), keys.data(), count);
    return keys;
  }
  std::vector<int32_t> narrow(count);
  TotalOrderKeys(type, value.bytes().data(), narrow.data(), count);
  keys.assign(narrow.begin(), narrow.end());
  return keys;
}

}  // namespace hv
