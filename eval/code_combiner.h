// Reducers on codes: ring and free operations where the computation is one, a copy where it
// overwrites, else the computation applied element by element in order.
#pragma once

#include <vector>

#include "eval/code_domain.h"
#include "eval/combiner.h"

namespace hv {

class CodeCombiner : public Combiner {
 public:
  // `types`: of the accumulators.
  CodeCombiner(CodeDomain& domain, const Module& module, ComputationIndex computation,
               std::vector<ElementType> types);
  Status Combine(std::span<std::byte* const> accumulators, std::span<const std::byte* const> values,
                 size_t count) override;
  // The recognised function, kNone if there is none.
  ScalarFn fn() const { return fn_; }

 private:
  Status Call(std::span<std::byte* const> accumulators, std::span<const std::byte* const> values,
              size_t count);

  CodeDomain& domain_;
  const Module& module_;
  ComputationIndex computation_;
  std::vector<ElementType> types_;
  ScalarFn fn_ = ScalarFn::kNone;
  bool overwrites_ = false;
};

}  // namespace hv
