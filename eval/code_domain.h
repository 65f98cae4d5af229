// Domains whose elements are codes standing for values: the fields F_p x F_q, Z/2^64 and gross
// weights. Control stays native; a native operand is lifted where it meets a code. One class
// interprets the kernel kinds, an algebra says what codes are.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "eval/code_algebra.h"
#include "eval/domain.h"

namespace hv {

// What a run did that limits what its codes prove.
struct CodeTrace {
  bool precision_changed =
      false;                     // convert between float types or reduce-precision was an identity
  bool products = false;         // codes were multiplied with codes: no longer linear
  bool functions = false;        // pseudo-random functions of codes
  bool signs_of_zero = false;    // functions that tell -0 from 0 met a zero, whose sign codes lack
  bool free_operations = false;  // max, min, and, or, xor of codes
};

class CodeDomain : public Domain {
 public:
  explicit CodeDomain(std::unique_ptr<CodeAlgebra> algebra);

  // The two words of a leaf's code (below 2^61), by element number; `component` is 0 or 1.
  using LeafFn = std::function<uint64_t(int64_t element, int component)>;
  Value EncodeLeaf(const Shape* shape, const LeafFn& word) const;
  // The words of an element of a code value: numbers below p (F_p), the code (Z/2^64), the weight
  // rounded up and saturated (magnitude; the second word is 0 in the last two).
  std::array<uint64_t, 2> CodeAt(const Value& value, int64_t element) const;

  // Codes of a native array; code arrays as they are. Tuples element by element.
  Value Lift(const Value& value) const;
  // The form in which outputs are compared: codes, free operations closed, integers modulo 2^w.
  Value Finish(const Value& value) const;

  const CodeTrace& trace() const { return trace_; }
  void ResetTrace() { trace_ = {}; }

  std::string_view name() const override { return algebra_->name(); }
  int code_bytes() const override { return algebra_->code_bytes(); }
  Result<Value> Scalar(const KernelCall& call, std::vector<Value> operands) override;
  Result<Value> Reduce(const KernelCall& call, std::vector<Value> operands) override;
  Result<Value> Window(const KernelCall& call, std::vector<Value> operands) override;
  Result<Value> Contract(const KernelCall& call, std::vector<Value> operands) override;
  Result<Value> Gather(const KernelCall& call, std::vector<Value> operands) override;
  Result<Value> Scatter(const KernelCall& call, std::vector<Value> operands) override;
  Result<Value> Opaque(const KernelCall& call, std::vector<Value> operands) override;
  Result<Value> Map(const KernelCall& call, std::vector<Value> operands) override;
  Result<Value> Move(const Shape* shape, const Pieces& pieces,
                     std::vector<Value> operands) override;
  Result<Value> Fold(const Module& module, ComputationIndex reducer, std::vector<Value> values,
                     bool accumulate_wide) override;
  // Opaque leaves known by the constant's name and shape.
  Result<Value> ElidedConstant(const Instruction& constant) override;

 private:
  friend class CodeScalar;
  friend class CodeCombiner;
  Result<Value> ReduceWindow(const KernelCall& call, std::vector<Value> operands);
  // Every output element a function of all operands and its position.
  Value ByPosition(const KernelCall& call, std::span<const Value> operands);
  void LiftAll(std::vector<Value>* values) const;
  Value NewCodes(const Shape* shape) const { return Value::NewCode(shape, code_bytes()); }
  // The start of a fold with `fn`: its identity where `init` is that, else lifted.
  Value LiftInit(ScalarFn fn, const Value& init) const;

  std::unique_ptr<CodeAlgebra> algebra_;
  std::unique_ptr<Domain> native_;
  CodeTrace trace_;
};

// F_p x F_q, p = 2^61 - 1, q = 2^61 - 31: + - x and division by constants exact, pseudo-random
// functions otherwise.
std::unique_ptr<CodeDomain> MakeFieldDomain(uint64_t seed);
// The same without signs: negation is the identity, subtraction adds, constants count by size.
std::unique_ptr<CodeDomain> MakeGrossFieldDomain(uint64_t seed);
// Z/2^64: + - x of integers exact modulo every 2^w.
std::unique_ptr<CodeDomain> MakeWrapDomain(uint64_t seed);
// Gross weights: negation is the identity, subtraction adds, constants count by size.
std::unique_ptr<CodeDomain> MakeMagnitudeDomain();
// Sets of up to 64 leaves, as bits of a leaf's first word: what an element depends on. Concrete values
// are empty sets.
std::unique_ptr<CodeDomain> MakeSetDomain();

// Are all of them native (dense) values?
bool AllNative(std::span<const Value> values);

}  // namespace hv
