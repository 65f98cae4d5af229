// bf16 and f16 by span kernels; the formats up to 8 bits by tables: 256 values to widen, and to
// narrow 65536 patterns indexed by the upper half of the f32 with a sticky last bit, which holds all
// a rounding to at most 5 significant bits can see.
#include "eval/narrow_floats.h"

#include <array>
#include <bit>
#include <limits>
#include <memory>
#include <mutex>

#include "eval/span_loops.h"
#include "hlo/float_formats.h"

namespace hv {
namespace {

constexpr int kFirstByteType = static_cast<int>(ElementType::kF4E2M1FN);
constexpr int kByteTypes = static_cast<int>(ElementType::kF8E8M0FNU) - kFirstByteType + 1;

// One table per type, made when it is asked for, by whichever thread comes first.
template <class Table, class Make>
const Table& TableOf(ElementType type, Make make) {
  struct Entry {
    std::once_flag made;
    std::unique_ptr<Table> table;
  };
  static std::array<Entry, kByteTypes> entries;
  Entry& entry = entries[static_cast<size_t>(static_cast<int>(type) - kFirstByteType)];
  std::call_once(entry.made, [&] {
    entry.table = std::make_unique<Table>();
    for (uint32_t k = 0; k < entry.table->size(); ++k) (*entry.table)[k] = make(k);
  });
  return *entry.table;
}

const float* WideningTable(ElementType type) {
  return TableOf<std::array<float, 256>>(
             type, [type](uint32_t bits) { return FloatFromBits(type, bits); })
      .data();
}

const uint8_t* NarrowingTable(ElementType type) {
  return TableOf<std::array<uint8_t, 65536>>(type,
                                             [type](uint32_t upper) {
                                               const float x = std::bit_cast<float>(upper << 16);
                                               return static_cast<uint8_t>(BitsFromFloat(type, x));
                                             })
      .data();
}

// All negative values of "fnuz" types lie below zero, and their NaN lies lowest.
bool NanIsNegativeZero(ElementType type) {
  return HasNan(type) && !HasInfinity(type) &&
         BitsFromFloat(type, std::numeric_limits<float>::quiet_NaN()) == 0x80;
}

int32_t NarrowKey(uint32_t bits, uint32_t sign, bool fnuz) {
  const auto magnitude = static_cast<int32_t>(bits & (sign - 1));
  if ((bits & sign) == 0) return magnitude;
  if (!fnuz) return ~magnitude;
  return magnitude == 0 ? std::numeric_limits<int32_t>::min() : -magnitude;
}

template <class Bits, class Key>
void WideKeys(const void* in, void* keys, size_t count) {
  const auto* x = static_cast<const Bits*>(in);
  auto* out = static_cast<Key*>(keys);
  constexpr int kSignBit = static_cast<int>(sizeof(Key)) * 8 - 1;
  span::ForEach(count, [=](size_t i) {
    const Key key = static_cast<Key>(x[i]);
    out[i] = static_cast<Key>(key ^ ((key >> kSignBit) & std::numeric_limits<Key>::max()));
  });
}

bool RunKernel(SpanKernel kernel, const void* in, void* out, size_t count) {
  if (kernel == nullptr) return false;
  SpanArgs a;
  a.in[0] = in;
  a.out = out;
  a.count = count;
  kernel(a);
  return true;
}

}  // namespace

void WidenFloats(ElementType type, const void* in, float* out, size_t count) {
  if (RunKernel(FindHalfConvertKernel(type, ElementType::kF32), in, out, count)) return;
  const float* table = WideningTable(type);
  const auto* bytes = static_cast<const uint8_t*>(in);
  for (size_t i = 0; i < count; ++i) out[i] = table[bytes[i]];
}

void NarrowFloats(ElementType type, const float* in, void* out, size_t count) {
  if (RunKernel(FindHalfConvertKernel(ElementType::kF32, type), in, out, count)) return;
  const uint8_t* table = NarrowingTable(type);
  auto* bytes = static_cast<uint8_t*>(out);
  for (size_t i = 0; i < count; ++i) {
    const uint32_t bits = std::bit_cast<uint32_t>(in[i]);
    bytes[i] = table[bits >> 16 | static_cast<uint32_t>((bits & 0xFFFF) != 0)];
  }
}

void NarrowDoubles(ElementType type, const double* in, void* out, size_t count) {
  const bool byte = HostBytes(type) == 1;
  for (size_t i = 0; i < count; ++i) {
    const uint32_t bits = BitsFromDouble(type, in[i]);
    if (byte) static_cast<uint8_t*>(out)[i] = static_cast<uint8_t>(bits);
    if (!byte) static_cast<uint16_t*>(out)[i] = static_cast<uint16_t>(bits);
  }
}

void TotalOrderKeys(ElementType type, const void* in, void* keys, size_t count) {
  if (type == ElementType::kF64) return WideKeys<uint64_t, int64_t>(in, keys, count);
  if (type == ElementType::kF32) return WideKeys<uint32_t, int32_t>(in, keys, count);
  const bool fnuz = NanIsNegativeZero(type);
  // f8e8m0fnu has no sign; sub-byte types have theirs at their own top bit.
  const uint32_t sign = type == ElementType::kF8E8M0FNU ? 256u : 1u << (BitWidth(type) - 1);
  auto* out = static_cast<int32_t*>(keys);
  for (size_t i = 0; i < count; ++i) {
    const uint32_t bits = HostBytes(type) == 1 ? static_cast<const uint8_t*>(in)[i]
                                               : static_cast<const uint16_t*>(in)[i];
    out[i] = NarrowKey(bits, sign, fnuz);
  }
}

}  // namespace hv
