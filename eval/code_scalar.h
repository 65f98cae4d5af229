// Elementwise ops on codes: exact where the algebra has them, canonical pseudo-random functions
// elsewhere.
#pragma once

#include <vector>

#include "eval/code_domain.h"

namespace hv {

// The function `fn` is on values of `type`: on preds add and maximum are or, multiply and minimum
// and.
ScalarFn OnType(ScalarFn fn, ElementType type);
bool IsRingOp(ScalarFn fn);
bool IsFreeOp(ScalarFn fn);
// Is the native element the identity of the free operation (-inf under maximum, ...)?
bool IsIdentityOf(ScalarFn fn, ElementType type, const std::byte* elements, size_t index);

// One instruction whose operands are not all native; at least one code among them.
class CodeScalar {
 public:
  CodeScalar(CodeDomain& domain, const KernelCall& call) : domain_(domain), call_(call) {}
  Result<Value> Evaluate(std::vector<Value> operands);

 private:
  Value Ring(ScalarFn fn, const std::vector<Value>& operands);
  Value Free(ScalarFn fn, const std::vector<Value>& operands);
  Value Select(std::vector<Value> operands);
  Value Clamp(const std::vector<Value>& operands);
  Value Not(const Value& operand);
  Value Compare(const std::vector<Value>& operands);
  Value Complex(const std::vector<Value>& operands);
  Value Convert(const Value& operand);
  Result<Value> Divide(const std::vector<Value>& operands);
  void NoteZeros(const Value& operand);
  Value Function(FunctionKey key, const std::vector<Value>& operands, bool commutative);
  FunctionKey KeyOf(const std::vector<Value>& operands) const;

  Value OnShape(const Value& value) const;  // scalars spread over the result's dimensions
  Value Lifted(const Value& value) const;
  Value LiftedFor(ScalarFn free_op, const Value& value) const;
  Value Number(double number) const;  // a code array of the result's dimensions

  CodeDomain& domain_;
  const KernelCall& call_;
};

}  // namespace hv
