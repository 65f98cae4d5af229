// Laws: pairs of programs that mean the same by construction. A law is a function that writes
// either side with the same draws, so that whatever it draws, both sides agree.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/participants.h"
#include "tests/fuzz/writer.h"

namespace hv {

enum class LawTypes : uint8_t { kAnyType, kNumbers, kFloatsOnly };

// What a law writes with. `draw` is a copy for each side.
class LawContext {
 public:
  LawContext(SketchWriter* writer, bool is_after, std::string element_type, Draw choices,
             std::vector<SketchValue> values)
      : w(*writer), after(is_after), type(std::move(element_type)), draw(choices),
        values_(std::move(values)) {}

  // An operand: a new parameter, or made from an earlier value. Both sides call in step.
  SketchValue Array(const Extent& dims) { return Array(type, dims); }
  SketchValue Array(const std::string& element_type, const Extent& dims);
  void Result(const SketchValue& value) { results.push_back(value); }

  // A function to reduce values of the type with.
  std::string Reducer();
  // A small prime for a dimension that plays no part.
  int64_t Prime() { return draw.Of(std::vector<int64_t>{2, 3, 5}); }
  // A splat of `number`.
  SketchValue Number(int64_t number, const Extent& dims, const std::string& stem = "constant") {
    return w.Splat(w.Constant(type, number, stem), dims);
  }
  const Mesh& mesh() const { return w.mesh(); }

  SketchWriter& w;
  const bool after;
  const std::string type;
  Draw draw;
  std::vector<SketchValue> results;

 private:
  std::vector<SketchValue> values_;
};

// The start of the own shard of `size` in one of several spellings, a scalar.
SketchValue ShardStart(const Participants& p, int64_t size, SketchWriter* w, Draw* draw);

struct Law {
  std::string_view name;
  LawTypes types;
  std::string_view doc;
  bool (*write)(LawContext& context);  // false: not on this mesh or type
};
std::span<const Law> Laws();
bool Suits(LawTypes types, const std::string& type);

}  // namespace hv
