// Gathers the op rows into the table and answers questions about opcodes.
#include "hlo/op.h"

#include <array>

#include "hlo/op_rows.h"

namespace hv {
namespace {

constinit const std::array<const OpDef*, kOpcodeCount> kTable = {
#define HV_OP(name, text) &k##name##Op,
#include "hlo/ops.def"
#undef HV_OP
};

}  // namespace

const OpDef& Definition(Opcode opcode) { return *kTable[static_cast<size_t>(opcode)]; }

bool HasSideEffect(const Instruction& instruction) {
  return Definition(instruction).side_effect || instruction.Bool(Attr::kHasSideEffect);
}

bool IsCollective(Opcode opcode) {
  return Definition(opcode).kernel == KernelKind::kCollective;
}

Opcode PlainOpcode(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAllGatherStart:
      return Opcode::kAllGather;
    case Opcode::kAllReduceStart:
      return Opcode::kAllReduce;
    case Opcode::kCollectivePermuteStart:
      return Opcode::kCollectivePermute;
    case Opcode::kCopyStart:
      return Opcode::kCopy;
    default:
      return opcode;
  }
}

}  // namespace hv
