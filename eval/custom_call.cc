// Custom calls whose target has a meaning without a back end, by target. Source: hlo_ops 3.22.
#include <algorithm>
#include <cstring>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include "eval/move.h"
#include "eval/native_opaque.h"

namespace hv {
namespace {

// The operand itself: marks of shardings, placements and layouts.
constexpr std::string_view kIdentities[] = {"Sharding",
                                            "xla.sdy.FuncResultSharding",
                                            "xla.sdy.PropagationBarrier",
                                            "ShardBarrierFrom",
                                            "ShardBarrierTo",
                                            "SPMDFullToShardShape",
                                            "SPMDShardToFullShape",
                                            "xla.sdy.GlobalToLocalShape",
                                            "xla.sdy.LocalToGlobalShape",
                                            "MoveToHost",
                                            "MoveToDevice",
                                            "PinToDevice",
                                            "annotate_device_placement",
                                            "Pin",
                                            "Unpin",
                                            "LayoutConstraint",
                                            "AssumeGatherIndicesInBound"};

// Nothing but an effect, or an order, that no value depends on.
constexpr std::string_view kEffects[] = {"xla.sdy.ShardingGroup", "control_dep", "xla.debug.Log"};

template <size_t n>
bool IsOneOf(const std::string_view (&targets)[n], std::string_view target) {
  return std::find(std::begin(targets), std::end(targets), target) != std::end(targets);
}

std::string TargetOf(const Instruction& instruction) {
  return std::string(instruction.Text(Attr::kCustomCallTarget));
}

Result<Value> Unknown(const KernelCall& call) {
  const std::string target = TargetOf(call.instruction);
  return NotImplemented(
      call, "target \"" + target + "\" (--custom-call=" + target + "=module.hlo says what it is)");
}

Result<Value> Identity(const KernelCall& call, const Value& operand) {
  if (!SameShape(*operand.shape(), *call.shape)) {
    return NotImplemented(call, "target \"" + TargetOf(call.instruction) +
                                    "\" of a module that is not partitioned yet");
  }
  return operand.IsDense() ? operand.WithShape(call.shape) : operand;
}

// A token, or a tuple of them.
Result<Value> NoData(const KernelCall& call, const Shape* shape) {
  if (shape->IsToken()) return Value::Token(shape);
  if (!shape->IsTuple()) return NotImplemented(call, "an effect with a value");
  std::vector<Value> elements;
  for (const Shape* element : shape->elements) {
    HV_ASSIGN(Value value, NoData(call, element));
    elements.push_back(std::move(value));
  }
  return Value::Tuple(shape, std::move(elements));
}

// A buffer that has no value yet: zeros.
Result<Value> AllocateBuffer(const KernelCall& call) {
  if (!call.shape->IsArray()) return NotImplemented(call, "a buffer that is no array");
  Value zeros = Value::NewNative(call.shape);
  if (!zeros.bytes().empty()) std::memset(zeros.MutableBytes().data(), 0, zeros.bytes().size());
  return zeros;
}

// The number after `key` in "dimension=0,amount=3".
std::optional<int64_t> NumberAfter(std::string_view text, std::string_view key) {
  const size_t at = text.find(key);
  if (at == std::string_view::npos) return {};
  int64_t number = 0;
  const char* first = text.data() + at + key.size();
  if (std::from_chars(first, text.data() + text.size(), number).ec != std::errc()) return {};
  return number;
}

// result[(p + amount) mod size] = operand[p] along one dimension.
Result<Value> RotateRight(const KernelCall& call, const Value& operand) {
  const std::string_view config = call.instruction.Text(Attr::kBackendConfig);
  const auto d = NumberAfter(config, "dimension="), amount = NumberAfter(config, "amount=");
  const Shape& shape = *operand.shape();
  if (!d || !amount || *d < 0 || *d >= shape.rank() || !SameShape(shape, *call.shape)) {
    return NotImplemented(call, "no dimension and amount to rotate by");
  }
  const int64_t size = std::max<int64_t>(shape.dims[static_cast<size_t>(*d)], 1);
  const int64_t turn = (*amount % size + size) % size;
  const int64_t inner =
      RowMajorStrides(shape.dims)[static_cast<size_t>(*d)] * operand.element_bytes();
  Value result = Value::NewNative(call.shape);
  if (result.bytes().empty()) return result;
  std::byte* out = result.MutableBytes().data();
  const auto bytes = static_cast<int64_t>(operand.bytes().size());
  for (int64_t at = 0; at < bytes; at += size * inner) {
    const std::byte* in = operand.bytes().data() + at;
    const auto kept = static_cast<size_t>((size - turn) * inner);
    std::memcpy(out + at + turn * inner, in, kept);
    std::memcpy(out + at, in + kept, static_cast<size_t>(turn * inner));
  }
  return result;
}

// Low or high words of 64-bit integers, and back.
Result<Value> SplitWords(const KernelCall& call, const Value& operand, int shift) {
  const bool fits = IsInteger(operand.shape()->type) && BitWidth(operand.shape()->type) == 64 &&
                    call.shape->type == ElementType::kU32 && SameDims(*operand.shape(), *call.shape);
  if (!fits) return NotImplemented(call, "halves of other than 64-bit integers");
  Value words = Value::NewNative(call.shape);
  const std::span<const uint64_t> in = operand.As<uint64_t>();
  for (size_t i = 0; i < in.size(); ++i) {
    words.MutableAs<uint32_t>()[i] = static_cast<uint32_t>(in[i] >> shift);
  }
  return words;
}

Result<Value> CombineWords(const KernelCall& call, const Value& low, const Value& high) {
  const bool fits = low.shape()->type == ElementType::kU32 && IsInteger(call.shape->type) &&
                    BitWidth(call.shape->type) == 64 && SameShape(*low.shape(), *high.shape()) &&
                    SameDims(*low.shape(), *call.shape);
  if (!fits) return NotImplemented(call, "halves of other than 64-bit integers");
  Value result = Value::NewNative(call.shape);
  for (size_t i = 0; i < low.As<uint32_t>().size(); ++i) {
    result.MutableAs<uint64_t>()[i] = low.As<uint32_t>()[i] | uint64_t{high.As<uint32_t>()[i]} << 32;
  }
  return result;
}

// (the data, s32 size of each dimension); here every size is its bound.
Result<Value> PadToStatic(const KernelCall& call, const Value& operand) {
  const auto shapes = ResultShapes(call);
  if (shapes.size() != operand.shape()->dims.size() + 1) return NotImplemented(call, "its result");
  std::vector<Value> results{operand.WithShape(shapes[0])};
  for (size_t d = 0; d + 1 < shapes.size(); ++d) {
    results.push_back(Value::NewNative(shapes[d + 1]));
    results.back().MutableAs<int32_t>()[0] = static_cast<int32_t>(operand.shape()->dims[d]);
  }
  return PackResults(call, std::move(results));
}

}  // namespace

bool IsAnnotation(const Instruction& instruction) {
  if (instruction.opcode != Opcode::kCustomCall) return false;
  const std::string_view target = instruction.Text(Attr::kCustomCallTarget);
  return IsOneOf(kIdentities, target) || IsOneOf(kEffects, target);
}

Result<Value> NativeCustomCall(const KernelCall& call, std::vector<Value> operands) {
  const std::string target = TargetOf(call.instruction);
  if (IsOneOf(kEffects, target)) return NoData(call, call.shape);
  if (target == "AllocateBuffer" && operands.empty()) return AllocateBuffer(call);
  if (operands.empty()) return Unknown(call);
  const std::span<const Value> rest = std::span(operands).subspan(1);
  if (IsOneOf(kIdentities, target)) return Identity(call, operands[0]);
  if (operands[0].IsNative()) {
    if (target == "TopK" && rest.empty() && ResultShapes(call).size() == 2) {
      return NativeTopK(call, operands[0], true);
    }
    if (target == "_SPMDInternalOp_RotateRight") return RotateRight(call, operands[0]);
    if (target == "X64SplitLow") return SplitWords(call, operands[0], 0);
    if (target == "X64SplitHigh") return SplitWords(call, operands[0], 32);
    if (target == "X64Combine" && rest.size() == 1) return CombineWords(call, operands[0], rest[0]);
    if (target == "PadToStatic") return PadToStatic(call, operands[0]);
    if (target == "SliceToDynamic") return KeepSizes(call, rest, call.shape->dims, operands[0]);
  }
  return Unknown(call);
}

}  // namespace hv
