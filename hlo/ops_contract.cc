// Rows of the contractions. Source: XLA operation semantics, DotGeneral, RaggedDot, ScaledDot, Conv.
#include "hlo/op_rows.h"

namespace hv {
namespace {

constexpr AttrSpec kConvolutionAttrs[] = {{Attr::kWindow},
                                          {Attr::kDimLabels, kRequired},
                                          {Attr::kFeatureGroupCount},
                                          {Attr::kBatchGroupCount},
                                          {Attr::kOperandPrecision},
                                          {Attr::kAlgorithm},
                                          {Attr::kConvolutionKind},
                                          {Attr::kSparsityConfig}};
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

constexpr OpDef Contraction(Opcode opcode, int operands, std::span<const AttrSpec> attributes,
                            Tier tier, std::string_view doc) {
  return {.opcode = opcode,
          .min_operands = operands,
          .max_operands = operands,
          .attributes = attributes,
          .kernel = KernelKind::kContract,
          .exactness = Exactness::kOrder,
          .tier = tier,
          .types = "any array",
          .doc = doc};
}

}  // namespace

constinit const OpDef kConvolutionOp = [] {
  OpDef def = Contraction(Opcode::kConvolution, 2, kConvolutionAttrs, Tier::kT3,
                          "Sums of products over windows of the first operand. "
                          "(ConvWithGeneralPadding)");
  def.kernel = KernelKind::kWindow;
  return def;
}();
constinit const OpDef kDotOp = Contraction(Opcode::kDot, 2, kDotAttrs, Tier::kT2,
                                           "Sums of products over contracted dimensions. "
                                           "(DotGeneral)");
constinit const OpDef kRaggedDotOp =
    Contraction(Opcode::kRaggedDot, 3, kRaggedDotAttrs, Tier::kT2,
                "Dot whose rows fall into groups of run-time sizes. (RaggedDot)");
constinit const OpDef kScaledDotOp =
    Contraction(Opcode::kScaledDot, 4, kScaledDotAttrs, Tier::kT3,
                "Dot of block-scaled operands: lhs, rhs, lhs scale, rhs scale. (ScaledDot)");

}  // namespace hv
