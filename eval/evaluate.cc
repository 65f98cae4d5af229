// Dispatch of one instruction on its kernel kind, the same for every domain.
#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "base/check.h"
#include "eval/convert.h"
#include "eval/domain.h"
#include "eval/move.h"
#include "eval/native_kernels.h"
#include "eval/scalar_op.h"
#include "eval/scan.h"
#include "hlo/view.h"
#include "hlo/view_ops.h"

namespace hv {
namespace {

// iota counts in 64 bits; the element type gets what convert makes of that. One line of counts is
// spread over the other dimensions.
Value NativeIota(const KernelCall& call) {
  const Shape& shape = *call.shape;
  Value result = Value::NewNative(call.shape);
  if (shape.element_count == 0) return result;
  const auto d = static_cast<size_t>(call.instruction.Int(Attr::kIotaDimension, 0));
  const int64_t extent = shape.dims[d];
  const int64_t repeat = RowMajorStrides(shape.dims)[d];  // consecutive equal elements
  const int width = result.element_bytes();
  std::byte* out = result.MutableBytes().data();
  std::vector<std::byte> line(extent == shape.element_count ? 0
                                                            : static_cast<size_t>(extent * width));
  std::byte* to = line.empty() ? out : line.data();
  const ScalarOp convert = *ScalarOp::Convert(ElementType::kS64, shape.type);
  int64_t counts[1024];
  const std::byte* in[1] = {reinterpret_cast<const std::byte*>(counts)};
  for (int64_t at = 0; at < extent; at += std::ssize(counts)) {
    const int64_t now = std::min<int64_t>(std::ssize(counts), extent - at);
    std::iota(counts, counts + now, at);
    convert.Run(in, to + at * width, static_cast<size_t>(now));
  }
  if (line.empty()) return result;
  Piece spread;
  spread.digits = {{shape.element_count / (extent * repeat), 0, extent * repeat},
                   {extent, 1, repeat},
                   {repeat, 0, 1}};
  Normalize(&spread);
  CopyPiece(spread, line.data(), out, width);
  return result;
}

Value ScalarU32(const KernelCall& call, int64_t number) {
  Value result = Value::NewNative(call.shape);
  result.MutableAs<uint32_t>()[0] = static_cast<uint32_t>(number);
  return result;
}

Result<Value> Source(Domain& domain, const KernelCall& call, int64_t replica, int64_t partition) {
  switch (call.instruction.opcode) {
    case Opcode::kConstant:
      if (call.instruction.literal->elided) return domain.ElidedConstant(call.instruction);
      return domain.Constant(*call.instruction.literal);
    case Opcode::kIota:
      return domain.Iota(call);
    case Opcode::kReplicaId:
      return ScalarU32(call, replica);
    case Opcode::kPartitionId:
      return ScalarU32(call, partition);
    case Opcode::kAfterAll:
      return Value::Token(call.shape);
    default:
      return NotImplemented(call);
  }
}

// Start operands of dynamic-slice and dynamic-update-slice: scalars each, or one vector (old form).
std::optional<std::vector<int64_t>> ControlStarts(const Domain& domain,
                                                  std::span<const Value> starts) {
  std::vector<int64_t> all;
  for (const Value& start : starts) {
    const std::optional<Value> concrete = domain.Concrete(start);
    if (!concrete) return std::nullopt;
    const std::vector<int64_t> integers = IntegersOf(*concrete);
    all.insert(all.end(), integers.begin(), integers.end());
  }
  return all;
}

// The elements of `shape` in the order in which its layout stores them, or (inverse) back.
Piece PhysicalOrder(const Shape& shape, bool inverse) {
  const std::vector<int64_t> strides = RowMajorStrides(shape.dims);
  Piece piece;
  int64_t packed = 1;
  for (int64_t k = 0; k < shape.rank(); ++k) {
    const auto d = shape.minor_to_major.empty()
                       ? static_cast<size_t>(shape.rank() - 1 - k)
                       : static_cast<size_t>(shape.minor_to_major[static_cast<size_t>(k)]);
    piece.digits.push_back(
        {shape.dims[d], inverse ? packed : strides[d], inverse ? strides[d] : packed});
    packed *= shape.dims[d];
  }
  Normalize(&piece);
  return piece;
}

// bitcast whose layouts or widths do not factor into a piece: through the bytes in memory.
Result<Value> PhysicalBitcast(const KernelCall& call, const Value& operand) {
  const Shape& from = *operand.shape();
  const bool same_bytes = from.element_count * HostBytes(from.type) ==
                          call.shape->element_count * HostBytes(call.shape->type);
  if (!operand.IsNative() || !same_bytes) return NotImplemented(call, "between these shapes");
  const Value stored = MovePieces(operand.shape(), {PhysicalOrder(from, false)}, {operand});
  const Value cast = BitcastConvertValue(stored, call.shape);
  return MovePieces(call.shape, {PhysicalOrder(*call.shape, true)}, {cast});
}

// What a bitcast to another type does to each element, before anything moves.
Result<Value> ReadAs(Domain& domain, const KernelCall& call, std::vector<Value> operands) {
  ShapeTable& shapes = call.module.context->shapes;
  const Shape* shape = shapes.WithType(*operands[0].shape(), call.shape->type);
  return domain.Scalar({call.module, call.computation, call.instruction, shape},
                       std::move(operands));
}

Result<Value> View(Domain& domain, const KernelCall& call, std::vector<Value> operands) {
  if (call.instruction.opcode == Opcode::kBitcast &&
      !BitcastFactors(*operands[0].shape(), *call.shape)) {
    return PhysicalBitcast(call, operands[0]);
  }
  if (operands.size() == 1 && operands[0].shape()->type != call.shape->type) {
    HV_ASSIGN(Value read, ReadAs(domain, call, std::move(operands)));
    operands.assign(1, std::move(read));
  }
  std::vector<int64_t> starts;
  const bool slice = call.instruction.opcode == Opcode::kDynamicSlice;
  if (slice || call.instruction.opcode == Opcode::kDynamicUpdateSlice) {
    const size_t data = slice ? 1 : 2;
    auto known = ControlStarts(domain, std::span(operands).subspan(data));
    if (!known) return domain.DataDependentView(call, std::move(operands));
    starts = std::move(*known);
    const Shape& window = slice ? *call.shape : *operands[1].shape();
    starts = ClampStarts(operands[0].shape()->dims, window.dims, starts);
    operands.resize(data);
  }
  std::vector<const Shape*> shapes;
  for (const Value& v : operands) shapes.push_back(v.shape());
  const Pieces pieces = Definition(call.instruction).view(call.instruction, shapes, starts);
  return domain.Move(call.shape, pieces, std::move(operands));
}

// Takes over the instruction's shape, layouts included.
Value Reshaped(const Value& value, const Shape* shape) {
  return value.IsDense() && value.shape() != shape ? value.WithShape(shape) : value;
}

Result<Value> Alias(Domain& domain, const KernelCall& call, std::vector<Value> operands) {
  switch (call.instruction.opcode) {
    case Opcode::kTuple:
      return Value::Tuple(call.shape, std::move(operands));
    case Opcode::kGetTupleElement:
      return operands[0].elements()[static_cast<size_t>(call.instruction.Int(Attr::kIndex, 0))];
    case Opcode::kCopyStart: {
      const Shape* context = call.shape->elements[2];
      Value zero = Value::NewNative(context);
      std::memset(zero.MutableBytes().data(), 0, zero.bytes().size());
      return Value::Tuple(call.shape, {operands[0], operands[0], std::move(zero)});
    }
    case Opcode::kCopyDone:
      return operands[0].elements()[0];
    default:
      break;
  }
  const Value& value = operands[0];
  if (!value.IsDense()) {
    if (value.shape()->IsArray() && value.shape()->type != call.shape->type) {
      return NotImplemented(call, "operand and result differ in type");
    }
    return value.shape()->IsArray() ? value.WithShape(call.shape) : value;
  }
  if (value.element_count() != call.shape->element_count) {
    return NotImplemented(call, "operand and result differ in size");
  }
  // copy between element types converts, as XLA's evaluator does.
  if (value.IsNative() && value.shape()->type != call.shape->type) {
    const auto convert = ScalarOp::Convert(value.shape()->type, call.shape->type);
    if (!convert) return NotImplemented(call);
    Value result = Value::NewNative(call.shape);
    const std::byte* in[1] = {value.bytes().data()};
    convert->Run(in, result.MutableBytes().data(), static_cast<size_t>(value.element_count()));
    return result;
  }
  static_cast<void>(domain);
  return Reshaped(value, call.shape);
}

}  // namespace

std::optional<Value> Domain::Concrete(const Value& value) const {
  if (value.IsNative()) return value;
  return std::nullopt;
}

std::unique_ptr<PreparedKernel> Domain::Prepare(const KernelCall&) { return nullptr; }

Result<Value> Domain::Iota(const KernelCall& call) { return NativeIota(call); }

Result<Value> Domain::ElidedConstant(const Instruction& constant) {
  return Unsupported("elided-constant", "the value of constant '" + std::string(constant.name) +
                                            "' is elided ({...})");
}

Result<Value> Domain::Choose(const Value&, std::vector<Value>) {
  return Unsupported("control-is-data", "a branch is chosen by data");
}

Result<Value> Domain::DataDependentView(const KernelCall& call, std::vector<Value>) {
  return NotImplemented(call, "data-dependent index");
}

Result<Value> Domain::HiddenRandom(const KernelCall& call, std::vector<Value>, int64_t, int64_t) {
  return NotImplemented(call,
                        "random numbers of a hidden state, which rewrites may draw otherwise");
}

void Domain::EnterCollective(const Instruction&, std::span<const DeviceId>) {}

Result<Value> Domain::Constant(const Literal& literal) { return Value::FromLiteral(literal); }

Result<Value> EvaluateInstruction(Domain& domain, const KernelCall& call,
                                  std::vector<Value> operands, int64_t replica, int64_t partition) {
  switch (Definition(call.instruction).kernel) {
    case KernelKind::kSource:
      return Source(domain, call, replica, partition);
    case KernelKind::kScalar:
      return domain.Scalar(call, std::move(operands));
    case KernelKind::kView:
      return View(domain, call, std::move(operands));
    case KernelKind::kAlias:
      return Alias(domain, call, std::move(operands));
    case KernelKind::kGather:
      return domain.Gather(call, std::move(operands));
    case KernelKind::kScatter:
      return domain.Scatter(call, std::move(operands));
    case KernelKind::kReduce:
      return domain.Reduce(call, std::move(operands));
    case KernelKind::kWindow:
      return domain.Window(call, std::move(operands));
    case KernelKind::kContract:
      return domain.Contract(call, std::move(operands));
    case KernelKind::kOpaque:
      return domain.Opaque(call, std::move(operands));
    case KernelKind::kRegion:
      if (call.instruction.opcode == Opcode::kMap) return domain.Map(call, std::move(operands));
      if (call.instruction.opcode == Opcode::kScan) {
        return EvaluateScan(domain, call, std::move(operands), replica, partition);
      }
      break;
    case KernelKind::kHidden:
      return domain.HiddenRandom(call, std::move(operands), replica, partition);
    case KernelKind::kRefused:
      return NotImplemented(call, "needs a host");
    default:
      break;
  }
  return NotImplemented(call);
}

std::vector<int64_t> IntegersOf(const Value& value) {
  HV_CHECK(value.IsNative(), "integers of a value that is not concrete");
  const ElementType type = value.shape()->type;
  std::vector<int64_t> out(static_cast<size_t>(value.element_count()));
  const auto convert = ScalarOp::Convert(type, ElementType::kS64);
  HV_CHECK(convert.has_value() && (IsInteger(type) || IsPred(type)), "integers of other types");
  const std::byte* in[1] = {value.bytes().data()};
  convert->Run(in, reinterpret_cast<std::byte*>(out.data()), out.size());
  if (type == ElementType::kU64) {
    for (int64_t& v : out) v = v < 0 ? std::numeric_limits<int64_t>::max() : v;
  }
  return out;
}

int64_t IntegerOf(const Value& value) {
  HV_CHECK(value.IsNative() && value.element_count() > 0,
           "an integer of a value that is not concrete");
  const ElementType type = value.shape()->type;
  const bool is_signed = IsSigned(type);
  switch (value.element_bytes()) {
    case 1:
      return is_signed ? value.As<int8_t>()[0] : value.As<uint8_t>()[0];
    case 2:
      return is_signed ? value.As<int16_t>()[0] : value.As<uint16_t>()[0];
    case 4:  // of both types together an unsigned one would be made
      if (is_signed) return value.As<int32_t>()[0];
      return value.As<uint32_t>()[0];
    default:
      break;
  }
  const int64_t integer = value.As<int64_t>()[0];
  return !is_signed && integer < 0 ? std::numeric_limits<int64_t>::max() : integer;
}

}  // namespace hv
