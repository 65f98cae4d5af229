#include "verify/arithmetic_facts.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "eval/combiner.h"
#include "verify/element_text.h"

namespace hv {
namespace {

bool IsData(const Value& value) { return !value.IsNative(); }

// Natural numbers only? 0 and 1 only?
struct Factors {
  bool natural = true;
  bool trivial = true;  // 0 and 1
  bool zero = true;     // 0
};

Factors FactorsOf(const Value& value) {
  Factors factors;
  for (int64_t i = 0; i < value.element_count(); ++i) {
    const double number = ElementReal(value, i);
    factors.natural &= number >= 0 && number == std::floor(number) && number <= 0x1p53;
    factors.trivial &= number == 0 || number == 1;
    factors.zero &= number == 0;
  }
  if (IsComplex(value.shape()->type)) factors = {false, false, false};
  return factors;
}

class ProbeDomain : public Domain {
 public:
  ProbeDomain(Domain* inner, ArithmeticFacts* facts) : inner_(*inner), facts_(*facts) {}

  std::string_view name() const override { return inner_.name(); }
  bool IsNative() const override { return inner_.IsNative(); }
  int code_bytes() const override { return inner_.code_bytes(); }
  Result<Value> Constant(const Literal& literal) override { return inner_.Constant(literal); }
  std::optional<Value> Concrete(const Value& value) const override {
    return inner_.Concrete(value);
  }
  Result<Value> Move(const Shape* shape, const Pieces& pieces,
                     std::vector<Value> operands) override {
    return inner_.Move(shape, pieces, std::move(operands));
  }
  Result<Value> Gather(const KernelCall& call, std::vector<Value> operands) override {
    if (IsData(operands[1])) Other(call);
    return inner_.Gather(call, std::move(operands));
  }

  Result<Value> Scalar(const KernelCall& call, std::vector<Value> operands) override {
    if (HasData(operands)) NoteScalar(call, operands);
    return inner_.Scalar(call, std::move(operands));
  }
  Result<Value> Reduce(const KernelCall& call, std::vector<Value> operands) override {
    if (HasData(operands)) {
      if (operands.size() != 2) {
        Other(call);
      } else {
        NoteReducer(call.module, call.instruction.Computation(Attr::kToApply), operands[0]);
        NoteSummand(operands[1]);
      }
    }
    return inner_.Reduce(call, std::move(operands));
  }
  Result<Value> Fold(const Module& module, ComputationIndex reducer, std::vector<Value> values,
                     bool accumulate_wide) override {
    if (HasData(values)) {
      NoteReducer(module, reducer, values[0]);
      for (const Value& value : values) NoteSummand(value);
      facts_.converts |= accumulate_wide;
    }
    return inner_.Fold(module, reducer, std::move(values), accumulate_wide);
  }
  Result<Value> Contract(const KernelCall& call, std::vector<Value> operands) override {
    if (HasData(operands)) NoteContract(call, operands);
    return inner_.Contract(call, std::move(operands));
  }
  Result<Value> Scatter(const KernelCall& call, std::vector<Value> operands) override {
    if (HasData(operands)) NoteScatter(call, operands);
    return inner_.Scatter(call, std::move(operands));
  }
  Result<Value> Window(const KernelCall& call, std::vector<Value> operands) override {
    if (HasData(operands)) Other(call);
    return inner_.Window(call, std::move(operands));
  }
  Result<Value> Opaque(const KernelCall& call, std::vector<Value> operands) override {
    if (HasData(operands)) Other(call);
    return inner_.Opaque(call, std::move(operands));
  }
  Result<Value> Map(const KernelCall& call, std::vector<Value> operands) override {
    if (HasData(operands)) Other(call);
    return inner_.Map(call, std::move(operands));
  }

 private:
  static bool HasData(const std::vector<Value>& operands) {
    return std::any_of(operands.begin(), operands.end(), IsData);
  }

  void Other(const KernelCall& call) {
    facts_.other.emplace(ToString(call.instruction.opcode));
  }
  void Type(ElementType type) { facts_.types.insert(type); }

  void NoteSum(ElementType type) {
    facts_.adds = true;
    facts_.sum_types.insert(type);
    Type(type);
  }
  // A concrete summand other than 0 makes the program affine.
  void NoteSummand(const Value& value) {
    if (IsData(value)) return;
    const Factors factors = FactorsOf(value);
    facts_.constants |= !factors.zero;
    facts_.signed_weights |= !factors.natural;
  }
  void NoteFactor(const Value& value) {
    const Factors factors = FactorsOf(value);
    facts_.scales |= !factors.trivial;
    facts_.signed_weights |= !factors.natural;
  }

