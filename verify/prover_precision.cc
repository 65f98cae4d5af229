#include "verify/prover_precision.h"

#include <map>
#include <utility>
#include <vector>

#include "hlo/op.h"

namespace hv {
namespace {

// Bits of the significand: what decides which of two types is the more precise.
int Precision(ElementType type) {
  switch (ComponentType(type)) {
    case ElementType::kF64:
      return 53;
    case ElementType::kF32:
      return 24;
    case ElementType::kF16:
      return 11;
    case ElementType::kBF16:
      return 8;
    case ElementType::kF8E3M4:
      return 5;
    case ElementType::kF8E5M2:
    case ElementType::kF8E5M2FNUZ:
      return 3;
    default:
      return 4;
  }
}

bool Rounds(const Instruction& instruction) {
  const OpDef& op = Definition(instruction);
  if (!IsFloat(instruction.shape->type) && !IsComplex(instruction.shape->type)) return false;
  if (op.kernel == KernelKind::kScalar) {
    return op.exactness != Exactness::kExact || op.scalar == ScalarFn::kConvert ||
           op.scalar == ScalarFn::kReducePrecision;
  }
  return op.kernel == KernelKind::kReduce || op.kernel == KernelKind::kContract ||
         op.kernel == KernelKind::kWindow || instruction.opcode == Opcode::kAllReduce ||
         instruction.opcode == Opcode::kReduceScatter ||
         instruction.opcode == Opcode::kAllReduceStart;
}

using Rounding = std::pair<Opcode, ElementType>;

std::map<Rounding, std::vector<std::string_view>> RoundingsOf(const Module& module) {
  std::map<Rounding, std::vector<std::string_view>> roundings;
  for (const Computation& computation : module.computations) {
    for (const Instruction& instruction : computation.instructions) {
      if (!Rounds(instruction)) continue;
      roundings[{PlainOpcode(instruction.opcode), instruction.shape->type}].push_back(
          instruction.name);
    }
  }
  return roundings;
}

// Precision of what `a` has more of than `b`, lowest and highest, with the names.
struct Surplus {
  int lowest = 64, highest = 0;
  std::string names;
};

Surplus SurplusOf(const Module& a, const Module& b) {
  auto mine = RoundingsOf(a), theirs = RoundingsOf(b);
  Surplus surplus;
  for (const auto& [rounding, names] : mine) {
    if (rounding.first == Opcode::kConvert || names.size() <= theirs[rounding].size()) continue;
    const int precision = Precision(rounding.second);
    surplus.lowest = std::min(surplus.lowest, precision);
    surplus.highest = std::max(surplus.highest, precision);
    if (!surplus.names.empty()) surplus.names.append(", ");
    surplus.names.append(names.back()).append(" (").append(ToString(rounding.second)).append(")");
  }
  return surplus;
}

}  // namespace

std::string PrecisionChange(const Module& before, const Module& after) {
  const Surplus gone = SurplusOf(before, after), added = SurplusOf(after, before);
  if (gone.names.empty() && added.names.empty()) return {};
  std::string change = "mixed";
  if (gone.names.empty() || added.names.empty()) {
    change = "mixed";
  } else if (added.lowest > gone.highest) {
    change = "wider";
  } else if (added.highest < gone.lowest) {
    change = "narrower";
  } else if (added.lowest == gone.lowest && added.highest == gone.highest &&
             added.lowest == added.highest) {
    return {};
  }
  if (!gone.names.empty()) change.append(": ").append(gone.names);
  if (!added.names.empty())
    change.append(gone.names.empty() ? ": " : " became ").append(added.names);
  return change;
}

}  // namespace hv
