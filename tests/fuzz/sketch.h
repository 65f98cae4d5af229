// A module as a list of lines that are easy to write and easy to spoil: what the laws write and the
// mutants edit. Operands go by name, groups and pairs are numbers, all else is text. Nothing is
// checked here; the product's parser and validator do that.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hlo/device_list.h"
#include "sim/mesh.h"

namespace hv {

using Extent = std::vector<int64_t>;
using Pairs = std::vector<std::pair<int64_t, int64_t>>;

// Who takes part in a collective, as written.
struct SketchGroups {
  Groups ids;            // empty: `{}`
  std::string spelling;  // instead of a list of ids: iota or mesh axes
  bool channel = false;
  bool global = false;  // use_global_device_ids
  friend bool operator==(const SketchGroups&, const SketchGroups&) = default;
};

struct SketchStep {
  std::string name;
  std::string opcode;
  std::string type;   // element type; of a tuple its whole shape
  Extent dims;        // of an array
  std::vector<std::string> operands;
  std::string inside;  // what stands in the parentheses of a parameter or constant
  std::vector<std::pair<std::string, std::string>> attributes;
  std::optional<SketchGroups> groups;
  std::optional<Pairs> pairs;
  int64_t channel_number = 0;  // 0: one of its own

  bool IsTuple() const { return type.starts_with('('); }
  std::string ShapeText() const;
  const std::string* Find(const std::string& key) const;
  void Set(const std::string& key, std::string value);
  void Drop(const std::string& key);
};

struct SketchBody {
  std::string name;
  std::vector<SketchStep> steps;
  std::string root;

  const SketchStep* Find(const std::string& name) const;
  SketchStep* Find(const std::string& name);
};

struct Sketch {
  Mesh mesh;
  bool scheduled = false;
  std::vector<SketchBody> bodies = {{"main", {}, ""}};  // ENTRY first, then callees before callers
  int64_t names = 0;                                    // given so far

  // "opcode.N", new.
  std::string NewName(const std::string& stem) { return stem + "." + std::to_string(names++); }
  // A new body, called "stem.N"; its number.
  size_t NewBody(const std::string& stem) {
    bodies.push_back({NewName(stem), {}, ""});
    return bodies.size() - 1;
  }
  // The module as HLO. A to_apply of "maximum_f32" stands for that reducer, which is written too.
  std::string Text() const;
};

std::string ShapeText(const std::string& type, const Extent& dims);
std::string Braced(const std::vector<int64_t>& list);  // "{1,2}"
std::vector<int64_t> NumbersIn(const std::string& text);
int64_t CountOf(const Extent& dims);

}  // namespace hv
