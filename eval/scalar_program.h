// A computation over scalars (reducer, comparator, map body) compiled to scalar ops over blocks:
// each instruction runs on many elements at a time, calls inlined.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/result.h"
#include "eval/scalar_op.h"
#include "hlo/module.h"

namespace hv {

class ScalarProgram {
 public:
  // kUnsupported, naming the op, if an instruction is not a scalar function, constant, parameter,
  // tuple or call of such.
  static Result<ScalarProgram> Compile(const Module& module, ComputationIndex computation);
  // The value of another instruction of the computation as the result.
  static Result<ScalarProgram> Compile(const Module& module, ComputationIndex computation,
                                       InstructionIndex result);

  std::span<const ElementType> parameter_types() const { return parameter_types_; }
  std::span<const ElementType> result_types() const { return result_types_; }

  // One pointer per parameter and per result, `count` elements each; results may equal parameters.
  void Run(std::span<const std::byte* const> in, std::span<std::byte* const> out, size_t count);

 private:
  class Compiler;
  struct Step {
    ScalarOp op;
    int arity = 0;
    int operands[3] = {};  // registers
    int result = 0;
  };
  void RunBlock(size_t count);

  std::vector<ElementType> parameter_types_;
  std::vector<ElementType> result_types_;
  std::vector<Step> steps_;
  std::vector<int> results_;                       // registers
  std::vector<ElementType> register_types_;        // the parameters come first
  std::vector<std::vector<std::byte>> registers_;  // storage; none for parameters
  std::vector<const std::byte*> current_;          // where each register's block lies now
};

}  // namespace hv
