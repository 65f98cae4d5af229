// Machine code of one loop over arrays of f32 or f64: x86-64 with AVX2. Each array is read once,
// and what lies between stays in registers. Every instruction rounds for itself, as the span
// kernels do: the bits are theirs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "eval/span_kernel.h"

namespace hv {

// result = fn(operands). Values have numbers from 0 on; each is made once, before it is read.
struct LoopStep {
  ScalarFn fn = ScalarFn::kNone;
  Direction direction = Direction::kEq;  // of kCompare, whose result only kSelect may read
  int operands[3] = {};
  int result = 0;
};

// Values that lie in memory: read once before the loop, read by elements, written by elements.
struct LoopInterface {
  std::vector<int> scalars, arrays, results;

  size_t size() const { return scalars.size() + arrays.size() + results.size(); }
};

// How many operands the loop computes `fn` of; 0: there is no code for it.
int LoopArity(ScalarFn fn);

// A function (int64_t zero, int64_t bytes, void* const* memory), memory in the order of
// `interface`. A result may lie where an array does if no step after its own reads that. Nothing if
// registers do not suffice.
std::vector<uint8_t> EmitLoop(ElementType type, std::span<const LoopStep> steps,
                              const LoopInterface& interface);

}  // namespace hv
