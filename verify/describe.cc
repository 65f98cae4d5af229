#include "verify/describe.h"

#include <fmt/format.h>

#include "verify/element_text.h"

namespace hv {
namespace {

constexpr size_t kMostElements = 64;  // listed one by one

void AppendLeafShapes(const Shape* shape, std::vector<const Shape*>* leaves) {
  if (shape->IsArray()) leaves->push_back(shape);
  for (const Shape* element : shape->elements) AppendLeafShapes(element, leaves);
}

std::string ValueText(const NativeInput& input, const InputSpace& space, const Leaf& leaf) {
  Value value = Value::NewNative(space.slot(leaf.slot).shape);
  StoreNumber(LeafNumber(input, space, std::nullopt, leaf), leaf.element, &value);
  return ElementText(value, leaf.element);
}

std::string InputInWords(const NativeInput& input) {
  switch (input.values) {
    case NativeInput::Values::kExplicit:
      return "as given";
    case NativeInput::Values::kFixed:
      break;
    default:
      if (input.active && input.active->size() <= kMostElements) break;
      return fmt::format(
          "{}, seed {}, trial {}",
          input.values == NativeInput::Values::kRealNumbers ? "random reals" : "random integers",
          input.seed, input.trial);
  }
  if (!input.active || input.active->size() > kMostElements) {
    return fmt::format("every element is {}, but {} of them {}", input.base,
                       input.active ? input.active->size() : 0, input.fixed);
  }
  if (input.active->empty()) return fmt::format("every element is {}", input.base);
  return fmt::format("every element is {} but for these", input.base);
}

}  // namespace

Counterexample DescribeCounterexample(const Pair& pair, const InputSpace& space,
                                      const Refutation& refutation) {
  const NativeDifference& d = refutation.difference;
  Counterexample c;
  c.device = pair.mesh.NameOf(d.place.device);
  c.device_id = d.place.device.value;
  c.output = d.place.output;
  c.before = d.before;
  c.after = d.after;
  std::vector<const Shape*> leaves;
  AppendLeafShapes(pair.before.Entry().Root().shape, &leaves);
  c.index = IndexOf(*leaves[static_cast<size_t>(d.place.output)], d.place.element);
  const NativeInput& input = refutation.input;
  c.inputs = InputInWords(input);
  if (input.active && input.active->size() <= kMostElements) {
    for (int64_t id : *input.active) {
      const Leaf leaf = space.LeafOf(id);
      c.elements.push_back(space.Describe(leaf, ValueText(input, space, leaf)));
    }
  }
  c.explanation = ExplainUnit(space, refutation);
  return c;
}

void DescribeStall(const Mesh& mesh, const Stall& stall, CaseReport* report) {
  for (const Waiting& w : stall.waiting) {
    WaitingDevice device{mesh.NameOf(w.device), w.instruction, w.signature, {}};
    for (DeviceId d : w.waits_for) device.waits_for.push_back(mesh.NameOf(d));
    report->waiting.push_back(std::move(device));
  }
  for (DeviceId d : stall.cycle) report->cycle.push_back(mesh.NameOf(d));
  if (!stall.note.empty()) report->notes.push_back(stall.note);
}

}  // namespace hv
