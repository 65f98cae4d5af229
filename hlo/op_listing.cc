#include "hlo/op_listing.h"

#include <fmt/format.h>

#include "hlo/op_rounding.h"

namespace hv {
namespace {

constexpr std::string_view kHead =
    R"(# The ops

Generated from the op table (`run_hlo --list-ops`); a test compares. Every op is read, printed and
validated; *kernel* says how it is computed.

- arity: number of operands; `2+` means two or more.
- attributes: in printing order, `*` marks those that must be there. Besides, any instruction may carry
  sharding, frontend_attributes, control-predecessors, metadata, backend_config, statistics, origin and
  parameter_replication.
- tier: 1 is needed by rewrites of collectives, 2 occurs in partitioned training steps, 3 is the rest,
  X needs a target or a host.
- domains: `all` ops are computed on HLO's own types, on the codes of exact runs and on the prover's terms;
  `native` ones on HLO's types alone: elsewhere they are functions of which only this is known, that equal
  operands give equal results (`hidden` ones are refused there). `none`: refused, with the op's name.
- exactness between implementations: `exact` results have the same bits everywhere, `rounded` are one correct
  rounding, `library` may differ by a few units in the last place, `order` depends on the order of
  accumulation, `none` is not reproducible.
- rounding here: how far a native result may be from the exact one. "ulp" is a unit in the last place, of f32
  and of each part of c64. Floats below 32 bits compute in f32 and round once more; c128 results are within
  8 ulp of the number as a whole.
- names in parentheses are headings of XLA's operation semantics.

| op | arity | attributes | kernel | domains | tier | exactness | rounding here | types | meaning |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
)";

struct TypeName {
  TypeSet set;
  std::string_view name;
};
constexpr TypeName kTypeNames[] = {{kPreds, "pred"},
                                   {kIntegers, "integer"},
                                   {kSigneds, "signed"},
                                   {kFloats, "float"},
                                   {kComplexes, "complex"}};

}  // namespace

std::string_view ToString(KernelKind kernel) {
  switch (kernel) {
    case KernelKind::kSource: return "source";
    case KernelKind::kScalar: return "scalar";
    case KernelKind::kView: return "view";
    case KernelKind::kAlias: return "alias";
    case KernelKind::kGather: return "gather";
    case KernelKind::kScatter: return "scatter";
    case KernelKind::kReduce: return "reduce";
    case KernelKind::kWindow: return "window";
    case KernelKind::kContract: return "contract";
    case KernelKind::kCollective: return "collective";
    case KernelKind::kDone: return "done";
    case KernelKind::kRegion: return "region";
    case KernelKind::kOpaque: return "opaque";
    case KernelKind::kHidden: return "hidden";
    case KernelKind::kRefused: return "refused";
  }
  return "";
}

std::string_view ToString(Exactness exactness) {
  switch (exactness) {
    case Exactness::kExact: return "exact";
    case Exactness::kRounded: return "rounded";
    case Exactness::kLibrary: return "library";
    case Exactness::kOrder: return "order";
    case Exactness::kNone: return "none";
  }
  return "";
}

std::string_view ToString(Tier tier) {
  constexpr std::string_view kNames[] = {"1", "2", "3", "X"};
  return kNames[static_cast<size_t>(tier)];
}

std::string ArityOf(const OpDef& def) {
  return fmt::format("{}{}", def.min_operands, def.max_operands < 0 ? "+" : "");
}

std::string AttributesOf(const OpDef& def) {
  std::string text;
  for (const AttrSpec& spec : def.attributes) {
    if (!text.empty()) text += ", ";
    text += Row(spec.key).text;
    if (spec.required) text += '*';
  }
  return text;
}

std::string TypesOf(const OpDef& def) {
  if (!def.types.empty()) return std::string(def.types);
  if (def.accepts == kArrays) return "any array";
  std::string text;
  TypeSet named = 0;
  for (const TypeName& type : kTypeNames) {
    if ((def.accepts & type.set) != type.set || (named & type.set) != 0) continue;
    named |= type.set;
    if (!text.empty()) text += ", ";
    text += type.name;
  }
  return text;
}

namespace {

// Scalar functions that codes and terms have arithmetic or rules for.
bool IsKnownEverywhere(ScalarFn fn) {
  switch (fn) {
    case ScalarFn::kAdd:
    case ScalarFn::kAnd:
    case ScalarFn::kBitcastConvert:
    case ScalarFn::kClamp:
    case ScalarFn::kCompare:
    case ScalarFn::kComplex:
    case ScalarFn::kConvert:
    case ScalarFn::kDivide:
    case ScalarFn::kMaximum:
    case ScalarFn::kMinimum:
    case ScalarFn::kMultiply:
    case ScalarFn::kNegate:
    case ScalarFn::kNot:
    case ScalarFn::kOr:
    case ScalarFn::kReal:
    case ScalarFn::kReducePrecision:
    case ScalarFn::kSelect:
    case ScalarFn::kSubtract:
    case ScalarFn::kXor: return true;
    default: return false;
  }
}

}  // namespace

std::string_view DomainsOf(const OpDef& def) {
  switch (def.kernel) {
    case KernelKind::kRefused: return "none";
    case KernelKind::kHidden:
    case KernelKind::kOpaque: return "native";
    case KernelKind::kScalar: return IsKnownEverywhere(def.scalar) ? "all" : "native";
    default: return "all";
  }
}

std::string OpTableMarkdown() {
  std::string text(kHead);
  for (int op = 0; op < kOpcodeCount; ++op) {
    const OpDef& def = Definition(static_cast<Opcode>(op));
    text += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |\n", ToString(def.opcode),
                        ArityOf(def), AttributesOf(def), ToString(def.kernel), DomainsOf(def),
                        ToString(def.tier), ToString(def.exactness), RoundingOf(def), TypesOf(def),
                        def.doc);
  }
  return text;
}

}  // namespace hv
