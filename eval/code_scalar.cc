// Which scalar functions are arithmetic, which are free operations, which are random functions of
// their arguments. Float precision is ignored (and noted), so codes speak about the reals.
#include "eval/code_scalar.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include "eval/code_algebra.h"
#include "eval/elementwise_call.h"
#include "eval/keyed_hash.h"
#include "eval/span_kernel.h"
#include "hlo/float_formats.h"

namespace hv {
namespace {

// Codes do not tell -0 from 0; a function of a concrete one must.
void AddNegativeZeros(const Value& value, KeyedHash* key) {
  const ElementType type = value.shape()->type;
  if (!value.IsNative() || !value.IsDense() || !IsFloat(type)) return;
  for (int64_t i = 0; i < value.element_count(); ++i) {
    const double number = NumberAt(type, value.bytes().data(), static_cast<size_t>(i)).real;
    if (number == 0 && std::signbit(number)) key->Add(static_cast<uint64_t>(i));
  }
}

// Types that functions tell apart: floats of every precision are one class, as complex ones.
std::string_view ClassOf(ElementType type) {
  return IsFloat(type) ? "float" : IsComplex(type) ? "complex" : ToString(type);
}

bool IsReal(ElementType type) { return IsFloat(type) || IsComplex(type); }

}  // namespace

ScalarFn OnType(ScalarFn fn, ElementType type) {
  if (!IsPred(type)) return fn;
  if (fn == ScalarFn::kAdd || fn == ScalarFn::kMaximum) return ScalarFn::kOr;
  if (fn == ScalarFn::kMultiply || fn == ScalarFn::kMinimum) return ScalarFn::kAnd;
  return fn;
}

bool IsRingOp(ScalarFn fn) {
  return fn == ScalarFn::kAdd || fn == ScalarFn::kSubtract || fn == ScalarFn::kMultiply ||
         fn == ScalarFn::kNegate;
}

bool IsFreeOp(ScalarFn fn) {
  return fn == ScalarFn::kMaximum || fn == ScalarFn::kMinimum || fn == ScalarFn::kAnd ||
         fn == ScalarFn::kOr || fn == ScalarFn::kXor;
}

bool IsIdentityOf(ScalarFn fn, ElementType type, const std::byte* elements, size_t index) {
  const NativeNumber n = NumberAt(type, elements, index);
  if (n.kind == NativeNumber::Kind::kComplex) return false;
  if (n.kind == NativeNumber::Kind::kReal) {
    const double top = HasInfinity(type) ? HUGE_VAL : LargestFinite(type);
    return (fn == ScalarFn::kMaximum && n.real == -top) ||
           (fn == ScalarFn::kMinimum && n.real == top);
  }
  const int width = IsPred(type) ? 1 : BitWidth(type);
  const uint64_t all = ~uint64_t{0} >> (64 - width);
  const uint64_t bits = static_cast<uint64_t>(n.integer) & all;
  const uint64_t sign = uint64_t{1} << (width - 1);
  switch (fn) {
    case ScalarFn::kMaximum:
      return bits == (IsSigned(type) ? sign : 0);
    case ScalarFn::kMinimum:
      return bits == (IsSigned(type) ? sign - 1 : all);
    case ScalarFn::kAnd:
      return bits == all;
    default:
      return bits == 0;
  }
}

Value CodeScalar::OnShape(const Value& value) const {
  if (SameDims(*value.shape(), *call_.shape)) return value;
  return Spread(value, call_.module.context->shapes.WithType(*call_.shape, value.shape()->type));
}

Value CodeScalar::Lifted(const Value& value) const { return domain_.Lift(OnShape(value)); }

Value CodeScalar::LiftedFor(ScalarFn free_op, const Value& value) const {
  Value code = Lifted(value);
  if (!value.IsNative()) return code;
  const Value native = OnShape(value);
  const auto width = static_cast<size_t>(domain_.code_bytes());
  std::byte* out = code.MutableBytes().data();
  for (size_t i = 0; i < static_cast<size_t>(code.element_count()); ++i) {
    if (IsIdentityOf(free_op, native.shape()->type, native.bytes().data(), i)) {
      domain_.algebra_->Empty(free_op, out + i * width, 1);
    }
  }
  return code;
}

Value CodeScalar::Number(double number) const {
  ShapeTable& shapes = call_.module.context->shapes;
  Value scalar = Value::NewNative(shapes.Scalar(ElementType::kF64));
  scalar.MutableAs<double>()[0] = number;
  return domain_.Lift(Spread(scalar, shapes.WithType(*call_.shape, ElementType::kF64)));
}

Value CodeScalar::Ring(ScalarFn fn, const std::vector<Value>& operands) {
  const bool binary = operands.size() == 2;
  const bool product =
      fn == ScalarFn::kMultiply && !AllNative({&operands[0], 1}) && !AllNative({&operands[1], 1});
  domain_.trace_.products |= product;
  const Value x = Lifted(operands[0]);
  const Value y = binary ? Lifted(operands[1]) : Value();
  Value out = domain_.NewCodes(call_.shape);
  domain_.algebra_->Ring(fn, x.bytes().data(), binary ? y.bytes().data() : nullptr,
                         out.MutableBytes().data(), static_cast<size_t>(out.element_count()));
  return out;
}

Value CodeScalar::Free(ScalarFn fn, const std::vector<Value>& operands) {
  domain_.trace_.free_operations = true;
  const Value x = LiftedFor(fn, operands[0]), y = LiftedFor(fn, operands[1]);
  Value out = domain_.NewCodes(call_.shape);
  domain_.algebra_->Free(fn, x.bytes().data(), y.bytes().data(), out.MutableBytes().data(),
                         static_cast<size_t>(out.element_count()));
  return out;
}

// A native predicate chooses; a code s of one mixes: b + s * (a - b).
Value CodeScalar::Select(std::vector<Value> operands) {
  const Value a = Lifted(operands[1]), b = Lifted(operands[2]);
  if (operands[0].IsNative()) {
    const Value choose = OnShape(operands[0]);
    Value out = domain_.NewCodes(call_.shape);
    SpanArgs args;
    args.in[0] = choose.bytes().data();
    args.in[1] = a.bytes().data();
    args.in[2] = b.bytes().data();
    args.out = out.MutableBytes().data();
    args.count = static_cast<size_t>(out.element_count());
    FindSelectKernel(domain_.code_bytes())(args);
    return out;
  }
  const Value difference = Ring(ScalarFn::kSubtract, {a, b});
  return Ring(ScalarFn::kAdd, {b, Ring(ScalarFn::kMultiply, {operands[0], difference})});
}

Value CodeScalar::Clamp(const std::vector<Value>& operands) {
  const Value raised =
      Free(OnType(ScalarFn::kMaximum, call_.shape->type), {operands[1], operands[0]});
  return Free(OnType(ScalarFn::kMinimum, call_.shape->type), {operands[2], raised});
}

// 1 - s for a predicate, -1 - x for a signed integer.
Value CodeScalar::Not(const Value& operand) {
  return Ring(ScalarFn::kSubtract, {Number(IsPred(call_.shape->type) ? 1 : -1), operand});
}

// Greater is less the other way round; NE is 1 - EQ, NaN or not; on integers GE is 1 - LT.
Value CodeScalar::Compare(const std::vector<Value>& operands) {
  Direction direction = DirectionOf(call_.instruction.Text(Attr::kCompareDirection));
  std::vector<Value> sides = operands;
  if (direction == Direction::kGt || direction == Direction::kGe) {
    std::swap(sides[0], sides[1]);
    direction = direction == Direction::kGt ? Direction::kLt : Direction::kLe;
  }
  bool negated = direction == Direction::kNe;
  if (negated) direction = Direction::kEq;
  if (direction == Direction::kLe && !IsReal(operands[0].shape()->type)) {
    std::swap(sides[0], sides[1]);
    direction = Direction::kLt;
    negated = true;
  }
  const bool total = IsFloat(operands[0].shape()->type) &&
                     call_.instruction.Text(Attr::kCompareType) == "TOTALORDER";
  KeyedHash key(static_cast<uint64_t>(ScalarFn::kCompare));
  key.Add(static_cast<uint64_t>(direction)).Add(total ? 1 : 0);
  key.Add(ClassOf(operands[0].shape()->type));
  for (const Value& v : operands) {
    if (!total) continue;
    AddNegativeZeros(v, &key);
    NoteZeros(v);
  }
  const bool symmetric = direction == Direction::kEq;
  const Value holds = Function({key.First(), key.Second()}, sides, symmetric);
  return negated ? Ring(ScalarFn::kSubtract, {Number(1), holds}) : holds;
}

// re + i * im.
Value CodeScalar::Complex(const std::vector<Value>& operands) {
  Value unit = Value::NewNative(call_.module.context->shapes.Scalar(ElementType::kC128));
  unit.MutableAs<double>()[0] = 0;
  unit.MutableAs<double>()[1] = 1;
  return Ring(ScalarFn::kAdd, {operands[0], Ring(ScalarFn::kMultiply, {operands[1], unit})});
}

Value CodeScalar::Convert(const Value& operand) {
  const ElementType from = operand.shape()->type, to = call_.shape->type;
  if (from == to) return operand.WithShape(call_.shape);
  const bool to_real_part = IsComplex(from) && !IsComplex(to);
  if (IsReal(from) && IsReal(to) && !to_real_part) {
    domain_.trace_.precision_changed |= ComponentType(from) != ComponentType(to);
    return operand.WithShape(call_.shape);
  }
  const bool narrows = IsInteger(from) && IsInteger(to) && BitWidth(to) <= BitWidth(from);
  if (narrows && domain_.algebra_->IntegersWrap()) return operand.WithShape(call_.shape);
  return Function(KeyOf({operand}), {operand}, false);
}

Result<Value> CodeScalar::Divide(const std::vector<Value>& operands) {
  if (operands[1].IsNative()) {
    const Value x = Lifted(operands[0]), divisor = OnShape(operands[1]);
    Value out = domain_.NewCodes(call_.shape);
    if (domain_.algebra_->DivideByNative(divisor.shape()->type, x.bytes().data(),
                                         divisor.bytes().data(), out.MutableBytes().data(),
                                         static_cast<size_t>(out.element_count()))) {
      return out;
    }
  }
  NoteZeros(operands[1]);
  return Function(KeyOf(operands), operands, false);
}

// Concrete zeros have a sign, which KeyOf tells.
void CodeScalar::NoteZeros(const Value& operand) {
  if (operand.IsNative() || !IsFloat(operand.shape()->type)) return;
  const Value finished = domain_.Finish(operand);
  const auto width = static_cast<size_t>(domain_.code_bytes());
  const std::byte* codes = finished.bytes().data();
  for (size_t i = 0; i < static_cast<size_t>(finished.element_count()); ++i) {
    const std::array<uint64_t, 2> words = domain_.algebra_->Decode(codes + i * width);
    domain_.trace_.signs_of_zero |= words[0] == 0 && words[1] == 0;
  }
}

FunctionKey CodeScalar::KeyOf(const std::vector<Value>& operands) const {
  KeyedHash key(static_cast<uint64_t>(Definition(call_.instruction).scalar));
  key.Add(ClassOf(call_.shape->type));
  for (const Value& v : operands) key.Add(ClassOf(v.shape()->type));
  for (const Value& v : operands) AddNegativeZeros(v, &key);
  return {key.First(), key.Second()};
}

Value CodeScalar::Function(FunctionKey key, const std::vector<Value>& operands, bool commutative) {
  domain_.trace_.functions = true;
  std::vector<Value> finished;
  for (const Value& v : operands) finished.push_back(domain_.Finish(Lifted(v)));
  Value out = domain_.NewCodes(call_.shape);
  const auto width = static_cast<size_t>(domain_.code_bytes());
  const auto count = static_cast<size_t>(out.element_count());
  if (commutative) {
    std::byte* x = finished[0].MutableBytes().data();
    std::byte* y = finished[1].MutableBytes().data();
    for (size_t i = 0; i < count * width; i += width) {
      if (std::memcmp(x + i, y + i, width) > 0) std::swap_ranges(x + i, x + i + width, y + i);
    }
  }
  std::vector<const std::byte*> in;
  for (const Value& v : finished) in.push_back(v.bytes().data());
  domain_.algebra_->Function(key, in, out.MutableBytes().data(), count);
  return out;
}

Result<Value> CodeScalar::Evaluate(std::vector<Value> operands) {
  const ElementType type = operands.back().shape()->type;
  const ScalarFn fn = OnType(Definition(call_.instruction).scalar, type);
  if (IsRingOp(fn)) return Ring(fn, operands);
  if (IsFreeOp(fn)) return Free(fn, operands);
  switch (fn) {
    case ScalarFn::kSelect:
      return Select(std::move(operands));
    case ScalarFn::kClamp:
      return Clamp(operands);
    case ScalarFn::kCompare:
      return Compare(operands);
    case ScalarFn::kConvert:
      return Convert(operands[0]);
    case ScalarFn::kDivide:
      return Divide(operands);
    case ScalarFn::kComplex:
      return Complex(operands);
    case ScalarFn::kReducePrecision:
      domain_.trace_.precision_changed = true;
      return operands[0].WithShape(call_.shape);
    case ScalarFn::kReal:
      if (!IsComplex(type)) return operands[0].WithShape(call_.shape);
      break;
    case ScalarFn::kNot:
      if (IsPred(type) || IsSigned(type)) return Not(operands[0]);
      break;
    case ScalarFn::kAtan2:
    case ScalarFn::kPower:
    case ScalarFn::kRsqrt:
      for (const Value& operand : operands) NoteZeros(operand);
      break;
    case ScalarFn::kBitcastConvert:
      NoteZeros(operands[0]);
      if (!SameDims(*operands[0].shape(), *call_.shape)) {
        return domain_.ByPosition(call_, operands);
      }
      break;
    default:
      break;
  }
  return Function(KeyOf(operands), operands, fn == ScalarFn::kMulhi);
}

}  // namespace hv
