#include "verify/probe_domain.h"

#include <algorithm>
#include <utility>

#include "eval/code_scalar.h"
#include "eval/combiner.h"
#include "eval/convert.h"
#include "eval/elementwise_call.h"
#include "eval/native_kernels.h"
#include "verify/forwarding_domain.h"

namespace hv {
namespace {

bool IsData(const Value& value) { return !value.IsNative(); }

std::string_view NameOf(ScalarFn lattice) {
  switch (lattice) {
    case ScalarFn::kMaximum:
      return "maximum";
    case ScalarFn::kMinimum:
      return "minimum";
    case ScalarFn::kAnd:
      return "and";
    default:
      return "or";
  }
}

class ProbeDomain : public ForwardingDomain {
 public:
  ProbeDomain(Domain* inner, ArithmeticFacts* facts)
      : ForwardingDomain(inner), facts_(*facts), magnitude_(inner->name() == "magnitude") {}

  Result<Value> ElidedConstant(const Instruction& constant) override {
    facts_.elided = true;
    return ForwardingDomain::ElidedConstant(constant);
  }
  Result<Value> Move(const Shape* shape, const Pieces& pieces,
                     std::vector<Value> operands) override {
    if (HasData(operands)) {
      for (const Value& operand : operands) NoteMoved(operand, &facts_);
      facts_.among_data |= std::any_of(pieces.begin(), pieces.end(), [](const Piece& piece) {
        return piece.operand == Piece::kZeros;
      });
    }
    return ForwardingDomain::Move(shape, pieces, std::move(operands));
  }
  Result<Value> Gather(const KernelCall& call, std::vector<Value> operands) override {
    if (IsData(operands[1])) Other(call);
    return ForwardingDomain::Gather(call, std::move(operands));
  }
  Result<Value> Scalar(const KernelCall& call, std::vector<Value> operands) override {
    HasData(operands) ? NoteScalar(call, operands) : NoteConcrete(*call.shape);
    return ForwardingDomain::Scalar(call, std::move(operands));
  }
  Result<Value> Reduce(const KernelCall& call, std::vector<Value> operands) override {
    HasData(operands) ? NoteReduce(call, operands) : NoteConcrete(*call.shape);
    return ForwardingDomain::Reduce(call, std::move(operands));
  }
  Result<Value> Fold(const Module& module, ComputationIndex reducer, std::vector<Value> values,
                     bool accumulate_wide) override {
    if (HasData(values)) {
      const ScalarFn fn = NoteReducer(module, reducer, values[0]);
      for (const Value& value : values) NoteTerm(fn, value);
      facts_.converts |= accumulate_wide;
    } else {
      NoteConcrete(*values[0].shape());
    }
    return ForwardingDomain::Fold(module, reducer, std::move(values), accumulate_wide);
  }
  Result<Value> Contract(const KernelCall& call, std::vector<Value> operands) override {
    HasData(operands) ? NoteContract(call, operands) : NoteConcrete(*call.shape);
    return ForwardingDomain::Contract(call, std::move(operands));
  }
  Result<Value> Scatter(const KernelCall& call, std::vector<Value> operands) override {
    HasData(operands) ? NoteScatter(call, operands) : NoteConcrete(*call.shape);
    return ForwardingDomain::Scatter(call, std::move(operands));
  }
  Result<Value> Window(const KernelCall& call, std::vector<Value> operands) override {
    HasData(operands) ? NoteWindow(call, operands) : NoteConcrete(*call.shape);
    return ForwardingDomain::Window(call, std::move(operands));
  }
  Result<Value> Opaque(const KernelCall& call, std::vector<Value> operands) override {
    HasData(operands) ? NoteUnknown(call, operands) : NoteConcrete(*call.shape);
    return ForwardingDomain::Opaque(call, std::move(operands));
  }
  Result<Value> Map(const KernelCall& call, std::vector<Value> operands) override {
    if (!HasData(operands)) {
      NoteConcrete(*call.shape);
      return ForwardingDomain::Map(call, std::move(operands));
    }
    const ComputationIndex body = call.instruction.Computation(Attr::kToApply);
    const std::vector<ElementType> types = ParameterTypes(call.module, body, operands.size());
    for (size_t k = 0; k < operands.size(); ++k) {
      facts_.converts |= operands[k].shape()->type != types[k];
    }
    const Shape& array = *operands[0].shape();
    HV_ASSIGN(std::vector<Value> results,
              CallElementwise(*this, call.module, body, array.dims, std::move(operands)));
    for (size_t k = 0; k < results.size(); ++k) {
      const Shape* const shape = ResultShapes(call)[k];
      if (!IsData(results[k])) {
        HV_ASSIGN(results[k], ConvertValue(call.module, results[k], shape->type));
      }
      results[k] = results[k].WithShape(shape);
    }
    return PackResults(call, std::move(results));
  }

