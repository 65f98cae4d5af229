// Native inputs described by a few numbers, so that every rank makes the same ones: all elements
// random, or a base value everywhere except at chosen leaves. Values are a pure function of (seed,
// trial, leaf id), whatever the rank count and the module.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "verify/input_space.h"
#include "verify/scenario.h"

namespace hv {

struct NativeInput {
  enum class Values : uint8_t {
    kWholeNumbers,  // uniform in [-limit, limit], as far as the type reaches; never 0
    kRealNumbers,   // floats uniform in [-1, 1), other types as kWholeNumbers
    kCancelling,    // floats that cancel: small ones among large ones, so that each order rounds anew
    kIndices,       // integers from 0 up to more and more by trial, every third time around 0
    kExtremes,      // integers, those that decide control too: around 0, at the ends of the type, or
                    // any; other types as kRealNumbers
    kDictionary,    // numbers of the dictionary, another one at every leaf and in every trial; also
                    // those that decide control
    kFixed,         // `fixed` everywhere
    kExplicit,      // as the scenario gives them
  };
  Values values = Values::kWholeNumbers;
  uint64_t seed = 1;
  uint64_t trial = 0;
  double limit = 8;
  double fixed = 1;
  double base = 0;                             // elsewhere
  std::optional<std::vector<int64_t>> active;  // sorted leaf ids that have values; absent: all
  std::vector<double> dictionary;              // kDictionary
  std::vector<int64_t> control;                // parameters that decide control: kIndices or kExtremes
};

// Ranges of generated values by slot, resolved from a scenario's names and numbers; an error names
// the parameter that does not exist.
Result<std::vector<std::optional<InputRange>>> ResolveRanges(const InputSpace& space,
                                                             const InputPlan& plan);

// Makes the arrays of `input`. References must outlive the fill.
SlotFill FillNative(const NativeInput& input, const InputSpace& space,
                    const std::vector<std::optional<InputRange>>& ranges, const InputPlan& plan);

// The value of one leaf, before it is rounded to its type.
double LeafNumber(const NativeInput& input, const InputSpace& space,
                  const std::optional<InputRange>& range, const Leaf& leaf);

}  // namespace hv
