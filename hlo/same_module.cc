// Structural equality of modules: everything but names and the text's form.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "hlo/attribute_printer.h"
#include "hlo/printer.h"

namespace hv {
namespace {

bool SameOptionalShape(const Shape* a, const Shape* b) {
  return a == nullptr || b == nullptr ? a == b : SameShapeAndLayout(*a, *b);
}

bool SameList(const Attribute& a, const Attribute& b, size_t element_size) {
  return a.size == b.size &&
         (a.size == 0 || std::memcmp(a.data, b.data, a.size * element_size) == 0);
}

// Attribute values that name nothing are equal if they print alike; printing is canonical.
bool SamePrinted(const Module& m, const Computation& c, const Instruction& i, const Attribute& a,
                 const Module& n, const Computation& d, const Instruction& j, const Attribute& b) {
  std::string left, right;
  AppendAttribute(m, c, i, a, &left);
  AppendAttribute(n, d, j, b, &right);
  return left == right;
}

// Elided constants stay elided; under one name and shape they are taken to be the same value.
bool SameConstant(const Literal* a, const Literal* b) {
  if (a == nullptr || b == nullptr) return a == b;
  if (a->elided && b->elided) return SameShape(*a->shape, *b->shape);
  if (a->elements.size() != b->elements.size()) return false;
  if (a->elements.empty()) return SameLiteral(*a, *b);
  for (size_t i = 0; i < a->elements.size(); ++i) {
    if (!SameConstant(a->elements[i], b->elements[i])) return false;
  }
  return true;
}

class Comparison {
 public:
  Comparison(const Module& a, const Module& b, std::string* why) : a_(a), b_(b), why_(why) {}

  bool Run() {
    if (a_.computations.size() != b_.computations.size()) return Differ("number of computations");
    if (a_.entry != b_.entry) return Differ("entry computation");
    if (!SameHeader()) return Differ("header");
    for (size_t i = 0; i < a_.computations.size(); ++i) {
      if (!SameComputation(a_.computations[i], b_.computations[i])) return false;
    }
    return true;
  }

 private:
  bool Differ(std::string what) {
    if (why_ != nullptr) *why_ = std::move(what);
    return false;
  }

  bool SameHeader() const {
    const auto same_shapes = [](const Shape* x, const Shape* y) { return SameOptionalShape(x, y); };
    if (a_.is_scheduled != b_.is_scheduled || a_.replicas() != b_.replicas() ||
        a_.partitions() != b_.partitions() || a_.header.size() != b_.header.size() ||
        !SameOptionalShape(a_.entry_result_layout, b_.entry_result_layout) ||
        !std::equal(a_.entry_parameter_layouts.begin(), a_.entry_parameter_layouts.end(),
                    b_.entry_parameter_layouts.begin(), b_.entry_parameter_layouts.end(),
                    same_shapes)) {
      return false;
    }
    return std::all_of(a_.header.begin(), a_.header.end(), [this](const HeaderAttribute& x) {
      return std::any_of(b_.header.begin(), b_.header.end(), [&x](const HeaderAttribute& y) {
        return x.key == y.key && (x.value == y.value || x.key == "entry_computation_layout");
      });
    });
  }

  bool SameComputation(const Computation& c, const Computation& d) {
    const auto where = [&c](std::string_view what) {
      return fmt::format("{} of computation '{}'", what, c.name);
    };
    if (c.instructions.size() != d.instructions.size()) return Differ(where("size"));
    if (c.root != d.root) return Differ(where("root"));
    if (c.execution_thread != d.execution_thread) return Differ(where("execution thread"));
    for (size_t i = 0; i < c.instructions.size(); ++i) {
      const char* what = InstructionDifference(c, c.instructions[i], d, d.instructions[i]);
      if (what == nullptr) continue;
      return Differ(
          fmt::format("{} of '{}' in computation '{}'", what, c.instructions[i].name, c.name));
    }
    return true;
  }

  // What differs; null if nothing does.
  const char* InstructionDifference(const Computation& c, const Instruction& i,
                                    const Computation& d, const Instruction& j) const {
    if (i.opcode != j.opcode) return "opcode";
    if (!SameShapeAndLayout(*i.shape, *j.shape)) return "shape";
    if (!std::equal(i.operands.begin(), i.operands.end(), j.operands.begin(), j.operands.end())) {
      return "operands";
    }
    if (i.parameter_number != j.parameter_number) return "parameter number";
    if (!SameConstant(i.literal, j.literal)) return "literal";
    if (i.literal != nullptr && i.literal->elided && i.name != j.name) return "elided constant";
    if (i.attributes.size() != j.attributes.size()) return "attributes";
    for (size_t k = 0; k < i.attributes.size(); ++k) {
      if (!SameAttribute(c, i, i.attributes[k], d, j, j.attributes[k])) return "an attribute";
    }
    return nullptr;
  }

  bool SameAttribute(const Computation& c, const Instruction& i, const Attribute& x,
                     const Computation& d, const Instruction& j, const Attribute& y) const {
    if (x.key != y.key) return false;
    switch (Row(x.key).kind) {
      case AttrKind::kComputation:
      case AttrKind::kBool:
      case AttrKind::kInt:
        return x.integer == y.integer;
      case AttrKind::kComputations:
        return SameList(x, y, sizeof(ComputationIndex));
      case AttrKind::kInstructions:
        return SameList(x, y, sizeof(InstructionIndex));
      default:
        return SamePrinted(a_, c, i, x, b_, d, j, y);
    }
  }

  const Module& a_;
  const Module& b_;
  std::string* why_;
};

}  // namespace

bool SameModule(const Module& a, const Module& b, std::string* why) {
  return Comparison(a, b, why).Run();
}

}  // namespace hv
