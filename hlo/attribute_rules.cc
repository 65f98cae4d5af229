// Defaults, enum words and attribute sets, the latter computed from the op table once.
#include "hlo/attribute_rules.h"

#include <algorithm>
#include <array>

#include "hlo/op.h"

namespace hv {
namespace {

struct AttrSets {
  std::array<AttrSet, kOpcodeCount> allowed, required;
};

const AttrSets& Sets() {
  static const AttrSets sets = [] {
    AttrSets all;
    for (size_t op = 0; op < kOpcodeCount; ++op) {
      for (const AttrSpec& spec : Definition(static_cast<Opcode>(op)).attributes) {
        all.allowed[op].set(static_cast<size_t>(spec.key));
        if (spec.required) all.required[op].set(static_cast<size_t>(spec.key));
      }
    }
    return all;
  }();
  return sets;
}

constexpr std::string_view kDirections[] = {"EQ", "NE", "GE", "GT", "LE", "LT"};
constexpr std::string_view kCompareTypes[] = {"FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"};
constexpr std::string_view kFftTypes[] = {"FFT", "IFFT", "RFFT", "IRFFT"};
constexpr std::string_view kTransposes[] = {"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"};
constexpr std::string_view kDistributions[] = {"rng_uniform", "rng_normal"};
constexpr std::string_view kFusionKinds[] = {"kLoop", "kInput", "kOutput", "kCustom"};
constexpr std::string_view kPrecisions[] = {"default", "high", "highest", "packed_nibble"};
constexpr std::string_view kConvolutionKinds[] = {"fprop", "wgrad", "dgrad", "unset"};
constexpr std::string_view kPaddingTypes[] = {"PADDING_INVALID", "PADDING_VALID", "PADDING_SAME"};
constexpr std::string_view kSchedules[] = {"SCHEDULE_NONE", "SCHEDULE_LATEST", "SCHEDULE_EARLIEST"};
constexpr std::string_view kApiVersions[] = {
    "API_VERSION_UNSPECIFIED", "API_VERSION_ORIGINAL", "API_VERSION_STATUS_RETURNING",
    "API_VERSION_STATUS_RETURNING_UNIFIED", "API_VERSION_TYPED_FFI"};
constexpr std::string_view kAlgorithms[] = {"rng_default",
                                            "rng_three_fry",
                                            "rng_philox",
                                            "unset",
                                            "dot_any_f8_any_f8_f32",
                                            "dot_any_f8_any_f8_f32_fast_accum",
                                            "dot_any_f8_any_f8_any",
                                            "dot_any_f8_any_f8_any_fast_accum",
                                            "dot_f16_f16_f16",
                                            "dot_f16_f16_f32",
                                            "dot_bf16_bf16_bf16",
                                            "dot_bf16_bf16_f32",
                                            "dot_bf16_bf16_f32_x3",
                                            "dot_bf16_bf16_f32_x6",
                                            "dot_bf16_bf16_f32_x9",
                                            "dot_tf32_tf32_f32",
                                            "dot_tf32_tf32_f32_x3",
                                            "dot_f32_f32_f32",
                                            "dot_f64_f64_f64"};

bool AllDefaultPrecisions(const Attribute& attribute) {
  const auto* words = static_cast<const std::string_view*>(attribute.data);
  return std::all_of(words, words + attribute.size,
                     [](std::string_view word) { return word == "default"; });
}

}  // namespace

const AttrSet& AllowedAttributes(Opcode opcode) {
  return Sets().allowed[static_cast<size_t>(opcode)];
}

const AttrSet& RequiredAttributes(Opcode opcode) {
  return Sets().required[static_cast<size_t>(opcode)];
}

bool IsDefault(const Attribute& attribute) {
  switch (attribute.key) {
    case Attr::kConstrainLayout:
    case Attr::kUseGlobalDeviceIds:
    case Attr::kHasDynamicRoot:
    case Attr::kIsHostTransfer:
    case Attr::kIsStable:
    case Attr::kIsReverse:
    case Attr::kIndicesAreSorted:
    case Attr::kUniqueIndices:
    case Attr::kHasSideEffect:
    case Attr::kIsComposite:
      return attribute.integer == 0;
    case Attr::kResultAccuracy:
      return attribute.text == "{mode=default}";
    case Attr::kFeatureGroupCount:
    case Attr::kBatchGroupCount:
      return attribute.integer == 1;
    case Attr::kLhsBatchDims:
    case Attr::kRhsBatchDims:
    case Attr::kOperandBatchingDims:
    case Attr::kStartIndicesBatchingDims:
    case Attr::kInputBatchingDims:
    case Attr::kScatterIndicesBatchingDims:
    case Attr::kFrontendAttributes:
    case Attr::kControlPredecessors:
      return attribute.size == 0;
    case Attr::kOperandPrecision:
      return AllDefaultPrecisions(attribute);
    case Attr::kReplicaGroups:
      return static_cast<const DeviceList*>(attribute.data)->form == DeviceList::Form::kEmpty;
    case Attr::kConvolutionKind:
      return attribute.text == "unset";
    case Attr::kSchedule:
      return attribute.text == "SCHEDULE_NONE";
    case Attr::kInfeedConfig:
    case Attr::kOutfeedConfig:
    case Attr::kBackendConfig:
      return attribute.text.empty();
    default:
      return false;
  }
}

std::string_view DefaultCompareType(ElementType operand) {
  if (IsFloat(operand) || IsComplex(operand)) return "FLOAT";
  return IsSigned(operand) ? "SIGNED" : "UNSIGNED";
}

void Canonicalize(std::vector<Attribute>* attributes, size_t first) {
  const auto begin = attributes->begin() + static_cast<std::ptrdiff_t>(first);
  attributes->erase(std::remove_if(begin, attributes->end(), IsDefault), attributes->end());
  std::sort(begin, attributes->end(),
            [](const Attribute& a, const Attribute& b) { return a.key < b.key; });
}

std::span<const std::string_view> EnumWords(Attr key) {
  switch (key) {
    case Attr::kCompareDirection:
      return kDirections;
    case Attr::kCompareType:
      return kCompareTypes;
    case Attr::kFftType:
      return kFftTypes;
    case Attr::kTransposeA:
      return kTransposes;
    case Attr::kDistribution:
      return kDistributions;
    case Attr::kAlgorithm:
      return kAlgorithms;
    case Attr::kFusionKind:
      return kFusionKinds;
    case Attr::kOperandPrecision:
      return kPrecisions;
    case Attr::kConvolutionKind:
      return kConvolutionKinds;
    case Attr::kPaddingType:
      return kPaddingTypes;
    case Attr::kApiVersion:
      return kApiVersions;
    case Attr::kSchedule:
      return kSchedules;
    default:
      return {};
  }
}

}  // namespace hv