 private:
  // Counts a result, and in a magnitude run keeps the largest weight that occurs anywhere.
  Result<Value> Seen(Result<Value> result) override {
    if (!result) return result;
    for (const Value& leaf : Leaves(*result)) {
      facts_.elements += leaf.element_count();
      if (!IsData(leaf)) continue;
      NoteHeld(leaf.shape()->type, &facts_);
      if (!magnitude_) continue;
      for (double weight : leaf.As<double>()) facts_.largest = std::max(facts_.largest, weight);
    }
    return result;
  }

  static bool HasData(const std::vector<Value>& operands) {
    return std::any_of(operands.begin(), operands.end(), IsData);
  }

  void Other(const KernelCall& call) { facts_.other.emplace(ToString(call.instruction.opcode)); }
  // A function that may compute whatever it likes, in the types that it takes and gives.
  void NoteUnknown(const KernelCall& call, const std::vector<Value>& operands) {
    Other(call);
    for (const Value& operand : operands) NoteTypes(*operand.shape());
    NoteTypes(*call.shape);
  }
  void NoteTypes(const Shape& shape) {
    if (shape.IsArray()) Type(shape.type);
    for (const Shape* element : shape.elements) NoteTypes(*element);
  }
  void Type(ElementType type) { facts_.types.insert(type); }

  void NoteSum(ElementType type) {
    facts_.adds = true;
    facts_.sum_types.insert(type);
    Type(type);
  }
  void NoteConcrete(const Shape& shape) {
    facts_.concrete_floats |= IsFloat(shape.type) || IsComplex(shape.type) || shape.IsTuple();
  }

  // A concrete summand other than 0 makes the program affine.
  void NoteSummand(const Value& value) {
    if (IsData(value)) return;
    const Numbers numbers = NumbersOf(value);
    facts_.constants |= !numbers.zeros;
    facts_.negative |= numbers.negative;
    facts_.fractions |= !numbers.integers;
  }
  void NoteFactor(const Value& value) {
    const Numbers numbers = NumbersOf(value);
    facts_.scales |= !numbers.units;
    facts_.negative |= numbers.negative;
    facts_.fractions |= !numbers.integers;
  }

  void NoteScalar(const KernelCall& call, const std::vector<Value>& operands) {
    const ElementType type = operands.back().shape()->type;
    const ScalarFn fn = OnType(Definition(call.instruction).scalar, type);
    if (fn != ScalarFn::kSelect) Type(type);
    switch (fn) {
      case ScalarFn::kAdd:
        NoteSum(type);
        for (const Value& operand : operands) NoteSummand(operand);
        return;
      case ScalarFn::kSubtract:
      case ScalarFn::kNegate:
        NoteSum(type);
        facts_.negative = true;
        for (const Value& operand : operands) NoteSummand(operand);
        return;
      case ScalarFn::kMultiply:
        return NoteMultiply(call, operands);
      case ScalarFn::kDivide:
        if (IsData(operands[1]) || IsInteger(type)) return Other(call);
        facts_.scales = facts_.negative = facts_.fractions = true;
        return;
      case ScalarFn::kConvert:
        return NoteConvert(call, operands[0].shape()->type);
      case ScalarFn::kReducePrecision:
        facts_.converts = true;
        facts_.roundings.insert({call.instruction.Int(Attr::kExponentBits, 0),
                                 call.instruction.Int(Attr::kMantissaBits, 0)});
        return;
      case ScalarFn::kSelect:
        if (IsData(operands[0])) Other(call);
        NoteMoved(operands[1], &facts_);
        NoteMoved(operands[2], &facts_);
        return;
      case ScalarFn::kMaximum:
      case ScalarFn::kMinimum:
      case ScalarFn::kAnd:
      case ScalarFn::kOr:
        facts_.lattice.emplace(NameOf(fn));
        // With a concrete operand (a threshold, a mask) it is no function of a set of leaves.
        if (!IsData(operands[0]) || !IsData(operands[1])) Other(call);
        return;
      case ScalarFn::kXor:
        facts_.parity = true;
        return;
      default:
        return Other(call);
    }
  }

