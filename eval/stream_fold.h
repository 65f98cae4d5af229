// The reduction of collectives: streams of elements, one per member, folded element by element in
// ascending order of the streams, in one pass over all of them. The bits depend neither on how the
// work is cut nor on the machine, so every transport and every placement may use it on its part.
#pragma once

#include <cstddef>
#include <span>

#include "base/result.h"
#include "hlo/module.h"
#include "hlo/op.h"

namespace hv {

class StreamFold {
 public:
  // The scalar computation `reducer` on elements of `type`, the type of its two parameters.
  // `accumulate_wide`: sums and products of floats below 32 bits in f32, rounded once. kUnsupported
  // names an op that has no meaning on scalars.
  static Result<StreamFold> Make(const Module& module, ComputationIndex reducer, ElementType type,
                                 bool accumulate_wide = false);

  // out[i] = ((in[0][i] f in[1][i]) f in[2][i]) .. for i < count. `out` may equal in[0] and overlaps
  // no other stream.
  void Run(std::span<const std::byte* const> in, std::byte* out, size_t count) const;

  // Folds `n` streams of `count` machine words at once.
  using Kernel = void (*)(const std::byte* const* in, std::byte* out, size_t count);
  struct Kernels {
    Kernel of_two = nullptr, of_four = nullptr, of_eight = nullptr;
    size_t words = 1;  // per element: 2 for a complex sum, bytes for bitwise functions
  };

 private:
  StreamFold(const Module& module, ComputationIndex reducer, ElementType type)
      : module_(&module), reducer_(reducer), type_(type) {}
  void RunRange(std::span<const std::byte* const> in, std::byte* out, size_t count) const;
  void RunKernels(std::span<const std::byte* const> in, std::byte* out, size_t count) const;
  void RunWide(std::span<const std::byte* const> in, std::byte* out, size_t count) const;
  void RunCombiner(std::span<const std::byte* const> in, std::byte* out, size_t count) const;

  const Module* module_;
  ComputationIndex reducer_;
  ElementType type_;
  Kernels kernels_;                  // none: by RunWide or RunCombiner
  ScalarFn wide_ = ScalarFn::kNone;  // computed in f32
};

}  // namespace hv
