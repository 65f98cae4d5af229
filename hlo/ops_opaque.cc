// Rows of the ops with an evaluator of their own: batch normalisation, factorisations, Fourier
// transform, random numbers. Source: XLA operation semantics, BatchNormGrad ... TriangularSolve.
#include "hlo/op_rows.h"

namespace hv {
namespace {

constexpr AttrSpec kBatchNormAttrs[] = {{Attr::kEpsilon, kRequired},
                                        {Attr::kFeatureIndex, kRequired}};
constexpr AttrSpec kCholeskyAttrs[] = {{Attr::kLower}};
constexpr AttrSpec kFftAttrs[] = {{Attr::kFftType, kRequired}, {Attr::kFftLength, kRequired}};
constexpr AttrSpec kRngAttrs[] = {{Attr::kDistribution, kRequired}};
constexpr AttrSpec kRngBitGeneratorAttrs[] = {{Attr::kAlgorithm, kRequired}};
constexpr AttrSpec kRngStateAttrs[] = {{Attr::kDelta, kRequired}};
constexpr AttrSpec kTriangularSolveAttrs[] = {
    {Attr::kLeftSide}, {Attr::kLower}, {Attr::kUnitDiagonal}, {Attr::kTransposeA}};

constexpr OpDef Opaque(Opcode opcode, int operands, std::span<const AttrSpec> attributes,
                       std::string_view types, std::string_view doc) {
  return {.opcode = opcode,
          .min_operands = operands,
          .max_operands = operands,
          .attributes = attributes,
          .kernel = KernelKind::kOpaque,
          .exactness = Exactness::kOrder,
          .tier = Tier::kT3,
          .types = types,
          .doc = doc};
}

// Random numbers of a state that the program does not see: not reproducible.
constexpr OpDef HiddenState(Opcode opcode, int operands, std::span<const AttrSpec> attributes,
                            std::string_view types, std::string_view doc) {
  OpDef def = Opaque(opcode, operands, attributes, types, doc);
  def.shape_required = true;
  def.kernel = KernelKind::kRefused;
  def.exactness = Exactness::kNone;
  def.tier = Tier::kX;
  def.side_effect = true;
  return def;
}

}  // namespace

constinit const OpDef kBatchNormGradOp =
    Opaque(Opcode::kBatchNormGrad, 5, kBatchNormAttrs, "float",
           "Gradients of batch normalisation: (operand, scale, offset). (BatchNormGrad)");
constinit const OpDef kBatchNormInferenceOp =
    Opaque(Opcode::kBatchNormInference, 5, kBatchNormAttrs, "float",
           "Normalises with given mean and variance. (BatchNormInference)");
constinit const OpDef kBatchNormTrainingOp =
    Opaque(Opcode::kBatchNormTraining, 3, kBatchNormAttrs, "float",
           "Normalises over the batch: (result, mean, variance). (BatchNormTraining)");
constinit const OpDef kCholeskyOp = Opaque(Opcode::kCholesky, 1, kCholeskyAttrs, "float, complex",
                                           "Cholesky factor of each matrix. (Cholesky)");
constinit const OpDef kFftOp = Opaque(Opcode::kFft, 1, kFftAttrs, "float, complex",
                                      "Fourier transform of the last dimensions. (Fft)");
constinit const OpDef kRngOp =
    HiddenState(Opcode::kRng, 2, kRngAttrs, "any array",
                "Random numbers between or around the operands. (RngUniform, RngNormal)");
constinit const OpDef kRngBitGeneratorOp = [] {
  OpDef def = Opaque(Opcode::kRngBitGenerator, 1, kRngBitGeneratorAttrs, "u64 or u32 state",
                     "Random bits of a counter-based generator: (new state, bits). "
                     "(RngBitGenerator)");
  def.shape_required = true;
  def.exactness = Exactness::kExact;
  def.tier = Tier::kT2;
  return def;
}();
constinit const OpDef kRngGetAndUpdateStateOp =
    HiddenState(Opcode::kRngGetAndUpdateState, 0, kRngStateAttrs, "none",
                "State of the hidden generator, moved on by delta. (RngGetAndUpdateState)");
constinit const OpDef kTriangularSolveOp =
    Opaque(Opcode::kTriangularSolve, 2, kTriangularSolveAttrs, "float, complex",
           "Solves triangular systems. (TriangularSolve)");

}  // namespace hv
