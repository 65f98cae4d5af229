// dot and its relatives on native values.
#include <utility>

#include "eval/dot.h"
#include "eval/native_kernels.h"
#include "eval/ragged_dot.h"

namespace hv {

Result<Value> NativeContract(const KernelCall& call, std::vector<Value> operands) {
  switch (call.instruction.opcode) {
    case Opcode::kDot:
      if (call.instruction.Has(Attr::kSparsity)) return NotImplemented(call, "sparsity");
      return NativeDot(call, operands[0], operands[1]);
    case Opcode::kRaggedDot:
      return NativeRaggedDot(call, operands);
    case Opcode::kScaledDot:
      return NativeScaledDot(call, operands);
    default:
      return NotImplemented(call);
  }
}

}  // namespace hv