  void NoteScalar(const KernelCall& call, const std::vector<Value>& operands) {
    const ElementType type = operands.back().shape()->type;
    Type(type);
    if (IsPred(type)) return NotePred(call);
    switch (Definition(call.instruction).scalar) {
      case ScalarFn::kAdd:
        NoteSum(type);
        for (const Value& operand : operands) NoteSummand(operand);
        return;
      case ScalarFn::kSubtract:
      case ScalarFn::kNegate:
        NoteSum(type);
        facts_.signed_weights = true;
        for (const Value& operand : operands) NoteSummand(operand);
        return;
      case ScalarFn::kMultiply: return NoteMultiply(call, operands);
      case ScalarFn::kDivide:
        if (IsData(operands[1]) || IsInteger(type)) return Other(call);
        facts_.scales = facts_.signed_weights = true;
        return;
      case ScalarFn::kConvert: return NoteConvert(call, operands[0].shape()->type);
      case ScalarFn::kReducePrecision: facts_.converts = true; return;
      case ScalarFn::kSelect:
        if (IsData(operands[0])) Other(call);
        return;
      case ScalarFn::kMaximum:
      case ScalarFn::kMinimum:
      case ScalarFn::kAnd:
      case ScalarFn::kOr: NoteLattice(call, operands); return;
      case ScalarFn::kXor: facts_.parity = true; return;
      default: return Other(call);
    }
  }

  // On truth values add is or, multiply is and.
  void NotePred(const KernelCall& call) {
    switch (Definition(call.instruction).scalar) {
      case ScalarFn::kAdd:
      case ScalarFn::kOr: facts_.lattice.insert("or"); return;
      case ScalarFn::kMultiply:
      case ScalarFn::kAnd: facts_.lattice.insert("and"); return;
      case ScalarFn::kXor: facts_.parity = true; return;
      default: return Other(call);
    }
  }

  // With a concrete operand (a threshold, a mask) it is no longer a function of a set of leaves.
  void NoteLattice(const KernelCall& call, const std::vector<Value>& operands) {
    facts_.lattice.emplace(ToString(call.instruction.opcode));
    if (!IsData(operands[0]) || !IsData(operands[1])) Other(call);
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

  void NoteContract(const KernelCall& call, const std::vector<Value>& operands) {
    const ElementType type = operands[0].shape()->type;
    if (operands.size() != 2 || (IsData(operands[0]) && IsData(operands[1])) || IsPred(type)) {
      return Other(call);
    }
    NoteSum(call.shape->type);
    facts_.converts |= type != call.shape->type;
    NoteFactor(IsData(operands[0]) ? operands[1] : operands[0]);
  }

  void NoteScatter(const KernelCall& call, const std::vector<Value>& operands) {
    if (operands.size() != 3 || IsData(operands[1])) return Other(call);
    const ComputationIndex reducer = call.instruction.Computation(Attr::kToApply);
    if (ReturnsParameter(call.module, reducer, 1)) return;
    NoteReducer(call.module, reducer, operands[0]);
    NoteSummand(operands[0]);
    NoteSummand(operands[2]);
  }

  void NoteReducer(const Module& module, ComputationIndex computation, const Value& value) {
    const Reducer reducer = RecognizeReducer(module, computation);
    const ElementType type = value.shape()->type;
    Type(type);
    const bool pred = IsPred(type);
    facts_.converts |= reducer.fn != ScalarFn::kNone && reducer.element != type;
    switch (reducer.fn) {
      case ScalarFn::kAdd:
        if (!pred) return NoteSum(reducer.element);
        facts_.lattice.insert("or");
        return;
      case ScalarFn::kMaximum: facts_.lattice.insert("maximum"); return;
      case ScalarFn::kMinimum: facts_.lattice.insert("minimum"); return;
      case ScalarFn::kAnd: facts_.lattice.insert("and"); return;
      case ScalarFn::kOr: facts_.lattice.insert("or"); return;
      case ScalarFn::kXor: facts_.parity = true; return;
      case ScalarFn::kMultiply:
        if (pred) {
          facts_.lattice.insert("and");
        } else {
          facts_.other.insert("multiply");
        }
        return;
      default: facts_.other.insert("reducer " + std::string(module.At(computation).name));
    }
  }

  Domain& inner_;
  ArithmeticFacts& facts_;
};

}  // namespace

void ArithmeticFacts::Merge(const ArithmeticFacts& more) {
  adds |= more.adds;
  signed_weights |= more.signed_weights;
  scales |= more.scales;
  constants |= more.constants;
  converts |= more.converts;
  parity |= more.parity;
  lattice.insert(more.lattice.begin(), more.lattice.end());
  other.insert(more.other.begin(), more.other.end());
  types.insert(more.types.begin(), more.types.end());
  sum_types.insert(more.sum_types.begin(), more.sum_types.end());
}

std::unique_ptr<Domain> MakeProbeDomain(Domain* inner, ArithmeticFacts* facts) {
  return std::make_unique<ProbeDomain>(inner, facts);
}

}  // namespace hv
