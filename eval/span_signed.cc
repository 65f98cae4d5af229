// Span kernels of s1 .. s64.
#include "eval/span_integers.h"

namespace hv::span {

SpanKernel FindSigned(ScalarFn fn, ComputeType type) {
  switch (type) {
    case ComputeType::kS8:
      return FindInteger<int8_t>(fn);
    case ComputeType::kS16:
      return FindInteger<int16_t>(fn);
    case ComputeType::kS32:
      return FindInteger<int32_t>(fn);
    case ComputeType::kS64:
      return FindInteger<int64_t>(fn);
    default:
      return nullptr;
  }
}

SpanKernel FindSignedFold(ScalarFn fn, ComputeType type) {
  switch (type) {
    case ComputeType::kS8:
      return FindIntegerFold<int8_t>(fn);
    case ComputeType::kS16:
      return FindIntegerFold<int16_t>(fn);
    case ComputeType::kS32:
      return FindIntegerFold<int32_t>(fn);
    case ComputeType::kS64:
      return FindIntegerFold<int64_t>(fn);
    default:
      return nullptr;
  }
}

}  // namespace hv::span
