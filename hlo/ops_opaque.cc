// Rows of the ops with an evaluator of their own: batch normalisation, factorisations, Fourier
// transform, random numbers. Source: XLA operation semantics, BatchNormGrad ... TriangularSolve.
#include <fmt/format.h>

#include <algorithm>

#include "hlo/op_rows.h"
#include "hlo/rules.h"

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

// Operand 0 is a float array with a feature dimension, the vectors hold one number per feature.
// Their shape.
Result<const Shape*> FeatureVector(const OpContext& context, size_t vectors_begin,
                                   size_t vectors_end) {
  HV_RETURN_IF_ERROR(CheckArrays(context));
  const Shape& data = context.operand(0);
  HV_RETURN_IF_ERROR(CheckAccepted(context, 0, kFloats));
  const int64_t feature = context.instruction.Int(Attr::kFeatureIndex, 0);
  HV_RETURN_IF_ERROR(CheckDimension(context, Attr::kFeatureIndex, feature, data.rank()));
  const int64_t count = data.dims[static_cast<size_t>(feature)];
  for (size_t i = vectors_begin; i < vectors_end; ++i) {
    HV_RETURN_IF_ERROR(CheckRank(context, i, 1));
    HV_RETURN_IF_ERROR(CheckSameType(context, 0, i, FloatWidth::kAny));
    if (context.operand(i).dims[0] != count) {
      return Wrong(context, "operand-dims",
                   fmt::format("operand {} is {}, but there are {} features", i,
                               Text(context.operand(i)), count));
    }
  }
  return &context.operand(vectors_begin);
}

// (like the operand, per feature, per feature).
Result<const Shape*> WithStatistics(const OpContext& context, const Shape* vector) {
  const Shape* results[] = {&context.operand(0), vector, vector};
  return context.shapes.Tuple(results);
}

Result<const Shape*> InferBatchNormGrad(const OpContext& context) {
  HV_ASSIGN(const Shape* vector, FeatureVector(context, 1, 4));
  HV_RETURN_IF_ERROR(CheckSameDims(context, 0, 4));
  HV_RETURN_IF_ERROR(CheckSameType(context, 0, 4, FloatWidth::kAny));
  return WithStatistics(context, vector);
}

Result<const Shape*> InferBatchNormInference(const OpContext& context) {
  HV_RETURN_IF_ERROR(FeatureVector(context, 1, 5));
  return &context.operand(0);
}

Result<const Shape*> InferBatchNormTraining(const OpContext& context) {
  HV_ASSIGN(const Shape* vector, FeatureVector(context, 1, 3));
  return WithStatistics(context, vector);
}

// Operand i holds square matrices in its last two dimensions.
Status CheckMatrices(const OpContext& context, size_t i) {
  const Dims dims = context.operand(i).dims;
  if (dims.size() >= 2 && dims.back() == dims[dims.size() - 2]) {
    return CheckAccepted(context, i, kFloats | kComplexes);
  }
  return Wrong(context, "operand-dims",
               fmt::format("operand {} is {}, no square matrices", i, Text(context.operand(i))));
}

Result<const Shape*> InferCholesky(const OpContext& context) {
  HV_RETURN_IF_ERROR(CheckArrays(context));
  HV_RETURN_IF_ERROR(CheckMatrices(context, 0));
  return &context.operand(0);
}

Result<const Shape*> InferTriangularSolve(const OpContext& context) {
  HV_RETURN_IF_ERROR(CheckArrays(context));
  HV_RETURN_IF_ERROR(CheckMatrices(context, 0));
  HV_RETURN_IF_ERROR(CheckRank(context, 1, context.operand(0).rank()));
  HV_RETURN_IF_ERROR(CheckSameType(context, 0, 1, FloatWidth::kAny));
  const Dims a = context.operand(0).dims, b = context.operand(1).dims;
  const size_t batch = a.size() - 2;
  const size_t side = batch + (context.instruction.Bool(Attr::kLeftSide) ? 0 : 1);
  if (b[side] == a.back() && std::equal(a.begin(), a.begin() + static_cast<int64_t>(batch), b.begin())) {
    return &context.operand(1);
  }
  return Wrong(context, "operand-dims",
               fmt::format("{} cannot be solved for {}", Text(context.operand(0)),
                           Text(context.operand(1))));
}

// Over the last dimensions, as many as fft_length has. A real transform keeps half of the last one.
Result<const Shape*> InferFft(const OpContext& context) {
  HV_RETURN_IF_ERROR(CheckArrays(context));
  const Dims length = context.instruction.Ints(Attr::kFftLength);
  const Shape& operand = context.operand(0);
  const std::string_view type = context.instruction.Text(Attr::kFftType);
  const bool forward_real = type == "RFFT", inverse_real = type == "IRFFT";
  if (length.empty() || length.size() > 3 || length.size() > operand.dims.size()) {
    return Wrong(context, Attr::kFftLength, "dimension-count",
                 fmt::format("{} lengths for {}", length.size(), Text(operand)));
  }
  HV_RETURN_IF_ERROR(CheckAccepted(context, 0, forward_real ? kFloats : kComplexes));
  std::vector<int64_t> dims(operand.dims.begin(), operand.dims.end());
  const size_t first = dims.size() - length.size();
  for (size_t i = 0; i < length.size(); ++i) {
    const bool last = i + 1 == length.size();
    const int64_t half = length[i] / 2 + 1;
    const int64_t expected = last && inverse_real && length[i] > 0 ? half : length[i];
    if (length[i] < 0 || dims[first + i] != expected) {
      return Wrong(context, Attr::kFftLength, "fft-length",
                   fmt::format("length {} for dimension {} of {}", length[i], first + i,
                               Text(operand)));
    }
    if (last && inverse_real) dims[first + i] = length[i];
    if (last && forward_real && length[i] > 0) dims[first + i] = half;
  }
  const bool wide = BitWidth(ComponentType(operand.type)) == 64;
  const ElementType real = wide ? ElementType::kF64 : ElementType::kF32;
  const ElementType complex = wide ? ElementType::kC128 : ElementType::kC64;
  return MakeArray(context, inverse_real ? real : complex, dims);
}

