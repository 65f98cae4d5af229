// Applies reducers to spans of codes.
#include "eval/code_combiner.h"

#include <cstring>
#include <utility>

#include "eval/code_scalar.h"
#include "eval/elementwise_call.h"

namespace hv {

CodeCombiner::CodeCombiner(CodeDomain& domain, const Module& module, ComputationIndex computation,
                           std::vector<ElementType> types)
    : domain_(domain), module_(module), computation_(computation), types_(std::move(types)) {
  if (types_.size() != 1) return;
  fn_ = OnType(RecognizeReducer(module, computation).fn, types_[0]);
  overwrites_ = ReturnsParameter(module, computation, 1);
}

Status CodeCombiner::Combine(std::span<std::byte* const> accumulators,
                             std::span<const std::byte* const> values, size_t count) {
  CodeAlgebra& algebra = *domain_.algebra_;
  if (IsRingOp(fn_)) {
    domain_.trace_.products |= fn_ == ScalarFn::kMultiply;
    algebra.Ring(fn_, accumulators[0], values[0], accumulators[0], count);
    return {};
  }
  if (IsFreeOp(fn_)) {
    domain_.trace_.free_operations = true;
    algebra.Free(fn_, accumulators[0], values[0], accumulators[0], count);
    return {};
  }
  if (overwrites_) {
    std::memcpy(accumulators[0], values[0], count * static_cast<size_t>(algebra.code_bytes()));
    return {};
  }
  return Call(accumulators, values, count);
}

Status CodeCombiner::Call(std::span<std::byte* const> accumulators,
                          std::span<const std::byte* const> values, size_t count) {
  const int64_t dims[1] = {static_cast<int64_t>(count)};
  const size_t bytes = count * static_cast<size_t>(domain_.code_bytes());
  std::vector<Value> arguments;
  for (size_t k = 0; k < 2 * types_.size(); ++k) {
    const size_t of = k % types_.size();
    Value v = Value::NewCode(module_.context->shapes.Array(types_[of], dims), domain_.code_bytes());
    std::memcpy(v.MutableBytes().data(), k < types_.size() ? accumulators[of] : values[of], bytes);
    arguments.push_back(std::move(v));
  }
  HV_ASSIGN(const std::vector<Value> results,
            CallElementwise(domain_, module_, computation_, dims, std::move(arguments)));
  for (size_t k = 0; k < types_.size(); ++k) {
    const Value code = domain_.Lift(results[k]);
    std::memcpy(accumulators[k], code.bytes().data(), bytes);
  }
  return {};
}

}  // namespace hv
