#include "sim/compute_cost.h"

#include <algorithm>

#include "hlo/op.h"

namespace hv {
namespace {

double Elements(const Shape& shape) {
  double elements = static_cast<double>(shape.element_count);
  for (const Shape* part : shape.elements) elements += Elements(*part);
  return elements;
}

const Shape& OperandShape(const Computation& computation, const Instruction& instruction, size_t i) {
  return *computation.At(instruction.operands[i]).shape;
}

// Terms that one element of a dot sums.
double ContractedSize(const Computation& computation, const Instruction& dot) {
  const Shape& lhs = OperandShape(computation, dot, 0);
  double size = 1;
  for (int64_t d : dot.Ints(Attr::kLhsContractingDims)) {
    size *= static_cast<double>(lhs.dims[static_cast<size_t>(d)]);
  }
  return size;
}

// Kernel elements that one output element of a convolution reads.
double KernelSize(const Computation& computation, const Instruction& convolution) {
  const Shape& kernel = OperandShape(computation, convolution, 1);
  const ConvDims& dims = *convolution.Object<ConvDims>(Attr::kDimLabels);
  const double outputs =
      static_cast<double>(kernel.dims[static_cast<size_t>(dims.kernel_output)]);
  return outputs > 0 ? Elements(kernel) / outputs : 0;
}

double OperandElements(const Computation& computation, const Instruction& instruction) {
  double elements = 0;
  for (InstructionIndex o : instruction.operands) elements += Elements(*computation.At(o).shape);
  return elements;
}

bool IsFree(const Instruction& instruction) {
  const KernelKind kernel = Definition(instruction).kernel;
  return kernel == KernelKind::kSource || instruction.opcode == Opcode::kBitcast ||
         (kernel == KernelKind::kAlias && instruction.opcode != Opcode::kCopy) ||
         kernel == KernelKind::kDone;
}

}  // namespace

double FlopsOf(const Module& module, const Computation& computation,
               const Instruction& instruction) {
  const double results = Elements(*instruction.shape);
  switch (Definition(instruction).kernel) {
    case KernelKind::kScalar:
      return results;
    case KernelKind::kContract:
      return 2 * results * ContractedSize(computation, instruction);
    case KernelKind::kReduce: case KernelKind::kScatter: case KernelKind::kOpaque:
      return OperandElements(computation, instruction);
    case KernelKind::kWindow:
      return instruction.opcode == Opcode::kConvolution
                 ? 2 * results * KernelSize(computation, instruction)
                 : OperandElements(computation, instruction);
    case KernelKind::kRegion: {
      double flops = 0;
      for (ComputationIndex c : CalledComputations(instruction)) {
        for (const Instruction& inner : module.At(c).instructions) {
          flops += FlopsOf(module, module.At(c), inner);
        }
      }
      return instruction.opcode == Opcode::kMap ? flops * results : flops;
    }
    default:
      return 0;
  }
}

double ComputeSeconds(const Module& module, const Computation& computation,
                      const Instruction& instruction, const Machine& machine) {
  if (IsFree(instruction)) return 0;
  double bytes = static_cast<double>(instruction.shape->ByteSize());
  for (InstructionIndex o : instruction.operands) {
    bytes += static_cast<double>(computation.At(o).shape->ByteSize());
  }
  // A slice reads what it takes, an update writes what it brings.
  if (instruction.opcode == Opcode::kSlice || instruction.opcode == Opcode::kDynamicSlice ||
      instruction.opcode == Opcode::kGather) {
    bytes = 2 * static_cast<double>(instruction.shape->ByteSize());
  } else if (instruction.opcode == Opcode::kDynamicUpdateSlice) {
    bytes = 2 * static_cast<double>(OperandShape(computation, instruction, 1).ByteSize());
  }
  const double memory =
      machine.memory_bytes_per_second > 0 ? bytes / machine.memory_bytes_per_second : 0;
  const double arithmetic =
      machine.flops_per_second > 0
          ? FlopsOf(module, computation, instruction) / machine.flops_per_second
          : 0;
  return machine.seconds_per_kernel + std::max(memory, arithmetic);
}

}  // namespace hv
