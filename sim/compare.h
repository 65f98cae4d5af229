// Compares a result with recorded values, with the tolerance of the recording. For run_hlo alone:
// verdicts never use a tolerance. Source: tests/data/cases/conformance/README.md, "Comparing".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "eval/value.h"

namespace hv {

struct ElementDifference {
  std::vector<int64_t> index;  // of the first element that differs
  std::string got, expected;   // as JSON
  int64_t count = 0;           // how many differ
};

// Both native, of the same shape. Two elements agree if both are NaN, or equal (-0 and 0 are), or
// floats with |a - b| <= tolerance * max(1, |b|); complex ones part by part.
std::optional<ElementDifference> Compare(const Value& got, const Value& expected, double tolerance);

}  // namespace hv
