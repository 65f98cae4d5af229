// Float arithmetic encloses, whatever its operands come from; integers and truth values are native
// until they depend on a float that is not certain. What this domain does not know has unknown
// results, so that the rest of a program still tells.
#include "eval/interval_domain.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "eval/code_algebra.h"
#include "eval/combiner.h"
#include "eval/convolution.h"
#include "eval/dot.h"
#include "eval/elementwise_call.h"
#include "eval/gather_scatter.h"
#include "eval/interval_scalar.h"
#include "eval/interval_sums.h"
#include "eval/move.h"
#include "eval/native_kernels.h"
#include "eval/reduce.h"
#include "eval/window.h"

namespace hv {
namespace {

bool IsRounded(const Shape& shape) {
  return IsFloat(shape.type) || IsComplex(shape.type) ||
         std::any_of(shape.elements.begin(), shape.elements.end(),
                     [](const Shape* element) { return IsRounded(*element); });
}

bool IsCertain(const Value& value) {
  if (value.shape()->IsTuple()) {
    const auto elements = value.elements();
    return std::all_of(elements.begin(), elements.end(), IsCertain);
  }
  return value.IsNative() || value.shape()->IsToken();
}

bool AreCertain(std::span<const Value> values) {
  return std::all_of(values.begin(), values.end(), IsCertain);
}

// Native operands and nothing that rounds: the native result is the only one.
bool IsExact(const Shape& result, std::span<const Value> operands) {
  return AreCertain(operands) && !IsRounded(result) &&
         std::none_of(operands.begin(), operands.end(),
                      [](const Value& v) { return IsRounded(*v.shape()); });
}

// Bits of a zero are not known: intervals have no sign of zero.
bool HasZero(const Value& value) {
  if (!IsFloat(value.shape()->type)) return false;
  const Value intervals = LiftToCodes(value);
  const auto all = intervals.As<Interval>();
  return std::any_of(all.begin(), all.end(), [](const Interval& x) { return x.low == 0; });
}

// Native values in place of intervals that are single points; nothing if any is not.
std::optional<std::vector<Value>> AsPoints(const std::vector<Value>& values) {
  std::vector<Value> points;
  for (const Value& value : values) {
    points.push_back(NativeIfCertain(value));
    if (!IsCertain(points.back())) return std::nullopt;
  }
  return points;
}

Value Lifted(const Value& value) {
  if (!value.shape()->IsTuple()) return LiftToIntervals(value);
  std::vector<Value> elements;
  for (const Value& element : value.elements()) elements.push_back(Lifted(element));
  return Value::Tuple(value.shape(), std::move(elements));
}

// Functions of real numbers that no implementation rounds.
bool IsExactFunction(ScalarFn fn) {
  return fn == ScalarFn::kReal || fn == ScalarFn::kImag || fn == ScalarFn::kComplex ||
         fn == ScalarFn::kBitcastConvert;
}

// Is each result of `to` the number that the operand of `from` is?
bool Widens(ElementType from, ElementType to) {
  return from == to || (IsFloat(from) && IsFloat(to) && BitWidth(to) >= 32 &&
                        BitWidth(to) > BitWidth(from));
}

// Does a computation compare, pick and move numbers without rounding any?
bool RoundsNothing(const Module& module, ComputationIndex index) {
  const Computation& computation = module.At(index);
  const auto is_exact = [&](const Instruction& instruction) {
    switch (instruction.opcode) {
      case Opcode::kCall:
      case Opcode::kMap:
        return RoundsNothing(module, instruction.Computation(Attr::kToApply));
      case Opcode::kFusion:
        return RoundsNothing(module, instruction.Computation(Attr::kCalls));
      default:
        break;
    }
    const OpDef& definition = Definition(instruction);
    if (definition.kernel != KernelKind::kScalar) return definition.exactness == Exactness::kExact;
    const ElementType type = instruction.shape->type;
    bool real = IsFloat(type), complex = IsComplex(type);
    for (const InstructionIndex o : instruction.operands) {
      const ElementType operand = computation.At(o).shape->type;
      real |= IsFloat(operand);
      complex |= IsComplex(operand);
    }
    const ScalarFn fn = definition.scalar;
    if (!real && !complex) return true;
    if (fn == ScalarFn::kSelect || fn == ScalarFn::kCompare || IsExactFunction(fn)) return true;
    if (complex || fn == ScalarFn::kReducePrecision) return false;
    if (fn == ScalarFn::kConvert && IsFloat(type)) {
      return Widens(computation.At(instruction.operands[0]).shape->type, type);
    }
    return definition.exactness == Exactness::kExact;
  };
  return std::all_of(computation.instructions.begin(), computation.instructions.end(), is_exact);
}

// The intervals that reach over both.
Value Hull(const Value& a, const Value& b) {
  Value hull = NewLike(a, a.shape());
  const auto x = a.As<Interval>(), y = b.As<Interval>();
  const auto out = hull.MutableAs<Interval>();
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = {std::min(x[i].low, y[i].low), std::max(x[i].high, y[i].high)};
  }
  return hull;
}

class IntervalDomain : public Domain {
 public:
  std::string_view name() const override { return "intervals"; }
  int code_bytes() const override { return sizeof(Interval); }

