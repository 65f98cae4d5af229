// Rows of the dot products. Source: XLA operation semantics, DotGeneral, RaggedDot, ScaledDot.
#include <fmt/format.h>

#include <algorithm>

#include "hlo/op_rows.h"
#include "hlo/rules.h"

namespace hv {
namespace {

constexpr AttrSpec kDotAttrs[] = {{Attr::kLhsBatchDims},     {Attr::kLhsContractingDims},
                                  {Attr::kRhsBatchDims},     {Attr::kRhsContractingDims},
                                  {Attr::kOperandPrecision}, {Attr::kAlgorithm},
                                  {Attr::kSparsity}};
constexpr AttrSpec kRaggedDotAttrs[] = {{Attr::kLhsBatchDims},     {Attr::kLhsContractingDims},
                                        {Attr::kRhsBatchDims},     {Attr::kRhsContractingDims},
                                        {Attr::kLhsRaggedDims},    {Attr::kRhsGroupDims},
                                        {Attr::kOperandPrecision}, {Attr::kAlgorithm}};
constexpr AttrSpec kScaledDotAttrs[] = {{Attr::kLhsBatchDims},     {Attr::kLhsContractingDims},
                                        {Attr::kRhsBatchDims},     {Attr::kRhsContractingDims},
                                        {Attr::kOperandPrecision}, {Attr::kAlgorithm}};

bool Has(Dims list, int64_t d) { return std::find(list.begin(), list.end(), d) != list.end(); }

// The dimension numbers of a dot: lists in range, distinct, paired by position with equal sizes.
Status CheckPaired(const OpContext& context, Attr lhs_key, Attr rhs_key) {
  const Shape &lhs = context.operand(0), &rhs = context.operand(1);
  HV_RETURN_IF_ERROR(CheckDimensions(context, lhs_key, lhs.rank()));
  HV_RETURN_IF_ERROR(CheckDimensions(context, rhs_key, rhs.rank()));
  const Dims a = context.instruction.Ints(lhs_key), b = context.instruction.Ints(rhs_key);
  HV_RETURN_IF_ERROR(CheckCount(context, rhs_key, a.size()));
  for (size_t i = 0; i < a.size(); ++i) {
    const int64_t x = lhs.dims[static_cast<size_t>(a[i])], y = rhs.dims[static_cast<size_t>(b[i])];
    if (x != y) {
      return Wrong(context, rhs_key, "dot-sizes",
                   fmt::format("dimension {} of {} meets dimension {} of {}", a[i], Text(lhs), b[i],
                               Text(rhs)));
    }
  }
  return {};
}

Status CheckDotDimensions(const OpContext& context) {
  HV_RETURN_IF_ERROR(CheckArrays(context));
  const Instruction& dot = context.instruction;
  HV_RETURN_IF_ERROR(CheckPaired(context, Attr::kLhsBatchDims, Attr::kRhsBatchDims));
  HV_RETURN_IF_ERROR(CheckPaired(context, Attr::kLhsContractingDims, Attr::kRhsContractingDims));
  for (const auto& [batch, contracting] :
       {std::pair{Attr::kLhsBatchDims, Attr::kLhsContractingDims},
        std::pair{Attr::kRhsBatchDims, Attr::kRhsContractingDims}}) {
    for (const int64_t d : dot.Ints(batch)) {
      if (!Has(dot.Ints(contracting), d)) continue;
      return Wrong(context, batch, "dimension-twice",
                   fmt::format("dimension {} is both a batch and a contracting one", d));
    }
  }
  return {};
}

// Dims of the result: batch, then the free ones of lhs, then those of rhs; `skipped` is left out of
// the rhs (the group dimension of a ragged dot), -1 for none.
std::vector<int64_t> DotDims(const OpContext& context, int64_t skipped) {
  const Instruction& dot = context.instruction;
  const Shape &lhs = context.operand(0), &rhs = context.operand(1);
  std::vector<int64_t> dims;
  for (const int64_t d : dot.Ints(Attr::kLhsBatchDims)) {
    dims.push_back(lhs.dims[static_cast<size_t>(d)]);
  }
  for (int64_t d = 0; d < lhs.rank(); ++d) {
    if (Has(dot.Ints(Attr::kLhsBatchDims), d) || Has(dot.Ints(Attr::kLhsContractingDims), d)) {
      continue;
    }
    dims.push_back(lhs.dims[static_cast<size_t>(d)]);
  }
  for (int64_t d = 0; d < rhs.rank(); ++d) {
    if (d == skipped || Has(dot.Ints(Attr::kRhsBatchDims), d) ||
        Has(dot.Ints(Attr::kRhsContractingDims), d)) {
      continue;
    }
    dims.push_back(rhs.dims[static_cast<size_t>(d)]);
  }
  return dims;
}

Result<const Shape*> InferDot(const OpContext& context) {
  HV_RETURN_IF_ERROR(CheckDotDimensions(context));
  HV_RETURN_IF_ERROR(CheckSameKind(context, 0, 1));
  return MakeArray(context, ProductType(context, 0, 1), DotDims(context, -1));
}

// Operands lhs, rhs and their scales. A scale is a scalar or divides its operand's dims.
Result<const Shape*> InferScaledDot(const OpContext& context) {
  HV_RETURN_IF_ERROR(CheckDotDimensions(context));
  for (const size_t operand : {size_t{0}, size_t{1}}) {
    const Shape &value = context.operand(operand), &scale = context.operand(operand + 2);
    if (scale.IsScalar()) continue;
    HV_RETURN_IF_ERROR(CheckRank(context, operand + 2, value.rank()));
    for (size_t d = 0; d < value.dims.size(); ++d) {
      if (scale.dims[d] == value.dims[d]) continue;
      if (scale.dims[d] > 0 && value.dims[d] % scale.dims[d] == 0) continue;
      return Wrong(context, "operand-dims",
                   fmt::format("scale {} does not divide {}", Text(scale), Text(value)));
    }
  }
  HV_RETURN_IF_ERROR(CheckSameKind(context, 0, 1));
  return MakeArray(context, ProductType(context, 0, 1), DotDims(context, -1));
}

// One ragged dimension of lhs; where it is free, rhs has a group dimension; where it is
// contracting, the result gets one.
Result<const Shape*> InferRaggedDot(const OpContext& context) {
  HV_RETURN_IF_ERROR(CheckDotDimensions(context));
  HV_RETURN_IF_ERROR(CheckAccepted(context, 2, kIntegers));
  const Instruction& dot = context.instruction;
  HV_ASSIGN(const int64_t ragged,
            OneDimension(context, Attr::kLhsRaggedDims, context.operand(0).rank()));
  const Shape& sizes = context.operand(2);
  if (sizes.rank() < 1) return Wrong(context, "operand-rank", "group sizes are a scalar");
  const bool contracting = Has(dot.Ints(Attr::kLhsContractingDims), ragged);
  const bool free = !contracting && !Has(dot.Ints(Attr::kLhsBatchDims), ragged);
  int64_t group = -1;
  HV_RETURN_IF_ERROR(CheckCount(context, Attr::kRhsGroupDims, free ? 1 : 0));
  if (free) {
    HV_ASSIGN(group, OneDimension(context, Attr::kRhsGroupDims, context.operand(1).rank()));
    if (context.operand(1).dims[static_cast<size_t>(group)] != sizes.dims.back()) {
      return Wrong(context, Attr::kRhsGroupDims, "dot-sizes",
                   fmt::format("dimension {} of {} does not count the groups of {}", group,
                               Text(context.operand(1)), Text(sizes)));
    }
  }
  std::vector<int64_t> dims = DotDims(context, group);
  if (contracting) dims.insert(dims.begin(), sizes.dims.back());
  HV_RETURN_IF_ERROR(CheckSameKind(context, 0, 1));
  return MakeArray(context, ProductType(context, 0, 1), dims);
}

constexpr OpDef Contraction(Opcode opcode, InferFn infer, int operands,
                            std::span<const AttrSpec> attributes, Tier tier, std::string_view doc) {
  return {.opcode = opcode,
          .min_operands = operands,
          .max_operands = operands,
          .attributes = attributes,
          .infer = infer,
          .kernel = KernelKind::kContract,
          .exactness = Exactness::kOrder,
          .tier = tier,
          .types = "any array",
          .doc = doc};
}

}  // namespace

constinit const OpDef kDotOp = Contraction(Opcode::kDot, InferDot, 2, kDotAttrs, Tier::kT2,
                                           "Sums of products over contracted dimensions. "
                                           "(DotGeneral)");
constinit const OpDef kRaggedDotOp =
    Contraction(Opcode::kRaggedDot, InferRaggedDot, 3, kRaggedDotAttrs, Tier::kT2,
                "Dot whose rows fall into groups of run-time sizes. (RaggedDot)");
constinit const OpDef kScaledDotOp =
    Contraction(Opcode::kScaledDot, InferScaledDot, 4, kScaledDotAttrs, Tier::kT3,
                "Dot of block-scaled operands: lhs, rhs, lhs scale, rhs scale. (ScaledDot)");

}  // namespace hv
