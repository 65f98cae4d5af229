#include "hlo/op_rounding.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace hv {
namespace {

constexpr LibraryUlps kLibraryUlps[] = {
    {Opcode::kAcos, 1, 1},
    {Opcode::kAcosh, 1, 2},
    {Opcode::kAsin, 1, 1},
    {Opcode::kAsinh, 1, 2},
    {Opcode::kAtan2, 1, 1},
    {Opcode::kAtanh, 1, 2},
    {Opcode::kCbrt, 1, 4},
    {Opcode::kCosh, 1, 2},
    {Opcode::kCosine, 1, 1},
    {Opcode::kErf, 1, 2},
    {Opcode::kExponential, 1, 1},
    {Opcode::kExponentialMinusOne, 1, 1},
    {Opcode::kLog, 1, 1},
    {Opcode::kLogPlusOne, 1, 1},
    {Opcode::kPower, 1, 1},
    {Opcode::kSine, 1, 1},
    {Opcode::kSinh, 1, 2},
    {Opcode::kTan, 1, 1},
    {Opcode::kTanh, 1, 3},
};

struct Steps {
  Opcode opcode;
  std::string_view words;
};

constexpr std::string_view kProducts =
    "ascending terms, product and sum rounded each (f32 below 32 bits), then to the type";
constexpr std::string_view kMembers =
    "a fold in group order, rounded each step (--reduction-order, --accumulate)";
constexpr std::string_view kStepwise = "each step of its definition rounded";
constexpr std::string_view kFold = "a fold in order, rounded each step";

// Ops of several rounded steps, or with a word to add.
constexpr Steps kSteps[] = {
    {Opcode::kAbs, "exact; complex <= 1 ulp"},
    {Opcode::kAllReduce, kMembers},
    {Opcode::kAllReduceStart, kMembers},
    {Opcode::kBatchNormGrad, kStepwise},
    {Opcode::kBatchNormInference, kStepwise},
    {Opcode::kBatchNormTraining, kStepwise},
    {Opcode::kCholesky, "each step of the substitution rounded"},
    {Opcode::kConvolution, kProducts},
    {Opcode::kDivide, "correctly rounded; complex by its formula, rounded each step"},
    {Opcode::kDot, kProducts},
    {Opcode::kFft, "in c128, rounded once"},
    {Opcode::kLogistic, "1 / (1 + e^-x), rounded each step; 0 where e^-x overflows"},
    {Opcode::kMultiply, "correctly rounded; complex by its formula, rounded each step"},
    {Opcode::kRaggedDot, kProducts},
    {Opcode::kReduce, "float sums in f64, rounded once; others a fold in layout order"},
    {Opcode::kReduceScatter, kMembers},
    {Opcode::kReduceWindow, kFold},
    {Opcode::kRsqrt, "1 / sqrt(x), rounded twice: <= 2 ulp"},
    {Opcode::kScaledDot, kProducts},
    {Opcode::kScatter, kFold},
    {Opcode::kSelectAndScatter, kFold},
    {Opcode::kSign, "exact; complex x / abs(x), rounded each step"},
    {Opcode::kSqrt, "correctly rounded; complex <= 1 ulp"},
    {Opcode::kTriangularSolve, "each step of the substitution rounded"},
};

std::string_view StepsOf(Opcode opcode) {
  const auto found = std::find_if(std::begin(kSteps), std::end(kSteps),
                                  [opcode](const Steps& s) { return s.opcode == opcode; });
  return found == std::end(kSteps) ? std::string_view() : found->words;
}

}  // namespace

std::optional<LibraryUlps> LibraryUlpsOf(Opcode opcode) {
  const auto found = std::find_if(std::begin(kLibraryUlps), std::end(kLibraryUlps),
                                  [opcode](const LibraryUlps& u) { return u.opcode == opcode; });
  if (found == std::end(kLibraryUlps)) return {};
  return *found;
}

std::string RoundingOf(const OpDef& def) {
  if (const std::string_view words = StepsOf(def.opcode); !words.empty()) return std::string(words);
  if (const auto ulps = LibraryUlpsOf(def.opcode)) {
    return ulps->f64 == ulps->f32 ? fmt::format("<= {} ulp", ulps->f32)
                                  : fmt::format("<= {} ulp, f64 <= {}", ulps->f32, ulps->f64);
  }
  switch (def.exactness) {
    case Exactness::kExact: return "exact";
    case Exactness::kRounded: return "correctly rounded";
    case Exactness::kLibrary:
    case Exactness::kOrder: return "";
    case Exactness::kNone: return "-";
  }
  return "";
}

}  // namespace hv
