// Chooses the table of a type family; comparisons, which every family has.
#include "eval/span_kernel.h"

#include <complex>

#include "base/check.h"
#include "eval/span_loops.h"

namespace hv {
namespace {

template <class T>
SpanKernel Ordered(Direction direction) {
  switch (direction) {
    case Direction::kEq:
      return span::Fast<span::Binary<span::Equal, T, uint8_t>>();
    case Direction::kNe:
      return span::Fast<span::Binary<span::NotEqual, T, uint8_t>>();
    case Direction::kLt:
      return span::Fast<span::Binary<span::Less, T, uint8_t>>();
    case Direction::kLe:
      return span::Fast<span::Binary<span::LessEqual, T, uint8_t>>();
    case Direction::kGt:
      return span::Fast<span::Binary<span::Greater, T, uint8_t>>();
    case Direction::kGe:
      return span::Fast<span::Binary<span::GreaterEqual, T, uint8_t>>();
  }
  return nullptr;
}

template <class T>
SpanKernel Unordered(Direction direction) {
  switch (direction) {
    case Direction::kEq:
      return span::Binary<span::Equal, T, uint8_t>;
    case Direction::kNe:
      return span::Binary<span::NotEqual, T, uint8_t>;
    default:
      return nullptr;
  }
}

}  // namespace

ComputeType ComputeTypeOf(ElementType type) {
  if (IsPred(type)) return ComputeType::kPred;
  const int bytes = HostBytes(type);
  if (IsInteger(type)) {
    const int log2 = bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3;
    const ComputeType first = IsSigned(type) ? ComputeType::kS8 : ComputeType::kU8;
    return static_cast<ComputeType>(static_cast<int>(first) + log2);
  }
  if (IsFloat(type)) return bytes == 8 ? ComputeType::kF64 : ComputeType::kF32;
  HV_CHECK(IsComplex(type), "no arithmetic on " + std::string(ToString(type)));
  return bytes == 8 ? ComputeType::kC64 : ComputeType::kC128;
}

int ComputeBytes(ComputeType type) {
  constexpr int kBytes[] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 8, 16};
  return kBytes[static_cast<int>(type)];
}

Direction DirectionOf(std::string_view word) {
  constexpr std::string_view kWords[] = {"EQ", "NE", "LT", "LE", "GT", "GE"};
  for (int i = 0; i < 6; ++i) {
    if (word == kWords[i]) return static_cast<Direction>(i);
  }
  CheckFailed(__FILE__, __LINE__, "comparison direction " + std::string(word));
}

SpanKernel FindSpanKernel(ScalarFn fn, ComputeType type) {
  if (type == ComputeType::kPred) return span::FindPred(fn);
  if (type <= ComputeType::kS64) return span::FindSigned(fn, type);
  if (type <= ComputeType::kU64) return span::FindUnsigned(fn, type);
  if (type <= ComputeType::kF64) return span::FindFloat(fn, type);
  return span::FindComplex(fn, type);
}

SpanKernel FindFoldKernel(ScalarFn fn, ComputeType type) {
  if (type == ComputeType::kPred) {
    // On 0 and 1 addition is OR and multiplication AND.
    const bool any = fn == ScalarFn::kAdd || fn == ScalarFn::kMaximum || fn == ScalarFn::kOr;
    if (fn == ScalarFn::kXor) return span::FindUnsignedFold(fn, ComputeType::kU8);
    return span::FindUnsignedFold(any ? ScalarFn::kOr : ScalarFn::kAnd, ComputeType::kU8);
  }
  if (type <= ComputeType::kS64) return span::FindSignedFold(fn, type);
  if (type <= ComputeType::kU64) return span::FindUnsignedFold(fn, type);
  return type <= ComputeType::kF64 ? span::FindFloatFold(fn, type) : nullptr;
}

SpanKernel FindCompareKernel(Direction direction, ComputeType type) {
  switch (type) {
    case ComputeType::kPred:
    case ComputeType::kU8:
      return Ordered<uint8_t>(direction);
    case ComputeType::kU16:
      return Ordered<uint16_t>(direction);
    case ComputeType::kU32:
      return Ordered<uint32_t>(direction);
    case ComputeType::kU64:
      return Ordered<uint64_t>(direction);
    case ComputeType::kS8:
      return Ordered<int8_t>(direction);
    case ComputeType::kS16:
      return Ordered<int16_t>(direction);
    case ComputeType::kS32:
      return Ordered<int32_t>(direction);
    case ComputeType::kS64:
      return Ordered<int64_t>(direction);
    case ComputeType::kF32:
      return Ordered<float>(direction);
    case ComputeType::kF64:
      return Ordered<double>(direction);
    case ComputeType::kC64:
      return Unordered<std::complex<float>>(direction);
    case ComputeType::kC128:
      return Unordered<std::complex<double>>(direction);
  }
  return nullptr;
}

}  // namespace hv
