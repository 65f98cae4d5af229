// Recognises what a reducer computation computes.
#include "hlo/float_formats.h"
#include "hlo/op.h"

namespace hv {
namespace {

// Is every value of `narrow` a value of `wide`, of the same kind? Folding in the wide type and
// rounding back is then still the same reduction.
bool Widens(ElementType narrow, ElementType wide) {
  if (narrow == wide) return true;
  if (IsFloat(narrow) && IsFloat(wide)) {
    return LargestFinite(narrow) <= LargestFinite(wide) &&
           PrecisionBits(narrow) <= PrecisionBits(wide);
  }
  const bool same_kind = Traits(narrow).type_class == Traits(wide).type_class;
  return same_kind && BitWidth(narrow) < BitWidth(wide);
}

// The value behind any number of converts, and whether each of them widens (or narrows).
InstructionIndex BehindConverts(const Computation& computation, InstructionIndex index,
                                bool widening, bool* ok) {
  while (computation.At(index).opcode == Opcode::kConvert) {
    const InstructionIndex from = computation.At(index).operands[0];
    const ElementType a = computation.At(from).shape->type;
    const ElementType b = computation.At(index).shape->type;
    *ok = *ok && (widening ? Widens(a, b) : Widens(b, a));
    index = from;
  }
  return index;
}

bool IsAssociativeAndCommutative(ScalarFn fn) {
  switch (fn) {
    case ScalarFn::kAdd:
    case ScalarFn::kMultiply:
    case ScalarFn::kMaximum:
    case ScalarFn::kMinimum:
    case ScalarFn::kAnd:
    case ScalarFn::kOr:
    case ScalarFn::kXor: return true;
    default: return false;
  }
}

}  // namespace

Reducer RecognizeReducer(const Module& module, ComputationIndex computation) {
  const Computation& body = module.At(computation);
  if (body.parameters.size() != 2) return {};
  bool ok = true;
  const Instruction& root = body.At(BehindConverts(body, body.root, /*widening=*/false, &ok));
  const ScalarFn fn = Definition(root).scalar;
  if (!ok || !IsAssociativeAndCommutative(fn)) return {};
  const InstructionIndex a = BehindConverts(body, root.operands[0], /*widening=*/true, &ok);
  const InstructionIndex b = BehindConverts(body, root.operands[1], /*widening=*/true, &ok);
  const InstructionIndex p = body.parameters[0], q = body.parameters[1];
  if (!ok || !((a == p && b == q) || (a == q && b == p))) return {};
  // The parameters' type is the result's: a reducer that only widens is no fold.
  if (body.At(p).shape->type != body.Root().shape->type) return {};
  return {fn, root.shape->type};
}

}  // namespace hv