  Result<Value> Scalar(const KernelCall& call, std::vector<Value> operands) override {
    if (IsExact(*call.shape, operands)) return native_->Scalar(call, std::move(operands));
    const ScalarFn fn = Definition(call.instruction).scalar;
    if (fn == ScalarFn::kBitcastConvert && HasZero(operands[0])) return Unknown(call);
    if (IsExactFunction(fn)) {
      return OnPoints(call, operands, [&](std::vector<Value> points) {
        return native_->Scalar(call, std::move(points));
      });
    }
    if (fn == ScalarFn::kReducePrecision) return ReducePrecision(call, operands);
    const bool complex = std::any_of(operands.begin(), operands.end(),
                                     [](const Value& v) { return IsComplex(v.shape()->type); });
    if (complex || IsComplex(call.shape->type)) return Unknown(call);
    return IntervalScalar(call, operands);
  }

  Result<Value> Reduce(const KernelCall& call, std::vector<Value> operands) override {
    if (IsExact(*call.shape, operands)) return native_->Reduce(call, std::move(operands));
    const ScalarFn fn = FoldOf(call, operands);
    if (fn == ScalarFn::kNone) {
      return OnPointsUnlessRounding(call, Attr::kToApply, operands, [&](std::vector<Value> points) {
        return native_->Reduce(call, std::move(points));
      });
    }
    const ReduceGeometry geometry =
        GeometryOfReduce(*operands[0].shape(), call.instruction.Ints(Attr::kDimensions));
    return ReduceIntervals(geometry, call.shape, fn, operands[0], operands[1]);
  }

  Result<Value> Fold(const Module& module, ComputationIndex reducer, std::vector<Value> values,
                     bool accumulate_wide) override {
    const Shape* shape = values[0].shape();
    if (IsExact(*shape, values)) {
      return native_->Fold(module, reducer, std::move(values), accumulate_wide);
    }
    const Reducer known = RecognizeReducer(module, reducer);
    if (!CanFold(known, *shape)) return UnknownOf(shape);
    return FoldIntervals(known.fn, std::move(values));
  }

  Result<Value> Contract(const KernelCall& call, std::vector<Value> operands) override {
    if (IsExact(*call.shape, operands)) return native_->Contract(call, std::move(operands));
    if (call.instruction.opcode != Opcode::kDot || operands.size() != 2 ||
        !IsFloat(call.shape->type)) {
      return Unknown(call);
    }
    return ContractIntervals(call, operands);
  }

