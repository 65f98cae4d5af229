// Span kernels of pred and u1 .. u64. A pred is a byte 0 or 1: addition is OR, multiplication AND.
#include "eval/span_integers.h"

namespace hv::span {
namespace {

struct PredNot {
  static uint8_t Apply(uint8_t x) { return static_cast<uint8_t>(x ^ 1); }
};

}  // namespace

SpanKernel FindPred(ScalarFn fn) {
  switch (fn) {
    case ScalarFn::kAdd:
    case ScalarFn::kMaximum:
    case ScalarFn::kOr:
      return FindInteger<uint8_t>(ScalarFn::kOr);
    case ScalarFn::kMultiply:
    case ScalarFn::kMinimum:
    case ScalarFn::kAnd:
      return FindInteger<uint8_t>(ScalarFn::kAnd);
    case ScalarFn::kXor:
    case ScalarFn::kClamp:
      return FindInteger<uint8_t>(fn);
    case ScalarFn::kNot:
      return Unary<PredNot, uint8_t>;
    default:
      return nullptr;
  }
}

SpanKernel FindUnsigned(ScalarFn fn, ComputeType type) {
  switch (type) {
    case ComputeType::kU8:
      return FindInteger<uint8_t>(fn);
    case ComputeType::kU16:
      return FindInteger<uint16_t>(fn);
    case ComputeType::kU32:
      return FindInteger<uint32_t>(fn);
    case ComputeType::kU64:
      return FindInteger<uint64_t>(fn);
    default:
      return nullptr;
  }
}

SpanKernel FindUnsignedFold(ScalarFn fn, ComputeType type) {
  switch (type) {
    case ComputeType::kU8:
      return FindIntegerFold<uint8_t>(fn);
    case ComputeType::kU16:
      return FindIntegerFold<uint16_t>(fn);
    case ComputeType::kU32:
      return FindIntegerFold<uint32_t>(fn);
    case ComputeType::kU64:
      return FindIntegerFold<uint64_t>(fn);
    default:
      return nullptr;
  }
}

}  // namespace hv::span