  void NoteReduce(const KernelCall& call, const std::vector<Value>& operands) {
    if (operands.size() != 2) return NoteUnknown(call, operands);
    const ScalarFn fn =
        NoteReducer(call.module, call.instruction.Computation(Attr::kToApply), operands[0]);
    const Value& init = operands[1];
    const bool identity = init.IsNative() && IsFreeOp(fn) &&
                          IsIdentityOf(fn, init.shape()->type, init.bytes().data(), 0);
    if (!identity) NoteTerm(fn, init);
  }
  // A term of a sum, or one of the operands of a lattice operation.
  void NoteTerm(ScalarFn fn, const Value& value) {
    IsFreeOp(fn) ? NoteMoved(value, &facts_) : NoteSummand(value);
  }

  void NoteMultiply(const KernelCall& call, const std::vector<Value>& operands) {
    if (IsData(operands[0]) && IsData(operands[1])) return Other(call);
    NoteFactor(IsData(operands[0]) ? operands[1] : operands[0]);
  }

  void NoteConvert(const KernelCall& call, ElementType from) {
    const ElementType to = call.shape->type;
    Type(to);
    if (from == to) return;
    if (!IsFloat(from) || !IsFloat(to)) return Other(call);
    facts_.converts = true;
  }

  // Windows are terms like those of a reduce, or of a dot.
  void NoteWindow(const KernelCall& call, const std::vector<Value>& operands) {
    switch (call.instruction.opcode) {
      case Opcode::kReduceWindow:
        return NoteReduce(call, operands);
      case Opcode::kConvolution:
        if (IsInteger(call.shape->type)) Other(call);  // saturates
        return NoteContract(call, operands);
      default:
        return NoteUnknown(call, operands);
    }
  }

  void NoteContract(const KernelCall& call, const std::vector<Value>& operands) {
    const ElementType type = operands[0].shape()->type;
    if (operands.size() != 2 || IsPred(type)) return NoteUnknown(call, operands);
    NoteSum(call.shape->type);
    Type(type);
    facts_.converts |= type != call.shape->type || call.instruction.Has(Attr::kAlgorithm) ||
                       call.instruction.Has(Attr::kOperandPrecision);
    if (IsData(operands[0]) && IsData(operands[1])) return Other(call);
    NoteFactor(IsData(operands[0]) ? operands[1] : operands[0]);
  }

  void NoteScatter(const KernelCall& call, const std::vector<Value>& operands) {
    if (operands.size() != 3 || IsData(operands[1])) return NoteUnknown(call, operands);
    const ComputationIndex reducer = call.instruction.Computation(Attr::kToApply);
    NoteMoved(operands[0], &facts_);
    NoteMoved(operands[2], &facts_);
    if (ReturnsParameter(call.module, reducer, 1)) return;
    NoteReducer(call.module, reducer, operands[0]);
    NoteSummand(operands[0]);
    NoteSummand(operands[2]);
  }

  ScalarFn NoteReducer(const Module& module, ComputationIndex computation, const Value& value) {
    const Reducer reducer = RecognizeReducer(module, computation);
    const ElementType type = value.shape()->type;
    Type(type);
    facts_.converts |= reducer.fn != ScalarFn::kNone && reducer.element != type;
    const ScalarFn fn = OnType(reducer.fn, type);
    switch (fn) {
      case ScalarFn::kAdd:
        NoteSum(reducer.element);
        break;
      case ScalarFn::kMaximum:
      case ScalarFn::kMinimum:
      case ScalarFn::kAnd:
      case ScalarFn::kOr:
        facts_.lattice.emplace(NameOf(fn));
        break;
      case ScalarFn::kXor:
        facts_.parity = true;
        break;
      default:
        facts_.other.insert("reducer " + std::string(module.At(computation).name));
    }
    return fn;
  }

  ArithmeticFacts& facts_;
  bool magnitude_;
};

}  // namespace

std::unique_ptr<Domain> MakeProbeDomain(Domain* inner, ArithmeticFacts* facts) {
  return std::make_unique<ProbeDomain>(inner, facts);
}

}  // namespace hv
