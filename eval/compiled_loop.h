// A loop of arithmetic as machine code of this process (loop_emitter.h). For x86-64 with AVX2 on
// systems that let a program write code; elsewhere there is none, and the caller goes on without.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "eval/loop_emitter.h"

namespace hv {

class CompiledLoop {
 public:
  static constexpr size_t kMostPlaces = 16;  // an interface may have

  // Does this machine know the instructions, and its system let a program write code?
  static bool IsPossible();
  // Where it is possible; null if registers do not suffice.
  static std::shared_ptr<const CompiledLoop> Compile(ElementType type,
                                                     std::span<const LoopStep> steps,
                                                     const LoopInterface& interface);
  CompiledLoop(const CompiledLoop&) = delete;
  CompiledLoop& operator=(const CompiledLoop&) = delete;
  ~CompiledLoop();

  // On `count` elements; memory in the order of the interface.
  void Run(std::byte* const* memory, int64_t count) const;

 private:
  CompiledLoop(void* code, size_t code_bytes, int element_bytes)
      : code_(code), code_bytes_(code_bytes), element_bytes_(element_bytes) {}

  void* code_;
  size_t code_bytes_;
  int element_bytes_;
};

}  // namespace hv
