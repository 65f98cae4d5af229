// Inputs when nobody gives any: a pure function of (seed, trial, device, parameter, element), so they
// do not depend on ranks or on the order of generation.
#pragma once

#include <cstdint>

#include "base/strong_id.h"
#include "eval/value.h"

namespace hv {

struct InputKey {
  uint64_t seed = 0;
  uint64_t trial = 0;
  DeviceId device;
  int64_t parameter = 0;
};

// A native value of `shape` (tuples too): integers in [-8, 8), unsigned ones in [0, 16), as far as the
// type reaches; floats uniform in [-1, 1), rounded to the type; truth values.
Value GenerateInput(const Shape* shape, const InputKey& key);

}  // namespace hv
