// Row of convolution. Source: XLA operation semantics, ConvWithGeneralPadding.
#include <fmt/format.h>

#include <algorithm>

#include "hlo/op_rows.h"
#include "hlo/window_rules.h"

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

int64_t At(const Shape& shape, int64_t d) { return shape.dims[static_cast<size_t>(d)]; }

// Labels give each of the three arrays one batch, one feature and the spatial dimensions.
Status CheckLabels(const OpContext& context, const ConvDims& labels) {
  const size_t rank = labels.input_spatial.size() + 2;
  const auto fits = [rank](int64_t a, int64_t b, Dims spatial) {
    const int64_t most = static_cast<int64_t>(rank) - 1;
    return spatial.size() + 2 == rank && std::max(a, b) <= most &&
           std::all_of(spatial.begin(), spatial.end(), [most](int64_t d) { return d <= most; });
  };
  if (context.operand(0).dims.size() == rank && context.operand(1).dims.size() == rank &&
      fits(labels.input_batch, labels.input_feature, labels.input_spatial) &&
      fits(labels.kernel_input, labels.kernel_output, labels.kernel_spatial) &&
      fits(labels.output_batch, labels.output_feature, labels.output_spatial)) {
    return {};
  }
  return Wrong(context, Attr::kDimLabels, "conv-labels",
               fmt::format("{} does not fit {} and {}", labels.text, Text(context.operand(0)),
                           Text(context.operand(1))));
}

// At most one kind of group, and features and batch divide into them.
Status CheckGroups(const OpContext& context, const ConvDims& labels) {
  const int64_t features = context.instruction.Int(Attr::kFeatureGroupCount, 1);
  const int64_t batches = context.instruction.Int(Attr::kBatchGroupCount, 1);
  const Shape &input = context.operand(0), &kernel = context.operand(1);
  const Attr key = batches > 1 ? Attr::kBatchGroupCount : Attr::kFeatureGroupCount;
  const int64_t outputs = At(kernel, labels.kernel_output);
  const bool fits = features >= 1 && batches >= 1 && (features == 1 || batches == 1) &&
                    At(input, labels.input_batch) % batches == 0 && outputs % batches == 0 &&
                    outputs % features == 0 && At(input, labels.input_feature) % features == 0 &&
                    At(input, labels.input_feature) / features == At(kernel, labels.kernel_input);
  if (fits) return {};
  return Wrong(context, key, "conv-groups",
               fmt::format("{} and {} with {} feature groups and {} batch groups", Text(input),
                           Text(kernel), features, batches));
}

Result<const Shape*> InferConvolution(const OpContext& context) {
  HV_RETURN_IF_ERROR(CheckArrays(context));
  const Shape* declared = context.instruction.shape;
  const std::string_view kind = context.instruction.Text(Attr::kConvolutionKind);
  // Back ends' own backward forms relate the shapes in another way.
  if ((kind == "dgrad" || kind == "wgrad") && declared != nullptr) return declared;
  const ConvDims& labels = *context.instruction.Object<ConvDims>(Attr::kDimLabels);
  HV_RETURN_IF_ERROR(CheckLabels(context, labels));
  HV_RETURN_IF_ERROR(CheckGroups(context, labels));
  const Shape &input = context.operand(0), &kernel = context.operand(1);
  const size_t spatial = labels.input_spatial.size();
  const auto stated = context.instruction.List<WindowDim>(Attr::kWindow);
  if (stated.size() != spatial) {
    return Wrong(context, Attr::kWindow, "window-rank",
                 fmt::format("window of {} dimensions for {} spatial ones", stated.size(),
                             spatial));
  }
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < spatial; ++i) {
    sizes.push_back(At(input, labels.input_spatial[i]));
    if (stated[i].size != At(kernel, labels.kernel_spatial[i])) {
      return Wrong(context, Attr::kWindow, "window-range",
                   fmt::format("window size {} in spatial dimension {} of the kernel {}",
                               stated[i].size, i, Text(kernel)));
    }
  }
  HV_ASSIGN(const std::vector<int64_t> positions, WindowPositions(context, sizes, stated));
  std::vector<int64_t> dims(spatial + 2);
  const auto set = [&](int64_t d, int64_t size) { dims[static_cast<size_t>(d)] = size; };
  set(labels.output_batch, At(input, labels.input_batch) /
                               context.instruction.Int(Attr::kBatchGroupCount, 1));
  set(labels.output_feature, At(kernel, labels.kernel_output));
  for (size_t i = 0; i < spatial; ++i) set(labels.output_spatial[i], positions[i]);
  HV_RETURN_IF_ERROR(CheckSameKind(context, 0, 1));
  return MakeArray(context, ProductType(context, 0, 1), dims);
}

}  // namespace

constinit const OpDef kConvolutionOp{
    .opcode = Opcode::kConvolution,
    .min_operands = 2,
    .max_operands = 2,
    .attributes = kConvolutionAttrs,
    .infer = InferConvolution,
    .kernel = KernelKind::kWindow,
    .exactness = Exactness::kOrder,
    .tier = Tier::kT3,
    .types = "any array",
    .doc = "Sums of products over windows of the first operand. (ConvWithGeneralPadding)"};

}  // namespace hv
