#include "verify/symbolic_key.h"

#include "hlo/attribute_printer.h"
#include "hlo/op.h"

namespace hv {
namespace {

void AppendComputation(const Module& module, ComputationIndex index, std::string* key);

bool IsOwn(const OpDef& op, Attr attr) {
  for (const AttrSpec& spec : op.attributes) {
    if (spec.key == attr) return attr != Attr::kChannelId;
  }
  return false;
}

// Says who takes part, or how a layout is kept: no part of what a member computes.
bool SaysWho(Attr attr) {
  return attr == Attr::kReplicaGroups || attr == Attr::kSourceTargetPairs ||
         attr == Attr::kUseGlobalDeviceIds || attr == Attr::kConstrainLayout;
}

void AppendAttributes(const Module& module, const Instruction& instruction, bool with_groups,
                      std::string* key) {
  const OpDef& op = Definition(instruction);
  for (const Attribute& a : instruction.attributes) {
    if (!IsOwn(op, a.key) || (!with_groups && SaysWho(a.key))) continue;
    const AttrKind kind = Row(a.key).kind;
    key->append(",");
    if (kind == AttrKind::kComputation) {
      key->append(Row(a.key).text);
      AppendComputation(module, static_cast<ComputationIndex>(a.integer), key);
    } else if (kind == AttrKind::kComputations) {
      key->append(Row(a.key).text);
      for (ComputationIndex c : instruction.List<ComputationIndex>(a.key)) {
        AppendComputation(module, c, key);
      }
    } else {
      AppendAttribute(module, module.Entry(), instruction, a, key);
    }
  }
  if (instruction.opcode == Opcode::kCustomCall) {
    key->append(instruction.Text(Attr::kBackendConfig));
  }
}

void AppendOp(const Module& module, const Instruction& instruction, std::string* key) {
  key->append(ToString(instruction.opcode));
  AppendShape(*instruction.shape, false, key);
  if (instruction.parameter_number >= 0) {
    key->append("#").append(std::to_string(instruction.parameter_number));
  }
  if (instruction.literal != nullptr) AppendLiteral(*instruction.literal, key);
  AppendAttributes(module, instruction, true, key);
}

void AppendComputation(const Module& module, ComputationIndex index, std::string* key) {
  const Computation& computation = module.At(index);
  key->append("{");
  for (const Instruction& instruction : computation.instructions) {
    AppendOp(module, instruction, key);
    key->append("(");
    for (InstructionIndex o : instruction.operands) key->append(std::to_string(o)).append(" ");
    key->append(")");
  }
  key->append("}").append(std::to_string(computation.root));
}

}  // namespace

std::string OpKey(const Module& module, const Instruction& instruction) {
  std::string key;
  AppendOp(module, instruction, &key);
  return key;
}

void AppendOwnAttributes(const Module& module, const Instruction& instruction, std::string* key) {
  AppendAttributes(module, instruction, false, key);
}

std::string ScalarAttributes(const Instruction& instruction, ElementType operand) {
  switch (instruction.opcode) {
    case Opcode::kCompare: {
      std::string text(instruction.Text(Attr::kCompareDirection));
      if (instruction.Text(Attr::kCompareType) == "TOTALORDER") text += " TOTALORDER";
      return text;
    }
    case Opcode::kReducePrecision:
      return "e" + std::to_string(instruction.Int(Attr::kExponentBits, 0)) + "m" +
             std::to_string(instruction.Int(Attr::kMantissaBits, 0));
    case Opcode::kBitcast:
    case Opcode::kBitcastConvert:
    case Opcode::kStochasticConvert:
      return "from " + std::string(ToString(operand));
    default:
      return {};
  }
}

}  // namespace hv
