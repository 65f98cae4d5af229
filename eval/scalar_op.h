// One scalar function prepared for given element types: looked up once, run on spans of any length.
// Narrow floats go block by block through f32, rounded once per instruction.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "base/result.h"
#include "eval/span_kernel.h"
#include "hlo/module.h"

namespace hv {

class ScalarOp {
 public:
  // The function of `instruction` (kernel kind kScalar, with its attributes) for operands of the
  // given types. Operands of one role have equal types; kUnsupported names the op otherwise.
  static Result<ScalarOp> Make(const Instruction& instruction, ElementType result,
                               std::span<const ElementType> operands);
  // fn(type, type, ..) -> type, as reducers apply it; nothing if HLO does not define it.
  static std::optional<ScalarOp> Make(ScalarFn fn, ElementType type);
  // Nothing for complex to real.
  static std::optional<ScalarOp> Convert(ElementType from, ElementType to);

  // The loop over elements as stored with its parameters in `arguments`; null if it runs block by
  // block between conversions.
  SpanKernel Direct(SpanArgs* arguments) const {
    *arguments = arguments_;
    return staged_ ? nullptr : kernel_;
  }

  // in[k] and out point at `count` elements in host representation; out may equal an in[k] of the
  // same element width.
  void Run(std::span<const std::byte* const> in, std::byte* out, size_t count) const;

 private:
  enum class Stage : uint8_t {
    kAsIs,
    kWiden,          // narrow float -> f32 before the loop
    kTotalOrder,     // float -> integer keys before the loop
    kNarrow,         // f32 -> narrow float after the loop
    kNarrowDoubles,  // f64 -> narrow float after the loop
  };
  // Replaces the staged loop by one over bf16 or f16 as stored, if there is one.
  void UseHalfKernel(ScalarFn fn);
  void RunBlock(std::span<const std::byte* const> in, std::byte* out, size_t count) const;
  static Stage WideningOf(ElementType type) {
    return IsNarrowFloat(type) ? Stage::kWiden : Stage::kAsIs;
  }

  SpanKernel kernel_ = nullptr;
  SpanArgs arguments_;  // width and params
  ElementType operand_types_[3] = {};
  ElementType result_type_ = ElementType::kPred;
  Stage before_[3] = {};
  Stage after_ = Stage::kAsIs;
  bool staged_ = false;
};

}  // namespace hv
