// Mutants: the ways a collective rewrite goes wrong, each as an edit of one step of a right module.
// An edit may turn out harmless at its site; whether it does is for a proof to say.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fuzz/draw.h"
#include "tests/fuzz/writer.h"

namespace hv {

// One step of a sketch, to be spoilt. The step is known by its name, wherever edits move it.
class MutantSite {
 public:
  MutantSite(Sketch* whole, size_t in_body, std::string step_name, Draw choices)
      : sketch(*whole), draw(choices), body_(in_body), name_(std::move(step_name)) {}

  SketchBody& body() { return sketch.bodies[body_]; }
  SketchStep& step() { return *body().Find(name_); }
  size_t at();
  bool Is(std::string_view opcode) { return step().opcode == opcode; }
  // What the operand is made by; null if there is none such.
  SketchStep* Def(size_t operand);
  SketchStep* Find(const std::string& name) { return body().Find(name); }
  SketchValue Value() { return ValueOf(step()); }
  static SketchValue ValueOf(const SketchStep& s) { return {s.name, s.type, s.dims}; }
  SketchValue Operand(size_t i) { return ValueOf(*Def(i)); }
  // The number in a constant, or in a splat of one.
  std::optional<int64_t> Number(const SketchStep* s);

  // Writes before or after the step.
  SketchWriter Before() { return SketchWriter(&sketch, body_, at()); }
  SketchWriter After() { return SketchWriter(&sketch, body_, at() + 1); }
  // What comes after the step, or after what `w` has written, reads `value` instead of the step's.
  void ReadInstead(const SketchValue& value) { ReadFrom(at() + 1, value); }
  void ReadInstead(const SketchValue& value, const SketchWriter& w) { ReadFrom(w.at(), value); }
  size_t NumberOf(const std::string& name);

  Sketch& sketch;
  Draw draw;

 private:
  void ReadFrom(size_t from, const SketchValue& value);

  size_t body_;
  std::string name_;
};

struct Mutant {
  int number;
  std::string_view opcodes, marks, doc;
  bool (*spoil)(MutantSite& site);  // false: nothing to spoil here
};
std::span<const Mutant> AllMutants();

// A right module with one step spoilt.
struct Spoilt {
  const Mutant* mutant;
  std::string step;  // its name
  Sketch sketch;
};
// Everything that `mutant` does to `right`, one step at a time.
std::vector<Spoilt> SpoilEach(const Mutant& mutant, const Sketch& right, uint64_t seed);

}  // namespace hv