Status CheckRng(const OpContext& context) {
  const Shape& result = *context.instruction.shape;
  for (size_t i = 0; i < 2; ++i) {
    HV_RETURN_IF_ERROR(CheckScalar(context, i));
    if (result.IsArray() && SameType(context.operand(i).type, result.type, FloatWidth::kAny)) {
      continue;
    }
    return Wrong(context, "operand-type",
                 fmt::format("operand {} is {}, but the result {}", i, Text(context.operand(i)),
                             Text(result)));
  }
  return {};
}

// (new state, bits): the state like the operand, the bits unsigned or signed integers, or floats.
Status CheckRngBitGenerator(const OpContext& context) {
  const Shape &state = context.operand(0), &result = *context.instruction.shape;
  HV_RETURN_IF_ERROR(CheckArrays(context));
  HV_RETURN_IF_ERROR(CheckRank(context, 0, 1));
  HV_RETURN_IF_ERROR(CheckAccepted(context, 0, kIntegers));
  if (result.IsTuple() && result.elements.size() == 2 && result.elements[1]->IsArray() &&
      Compatible(*result.elements[0], state, FloatWidth::kExact)) {
    return {};
  }
  return Wrong(context, "result-shape",
               fmt::format("{} is not (new state, bits) for {}", Text(result), Text(state)));
}

Status CheckRngState(const OpContext& context) {
  return CheckResult(context, *context.shapes.Array(ElementType::kU64, {2}), FloatWidth::kExact);
}

constexpr OpDef Opaque(Opcode opcode, InferFn infer, int operands,
                       std::span<const AttrSpec> attributes, std::string_view types,
                       std::string_view doc) {
  return {.opcode = opcode,
          .min_operands = operands,
          .max_operands = operands,
          .attributes = attributes,
          .infer = infer,
          .kernel = KernelKind::kOpaque,
          .exactness = Exactness::kOrder,
          .tier = Tier::kT3,
          .types = types,
          .doc = doc};
}

// Random numbers of a state that the program does not see: another run may give others.
constexpr OpDef HiddenState(Opcode opcode, RuleFn rule, int operands,
                            std::span<const AttrSpec> attributes, std::string_view types,
                            std::string_view doc) {
  OpDef def = Opaque(opcode, nullptr, operands, attributes, types, doc);
  def.shape_required = true;
  def.rule = rule;
  def.kernel = KernelKind::kHidden;
  def.exactness = Exactness::kNone;
  def.tier = Tier::kX;
  def.side_effect = true;
  return def;
}

}  // namespace

constinit const OpDef kBatchNormGradOp =
    Opaque(Opcode::kBatchNormGrad, InferBatchNormGrad, 5, kBatchNormAttrs, "float",
           "Gradients of batch normalisation: (operand, scale, offset). (BatchNormGrad)");
constinit const OpDef kBatchNormInferenceOp =
    Opaque(Opcode::kBatchNormInference, InferBatchNormInference, 5, kBatchNormAttrs, "float",
           "Normalises with given mean and variance. (BatchNormInference)");
constinit const OpDef kBatchNormTrainingOp =
    Opaque(Opcode::kBatchNormTraining, InferBatchNormTraining, 3, kBatchNormAttrs, "float",
           "Normalises over the batch: (result, mean, variance). (BatchNormTraining)");
constinit const OpDef kCholeskyOp = Opaque(Opcode::kCholesky, InferCholesky, 1, kCholeskyAttrs, "float, complex",
                                           "Cholesky factor of each matrix. (Cholesky)");
constinit const OpDef kFftOp = Opaque(Opcode::kFft, InferFft, 1, kFftAttrs, "float, complex",
                                      "Fourier transform of the last dimensions. (Fft)");
constinit const OpDef kRngOp =
    HiddenState(Opcode::kRng, CheckRng, 2, kRngAttrs, "pred, integer, float",
                "Random numbers between or around the operands, from --seed. (RngUniform, RngNormal)");
constinit const OpDef kRngBitGeneratorOp = [] {
  OpDef def = Opaque(Opcode::kRngBitGenerator, nullptr, 1, kRngBitGeneratorAttrs, "u64 or u32 state",
                     "Random bits of a counter-based generator: (new state, bits). "
                     "(RngBitGenerator)");
  def.shape_required = true;
  def.rule = CheckRngBitGenerator;
  def.exactness = Exactness::kExact;
  def.tier = Tier::kT2;
  return def;
}();
constinit const OpDef kRngGetAndUpdateStateOp =
    HiddenState(Opcode::kRngGetAndUpdateState, CheckRngState, 0, kRngStateAttrs, "none",
                "State of the hidden generator, moved on by delta. (RngGetAndUpdateState)");
constinit const OpDef kTriangularSolveOp =
    Opaque(Opcode::kTriangularSolve, InferTriangularSolve, 2, kTriangularSolveAttrs, "float, complex",
           "Solves triangular systems. (TriangularSolve)");

}  // namespace hv
