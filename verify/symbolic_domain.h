// The interpreter's domain of symbolic terms: values that depend on ENTRY parameters are
// SymbolicTensors, everything else stays native. Running a module over it on all devices gives its
// normal forms.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "eval/domain.h"
#include "verify/symbolic_opaque.h"
#include "verify/symbolic_reduction.h"
#include "verify/symbolic_tensor.h"

namespace hv {

class SymbolicDomain : public Domain {
 public:
  // Tensors of more than `most_pieces` pieces are refused.
  SymbolicDomain(Strictness strictness, size_t most_pieces);

  std::string_view name() const override { return "symbolic"; }

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
  Result<Value> Iota(const KernelCall& call) override;
  Result<Value> ElidedConstant(const Instruction& constant) override;
  bool ChoosesByData() const override { return true; }
  Result<Value> Choose(const Value& selector, std::vector<Value> branches) override;
  bool SameSelector(const Value& a, const Value& b) const override;
  Result<Value> DataDependentView(const KernelCall& call, std::vector<Value> operands) override;
  void EnterCollective(const Instruction& instruction, std::span<const DeviceId> group) override;
  std::optional<Value> Concrete(const Value& value) const override;

  // A value of `shape` that is unknown: arrays are all of the source `name` (tuples: one per leaf).
  Value Unknown(const Shape* shape, const std::string& name);
  // The function `key` of one array, which terms do not look into; `name` is for people.
  SymbolicTensor Opaquely(const std::string& key, std::string_view name, SymbolicTensor operand,
                          const Shape& result);
  // The leaf arrays of a value as terms; tokens and other handles left out.
  std::vector<SymbolicTensor> LeavesOf(const Value& value);

  // Folds in order are known by opcode and operands alone, not by the devices of the group.
  void NameFoldsByPosition() { folds_by_position_ = true; }

  TensorMaker& maker() { return maker_; }
  Algebra& algebra() { return algebra_; }
  const SourceTable& sources() const { return sources_; }

 private:
  using Tensors = std::vector<SymbolicTensor>;

  SymbolicTensor TensorOf(const Value& value);
  Tensors TensorsOf(std::span<const Value> values);
  Value Wrap(const Shape* shape, SymbolicTensor tensor);
  // The value of an operation on tensors; too many pieces: kUnsupported.
  Result<Value> Made(const KernelCall& call, std::optional<SymbolicTensor> tensor);
  // A reduction of one operand, folded in the reducer's type, whose pieces `maker` makes.
  std::optional<SymbolicTensor> Reduced(const KernelCall& call, const Reducer& reducer,
                                        TensorMaker* maker, const ReductionDomain& domain,
                                        const ReductionOperand& operand, const Value& init);
  // Its reducer, if it has one operand and its terms may be added in any order.
  std::optional<Reducer> FreeReducer(const KernelCall& call, std::span<const Value> operands) const;
  // An array on the grid that windows look at; nothing if that takes too many pieces.
  std::optional<SymbolicTensor> OnGrid(const WindowDomain& window, const SymbolicTensor& array,
                                       ElementType type, TensorMaker* maker);
  std::optional<SymbolicTensor> ReducedWindows(const KernelCall& call,
                                               std::span<const Value> operands);
  std::optional<SymbolicTensor> Convolved(const KernelCall& call, std::span<const Value> operands);
  // The sum over bound digits of products in the compute type of the result, rounded once.
  std::optional<SymbolicTensor> SumOfProducts(const KernelCall& call, TensorMaker* maker,
                                              const ReductionDomain& domain,
                                              std::span<const ReductionOperand> sides,
                                              bool from_zero);
  Result<Value> Uninterpreted(const KernelCall& call, std::span<const Value> operands);
  // A scalar repeated over `shape`.
  SymbolicTensor Spread(const SymbolicTensor& scalar, const Shape& shape);
  SymbolicTensor ConvertedTo(const SymbolicTensor& tensor, ElementType from, ElementType to);
  // predicate ? a : b, elementwise; nothing if there are too many pieces. `predicate` is one
  // element.
  std::optional<SymbolicTensor> Select(const Term& predicate, const SymbolicTensor& a,
                                       const SymbolicTensor& b, const Shape& shape);
  Term Equals(const Term& term, int64_t value);
  std::optional<std::vector<Term>> FewStarts(std::span<const Value> starts,
                                             std::span<const int64_t> dims,
                                             std::span<const int64_t> window);
  std::optional<Pieces> GatherPieces(const KernelCall& call, std::span<const Value> operands);
  std::optional<Pieces> ScatterPieces(const KernelCall& call, std::span<const Value> operands);

  Algebra algebra_;
  TensorMaker maker_;
  SourceTable sources_;
  std::unique_ptr<Domain> native_;
  bool folds_by_position_ = false;
  std::string instance_;  // opcode and ordered group of the collective under way
};

}  // namespace hv
