// What becomes of the sizes in modules whose groups lose members. What one device holds by itself
// stays; what is made of the parts of a group (the result of an all-gather, the operand of a
// reduce-scatter) shrinks with it, and with it every dimension that must be as large. Dimensions
// are unknowns, ops relate them ("this one is q times that one"), and a contradiction is a reason
// to give up.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "verify/sub_mesh.h"

namespace hv {

class DimensionScales {
 public:
  // Modules on one mesh with equal ENTRY shapes. Nothing, and `*why` in words, if there is no way.
  static std::optional<DimensionScales> Solve(std::span<const Module* const> modules,
                                              const Mesh& mesh, const SubMesh& part,
                                              std::string* why);

  // The shape that an instruction takes on.
  const Shape* ShapeOf(size_t module, ComputationIndex computation, InstructionIndex instruction,
                       ShapeTable* shapes) const;

 private:
  friend class ScaleSolver;
  const Shape* Scaled(const Shape& shape, size_t* next, ShapeTable* shapes) const;

  std::vector<const Module*> modules_;
  std::vector<std::vector<std::vector<size_t>>> first_;  // unknown of an instruction
  std::vector<int64_t> sizes_;                           // by unknown
};

}  // namespace hv