  Result<Value> Gather(const KernelCall& call, std::vector<Value> operands) override {
    const std::optional<Value> indices = Concrete(operands[1]);
    if (!indices) return Unknown(call);
    const IndexPlan plan =
        PlanGather(call.instruction, *operands[0].shape(), *indices->shape(), *call.shape);
    return GatherWith(plan, operands[0], *indices, call.shape);
  }
  Result<Value> Map(const KernelCall& call, std::vector<Value> operands) override {
    if (IsExact(*call.shape, operands)) return native_->Map(call, std::move(operands));
    const ComputationIndex index = call.instruction.Computation(Attr::kToApply);
    const Computation& body = call.module.At(index);
    bool converts = body.Root().shape->type != call.shape->type;
    for (size_t k = 0; k < operands.size(); ++k) {
      converts |= operands[k].shape()->type != body.At(body.parameters[k]).shape->type;
    }
    if (converts) return Unknown(call);
    const Shape& shape = *operands[0].shape();
    HV_ASSIGN(std::vector<Value> results, CallElementwise(*this, call.module, index, shape.dims,
                                                          std::move(operands)));
    return PackResults(call, std::move(results));
  }
  Result<Value> Move(const Shape* shape, const Pieces& pieces,
                     std::vector<Value> operands) override {
    if (AreCertain(operands)) return MovePieces(shape, pieces, std::move(operands));
    for (Value& operand : operands) operand = LiftToCodes(operand);
    return MovePieces(shape, pieces, std::move(operands));
  }
  Result<Value> DataDependentView(const KernelCall& call, std::vector<Value>) override {
    return Unknown(call);
  }

  Result<Value> Scatter(const KernelCall& call, std::vector<Value> operands) override {
    if (IsExact(*call.shape, operands)) return native_->Scatter(call, std::move(operands));
    const ComputationIndex combiner = call.instruction.Computation(Attr::kToApply);
    const Reducer known = RecognizeReducer(call.module, combiner);
    if (operands.size() == 3 && CanFold(known, *call.shape)) {
      const std::optional<Value> indices = Concrete(operands[1]);
      if (!indices) return Unknown(call);
      const IndexPlan plan = PlanScatter(call.instruction, *operands[0].shape(), *indices->shape(),
                                         *operands[2].shape());
      return ScatterIntervals(plan, *indices, call.shape, known.fn, operands[0], operands[2]);
    }
    return OnPointsUnlessRounding(call, Attr::kToApply, operands, [&](std::vector<Value> points) {
      return native_->Scatter(call, std::move(points));
    });
  }
  Result<Value> Window(const KernelCall& call, std::vector<Value> operands) override {
    if (IsExact(*call.shape, operands)) return native_->Window(call, std::move(operands));
    const auto natively = [&](std::vector<Value> points) {
      return native_->Window(call, std::move(points));
    };
    switch (call.instruction.opcode) {
      case Opcode::kReduceWindow: {
        const ScalarFn fn = FoldOf(call, operands);
        if (fn == ScalarFn::kNone) {
          return OnPointsUnlessRounding(call, Attr::kToApply, operands, natively);
        }
        const std::vector<WindowDim> window = WindowOf(
            call.instruction.List<WindowDim>(Attr::kWindow), operands[0].shape()->dims.size());
        return ReduceWindowIntervals(window, call.shape, fn, operands[0], operands[1]);
      }
      case Opcode::kConvolution:
        if (!IsForward(call.instruction) || !IsFloat(call.shape->type)) return Unknown(call);
        return ConvolveIntervals(call, operands);
      default:  // select-and-scatter
        return SelectAndScatter(call, operands, natively);
    }
  }
  // Sorting moves; other algorithms round in ways of their own.
  Result<Value> Opaque(const KernelCall& call, std::vector<Value> operands) override {
    const Opcode opcode = call.instruction.opcode;
    if (IsAnnotation(call.instruction) || IsExact(*call.shape, operands)) {
      return native_->Opaque(call, std::move(operands));
    }
    const auto natively = [&](std::vector<Value> points) {
      return native_->Opaque(call, std::move(points));
    };
    if (opcode == Opcode::kTopk) return OnPoints(call, operands, natively);
    if (opcode != Opcode::kSort) return Unknown(call);
    return OnPointsUnlessRounding(call, Attr::kToApply, operands, natively);
  }

