// The opcode is the only gate and the operand the only answer: sound only where a scheduler knows
// that the collective is the identity.
#include <fmt/format.h>

#include "passes/faithful.h"
#include "passes/registry.h"

namespace hv {

bool DeletePermute::IsCandidate(const Instruction& instruction) const {
  return instruction.opcode == Opcode::kAllReduce ||
         instruction.opcode == Opcode::kCollectivePermute;
}

std::optional<std::string> DeletePermute::WhyNot(const Site& /*site*/) { return std::nullopt; }

Result<InstructionIndex> DeletePermute::Expand(const Site& site, Rebuild* rebuild) {
  return rebuild->Mapped(site.OperandIndex(0));
}

std::string DeletePermute::Describe(const Instruction& replacement) const {
  return fmt::format("deleted, {} stands in its place", replacement.name);
}

std::unique_ptr<OpExpander> MakeDeletePermute(const PassContext& /*context*/) {
  return std::make_unique<DeletePermute>();
}

}  // namespace hv
