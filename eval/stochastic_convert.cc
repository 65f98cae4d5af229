// stochastic-convert: float to signed integer, rounded up with the probability of the fraction.
// Source: hlo_ops 2.8.
#include <cmath>
#include <cstring>

#include "eval/convert.h"
#include "eval/native_kernels.h"

namespace hv {
namespace {

int64_t ConvertOne(double x, uint64_t random, int random_bits, int result_bits) {
  const int64_t top = static_cast<int64_t>(~uint64_t{0} >> (65 - result_bits));
  if (std::isnan(x)) return 0;
  if (x >= static_cast<double>(top)) return top;
  if (x <= static_cast<double>(-top - 1)) return -top - 1;
  const double magnitude = std::fabs(x), whole = std::trunc(magnitude);
  const double scaled = std::ldexp(magnitude - whole, random_bits);  // below 2^random_bits
  const auto threshold = static_cast<uint64_t>(std::floor(scaled));
  auto result = static_cast<uint64_t>(whole);
  if (random < threshold) {
    if (result == static_cast<uint64_t>(top)) return -top - 1;
    ++result;
  }
  return x < 0 ? -static_cast<int64_t>(result) : static_cast<int64_t>(result);
}

}  // namespace

Result<Value> NativeStochasticConvert(const KernelCall& call, const std::vector<Value>& operands) {
  HV_ASSIGN(const Value x, ConvertValue(call.module, operands[0], ElementType::kF64));
  HV_ASSIGN(const Value random, ConvertValue(call.module, operands[1], ElementType::kU64));
  if (!IsSigned(call.shape->type)) return NotImplemented(call, "to other than signed integers");
  const int random_bits = BitWidth(operands[1].shape()->type);
  Value wide =
      Value::NewNative(call.module.context->shapes.WithType(*call.shape, ElementType::kS64));
  for (size_t i = 0; i < static_cast<size_t>(wide.element_count()); ++i) {
    wide.MutableAs<int64_t>()[i] = ConvertOne(x.As<double>()[i], random.As<uint64_t>()[i],
                                              random_bits, BitWidth(call.shape->type));
  }
  HV_ASSIGN(const Value result, ConvertValue(call.module, wide, call.shape->type));
  return result.WithShape(call.shape);
}

}  // namespace hv
