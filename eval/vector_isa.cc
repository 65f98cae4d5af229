#include "eval/vector_isa.h"

#include <algorithm>

namespace hv {
namespace {

Isa MachineIsa() {
#if HV_X86
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return Isa::kBase;
  const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return wide ? Isa::kAvx512 : Isa::kAvx2;
#else
  return Isa::kBase;
#endif
}

Isa limit = Isa::kAvx512;

}  // namespace

Isa UsableIsa() {
  static const Isa machine = MachineIsa();
  return std::min(machine, limit);
}

void LimitIsa(Isa widest) { limit = widest; }

}  // namespace hv