 private:
  static bool CanFold(const Reducer& reducer, const Shape& shape) {
    const ScalarFn fn = reducer.fn;
    return IsFloat(shape.type) && Widens(shape.type, reducer.element) &&
           (fn == ScalarFn::kAdd || fn == ScalarFn::kMultiply || fn == ScalarFn::kMaximum ||
            fn == ScalarFn::kMinimum);
  }
  // The function by which one operand is reduced; kNone if there is no enclosure.
  static ScalarFn FoldOf(const KernelCall& call, std::span<const Value> operands) {
    const Reducer reducer =
        RecognizeReducer(call.module, call.instruction.Computation(Attr::kToApply));
    const bool one = operands.size() == 2 && Widens(operands[0].shape()->type, reducer.element);
    return one && CanFold(reducer, *call.shape) ? reducer.fn : ScalarFn::kNone;
  }

  template <class F>
  static Result<Value> OnPoints(const KernelCall& call, const std::vector<Value>& operands,
                                const F& evaluate) {
    auto points = AsPoints(operands);
    if (!points) return Unknown(call);
    HV_ASSIGN(const Value value, evaluate(std::move(*points)));
    return Lifted(value);
  }

  // The same if the computation that is applied to the elements cannot tell implementations apart.
  template <class F>
  static Result<Value> OnPointsUnlessRounding(const KernelCall& call, Attr applied,
                                              const std::vector<Value>& operands,
                                              const F& evaluate) {
    const bool rounds = !RoundsNothing(call.module, call.instruction.Computation(applied));
    return rounds ? Unknown(call) : OnPoints(call, operands, evaluate);
  }

  // Which elements are kept is certain; they are added up where no sum rounds.
  template <class F>
  static Result<Value> SelectAndScatter(const KernelCall& call, const std::vector<Value>& operands,
                                        const F& evaluate) {
    const Reducer scatter =
        RecognizeReducer(call.module, call.instruction.Computation(Attr::kScatter));
    const bool whole = CanFold(scatter, *call.shape) && scatter.fn == ScalarFn::kAdd &&
                       operands[1].shape()->type == call.shape->type &&
                       SumsStayWhole(operands[2], operands[1]);
    if (!whole) return Unknown(call);
    return OnPointsUnlessRounding(call, Attr::kSelect, operands, evaluate);
  }

  // It rounds like a conversion: the number it stands for lies between operand and result.
  Result<Value> ReducePrecision(const KernelCall& call, const std::vector<Value>& operands) {
    const auto points = AsPoints(operands);
    if (!points) return Unknown(call);
    HV_ASSIGN(const Value rounded, native_->Scalar(call, *points));
    return Hull(Lifted((*points)[0]), Lifted(rounded));
  }

  static Value UnknownOf(const Shape* shape) {
    if (shape->IsToken()) return Value::Token(shape);
    Value value = Value::NewCode(shape, sizeof(Interval));
    const auto all = value.MutableAs<Interval>();
    std::fill(all.begin(), all.end(), RangeOf(shape->type));
    return value;
  }
  static Value Unknown(const KernelCall& call) {
    std::vector<Value> results;
    for (const Shape* shape : ResultShapes(call)) results.push_back(UnknownOf(shape));
    return PackResults(call, std::move(results));
  }

  std::unique_ptr<Domain> native_ = MakeNativeDomain();
};

}  // namespace

std::unique_ptr<Domain> MakeIntervalDomain() { return std::make_unique<IntervalDomain>(); }

Interval IntervalAt(const Value& value, int64_t element) {
  if (!value.IsNative()) return value.As<Interval>()[static_cast<size_t>(element)];
  return PointOf(value, element);
}

Value LiftToIntervals(const Value& native) {
  return native.IsNative() && IsFloat(native.shape()->type) ? LiftToCodes(native) : native;
}

}  // namespace hv
