// Ops over windows of native values.
#include "eval/native_kernels.h"

namespace hv {

Result<Value> NativeWindow(const KernelCall& call, std::vector<Value> operands) {
  static_cast<void>(operands);
  return NotImplemented(call);
}

}  // namespace hv
