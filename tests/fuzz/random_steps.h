// Random steps on arrays of a few elements: elementwise functions, movement, also by data,
// reductions, conditionals and collectives. Each step draws its operands from the values so far.
#pragma once

#include <string>
#include <vector>

#include "tests/fuzz/draw.h"
#include "tests/fuzz/writer.h"

namespace hv {

struct RandomStepOptions {
  std::vector<std::string> types = {"s8", "u8", "s32", "pred"};
  bool float_reductions = true;  // sums of floats over dimensions and devices
  bool exact_floats = false;     // only float functions that are exact on small integers
  bool float_products = true;    // without, small integers stay small
};

class RandomSteps {
 public:
  RandomSteps(SketchWriter* writer, RandomStepOptions options)
      : w_(*writer), options_(std::move(options)) {}

  // Writes a step, or nothing if the operand drawn does not suit the function drawn.
  void Step(Draw* draw);
  void Keep(const SketchValue& value) { items.push_back(value); }

  std::vector<SketchValue> items;  // what steps may read

 private:
  SketchValue Partner(const SketchValue& item, Draw* draw);
  bool Reduces(const SketchValue& a) const;
  std::string Reducer(const std::string& type, Draw* draw);
  void Elementwise(const SketchValue& a, int64_t kind, Draw* draw);
  void Movement(const SketchValue& a, int64_t kind, Draw* draw);
  void Binary(const SketchValue& a, Draw* draw);
  void Unary(const SketchValue& a, Draw* draw);
  void CompareAndSelect(const SketchValue& a, Draw* draw);
  void Convert(const SketchValue& a, Draw* draw);
  void Reshape(const SketchValue& a, Draw* draw);
  void Slice(const SketchValue& a, Draw* draw);
  void Pad(const SketchValue& a, Draw* draw);
  void Broadcast(const SketchValue& a, Draw* draw);
  void Window(const SketchValue& a, Draw* draw);
  SketchValue Integer(Draw* draw);
  void SliceByData(const SketchValue& a, Draw* draw);
  void Conditional(const SketchValue& a, Draw* draw);
  std::string Branch(const SketchValue& a, bool meets, Draw* draw);
  SketchGroups AllDevices() const;
  void Reduce(const SketchValue& a, Draw* draw);
  void Dot(const SketchValue& a, Draw* draw);
  void Collective(const SketchValue& a, Draw* draw);

  SketchWriter& w_;
  const RandomStepOptions options_;
};

}  // namespace hv
