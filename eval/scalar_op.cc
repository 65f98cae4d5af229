// Prepares scalar functions: which loop, at which type, with what before and after it.
#include "eval/scalar_op.h"

#include <algorithm>
#include <string>

#include "eval/narrow_floats.h"

namespace hv {
namespace {

constexpr size_t kBlock = 1024;  // elements; the buffers of a block stay in the first-level cache

// Of reduce-precision: more bits than any type has change nothing.
int BitsOf(const Instruction& instruction, Attr key) {
  constexpr int64_t kMoreThanAny = 64;
  return static_cast<int>(std::min(instruction.Int(key, 0), kMoreThanAny));
}

tl::unexpected<Error> NotDefined(const Instruction& instruction,
                                 std::span<const ElementType> operands) {
  std::string message(ToString(instruction.opcode));
  for (size_t i = 0; i < operands.size(); ++i) {
    message += i == 0 ? " of " : ", ";
    message += ToString(operands[i]);
  }
  return Unsupported("unsupported-op", std::move(message));
}

// Elements that keep their bits: a copy between types of one storage width, cut to `width` bits
// where types are narrower than their byte.
SpanKernel BitCopy(ElementType to) {
  constexpr ComputeType kUnsigned[] = {ComputeType::kU8, ComputeType::kU16, ComputeType::kU32,
                                       ComputeType::kU64};
  switch (HostBytes(to)) {
    case 1:
      return FindConvertKernel(ComputeType::kU8,
                               IsSigned(to) ? ComputeType::kS8 : ComputeType::kU8);
    case 2:
      return FindConvertKernel(kUnsigned[1], kUnsigned[1]);
    case 4:
      return FindConvertKernel(kUnsigned[2], kUnsigned[2]);
    case 8:
      return FindConvertKernel(kUnsigned[3], kUnsigned[3]);
    default:
      return FindConvertKernel(ComputeType::kC128, ComputeType::kC128);
  }
}

}  // namespace

std::optional<ScalarOp> ScalarOp::Convert(ElementType from, ElementType to) {
  ScalarOp op;
  op.operand_types_[0] = from;
  op.result_type_ = to;
  op.before_[0] = WideningOf(from);
  const bool f64_to_narrow = from == ElementType::kF64 && IsNarrowFloat(to);
  op.after_ = f64_to_narrow       ? Stage::kNarrowDoubles
              : IsNarrowFloat(to) ? Stage::kNarrow
                                  : Stage::kAsIs;
  if (from == to) {
    op.before_[0] = op.after_ = Stage::kAsIs;
    op.kernel_ = BitCopy(to);
  } else if (const SpanKernel half = FindHalfConvertKernel(from, to)) {
    op.before_[0] = op.after_ = Stage::kAsIs;
    op.kernel_ = half;
  } else {
    op.kernel_ = FindConvertKernel(ComputeTypeOf(from),
                                   f64_to_narrow ? ComputeType::kF64 : ComputeTypeOf(to));
  }
  op.arguments_.width = BitWidth(to);
  op.staged_ = op.before_[0] != Stage::kAsIs || op.after_ != Stage::kAsIs;
  if (op.kernel_ == nullptr) return std::nullopt;
  return op;
}

std::optional<ScalarOp> ScalarOp::Make(ScalarFn fn, ElementType type) {
  ScalarOp op;
  for (int i = 0; i < 3; ++i) {
    op.operand_types_[i] = type;
    op.before_[i] = WideningOf(type);
  }
  op.result_type_ = type;
  op.after_ = IsNarrowFloat(type) ? Stage::kNarrow : Stage::kAsIs;
  op.staged_ = IsNarrowFloat(type);
  op.arguments_.width = BitWidth(type);
  op.kernel_ = FindSpanKernel(fn, ComputeTypeOf(type));
  if (op.kernel_ == nullptr) return std::nullopt;
  op.UseHalfKernel(fn);
  return op;
}

void ScalarOp::UseHalfKernel(ScalarFn fn) {
  const SpanKernel fused = FindHalfKernel(fn, result_type_);
  if (fused == nullptr || operand_types_[0] != result_type_ || operand_types_[1] != result_type_) {
    return;
  }
  kernel_ = fused;
  staged_ = false;
}

Result<ScalarOp> ScalarOp::Make(const Instruction& instruction, ElementType result,
                                std::span<const ElementType> operands) {
  const ScalarFn fn = Definition(instruction).scalar;
  if (operands.empty() || operands.size() > 3) return NotDefined(instruction, operands);
  if (fn == ScalarFn::kConvert) {
    std::optional<ScalarOp> convert = Convert(operands[0], result);
    if (convert) return *convert;
    return Unsupported("unsupported-op",
                       std::string("convert: ").append(ToString(operands[0])).append(" to ")
                           .append(ToString(result)).append(" would drop the imaginary part"));
  }
  ScalarOp op;
  op.result_type_ = result;
  op.arguments_.width = BitWidth(operands[0]);
  op.after_ = IsNarrowFloat(result) ? Stage::kNarrow : Stage::kAsIs;
  for (size_t i = 0; i < operands.size(); ++i) {
    op.operand_types_[i] = operands[i];
    op.before_[i] = WideningOf(operands[i]);
  }
  const auto leave_bits = [&op] {
    std::fill_n(op.before_, 3, Stage::kAsIs);
    op.after_ = Stage::kAsIs;
  };
  const bool one_type = std::all_of(operands.begin(), operands.end(), [&](ElementType type) {
    return ComputeTypeOf(type) == ComputeTypeOf(operands[0]);
  });
  if (!one_type && fn != ScalarFn::kSelect) return NotDefined(instruction, operands);
  // Kernels write what they compute in, and select moves whole elements.
  const ElementType last = operands.back();
  const bool widths_differ = IsFloat(last) && IsFloat(result) &&
                             ComputeTypeOf(last) != ComputeTypeOf(result);
  const bool moves_other = fn == ScalarFn::kSelect && (operands[1] != result || last != result);
  if (widths_differ || moves_other) return NotDefined(instruction, operands);
  switch (fn) {
    case ScalarFn::kSelect:
      leave_bits();
      op.kernel_ = FindSelectKernel(HostBytes(result));
      break;
    case ScalarFn::kBitcastConvert:
      leave_bits();
      op.arguments_.width = BitWidth(result);
      if (BitWidth(result) == BitWidth(operands[0])) op.kernel_ = BitCopy(result);
      break;
    case ScalarFn::kCompare: {
      ComputeType type = ComputeTypeOf(operands[0]);
      if (instruction.Text(Attr::kCompareType) == "TOTALORDER" && IsFloat(operands[0])) {
        op.before_[0] = op.before_[1] = Stage::kTotalOrder;
        type = operands[0] == ElementType::kF64 ? ComputeType::kS64 : ComputeType::kS32;
      }
      op.kernel_ = FindCompareKernel(DirectionOf(instruction.Text(Attr::kCompareDirection)), type);
      break;
    }
    default:
      op.arguments_.params[0] = BitsOf(instruction, Attr::kExponentBits);
      op.arguments_.params[1] = BitsOf(instruction, Attr::kMantissaBits);
      op.kernel_ = FindSpanKernel(fn, ComputeTypeOf(operands[0]));
      break;
  }
  if (op.kernel_ == nullptr) return NotDefined(instruction, operands);
  op.staged_ = op.after_ != Stage::kAsIs ||
               std::any_of(op.before_, op.before_ + 3, [](Stage s) { return s != Stage::kAsIs; });
  op.UseHalfKernel(fn);
  return op;
}

void ScalarOp::RunBlock(std::span<const std::byte* const> in, std::byte* out, size_t count) const {
  alignas(64) std::byte operands[3][kBlock * sizeof(int64_t)];
  alignas(64) std::byte result[kBlock * sizeof(double)];
  SpanArgs a = arguments_;
  a.count = count;
  a.out = after_ == Stage::kAsIs ? out : result;
  for (size_t i = 0; i < in.size(); ++i) {
    a.in[i] = before_[i] == Stage::kAsIs ? in[i] : operands[i];
    if (before_[i] == Stage::kWiden) {
      WidenFloats(operand_types_[i], in[i], reinterpret_cast<float*>(operands[i]), count);
    } else if (before_[i] == Stage::kTotalOrder) {
      TotalOrderKeys(operand_types_[i], in[i], operands[i], count);
    }
  }
  kernel_(a);
  if (after_ == Stage::kNarrow) {
    NarrowFloats(result_type_, reinterpret_cast<const float*>(result), out, count);
  } else if (after_ == Stage::kNarrowDoubles) {
    NarrowDoubles(result_type_, reinterpret_cast<const double*>(result), out, count);
  }
}

void ScalarOp::Run(std::span<const std::byte* const> in, std::byte* out, size_t count) const {
  if (!staged_) {
    SpanArgs a = arguments_;
    for (size_t i = 0; i < in.size(); ++i) a.in[i] = in[i];
    a.out = out;
    a.count = count;
    kernel_(a);
    return;
  }
  for (size_t done = 0; done < count; done += kBlock) {
    const std::byte* block[3] = {};
    for (size_t i = 0; i < in.size(); ++i) {
      block[i] = in[i] + done * static_cast<size_t>(HostBytes(operand_types_[i]));
    }
    RunBlock({block, in.size()}, out + done * static_cast<size_t>(HostBytes(result_type_)),
             std::min(kBlock, count - done));
  }
}

}  // namespace hv
