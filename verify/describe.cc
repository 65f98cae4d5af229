#include "verify/describe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

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
      return fmt::format("{}, seed {}, trial {}",
                         input.values == NativeInput::Values::kRealNumbers ? "random reals"
                         : input.values == NativeInput::Values::kDictionary
                             ? "constants of the modules"
                             : "random integers",
                         input.seed, input.trial);
  }
  if (!input.active || input.active->size() > kMostElements) {
    return fmt::format("every element is {}, but {} of them {}", input.base,
                       input.active ? input.active->size() : 0, input.fixed);
  }
  if (input.active->empty()) return fmt::format("every element is {}", input.base);
  return fmt::format("every element is {} but for these", input.base);
}

// One element of a parameter, or the constant part, on the devices whose share is wrong alike.
struct WrongElement {
  std::string name;  // "x[2]"
  int64_t times = 1;
  std::vector<std::string> devices;
};

std::vector<WrongElement> ByElement(const InputSpace& space, const std::vector<WrongSummand>& wrong,
                                    bool missing) {
  std::vector<WrongElement> elements;
  for (const WrongSummand& w : wrong) {
    if ((w.excess < 0) != missing) continue;
    WrongElement own{"the constant 1", std::abs(w.excess), {}};
    if (w.leaf != WrongSummand::kConstant) {
      const InputElement element = space.Describe(space.LeafOf(w.leaf), "");
      own.name = element.parameter_name;
      if (!element.index.empty()) own.name += fmt::format("[{}]", fmt::join(element.index, ","));
      own.devices.push_back(element.device);
    }
    const auto same = std::find_if(elements.begin(), elements.end(), [&](const WrongElement& e) {
      return e.name == own.name && e.times == own.times;
    });
    if (same == elements.end()) {
      elements.push_back(std::move(own));
    } else {
      same->devices.push_back(own.devices[0]);
    }
  }
  return elements;
}

// "x[2] of devices 0,1 and 0,3, 2 times"; a handful at most, by name.
std::string InWords(const InputSpace& space, const std::vector<WrongElement>& elements) {
  constexpr size_t kMost = 4;
  std::vector<std::string> texts;
  for (const WrongElement& e : elements) {
    std::string text = e.name;
    const auto count = e.devices.size();
    if (count == 1) {
      text += " of device " + e.devices[0];
    } else if (static_cast<int64_t>(count) == space.mesh().devices()) {
      text += " of all devices";
    } else if (count > kMost) {
      text += fmt::format(" of {} devices, {} the first", count, e.devices[0]);
    } else if (count > 1) {
      text += fmt::format(" of devices {}", fmt::join(e.devices, " and "));
    }
    if (e.times > 1) text += fmt::format(", {} times", e.times);
    texts.push_back(std::move(text));
  }
  const size_t more = texts.size() > kMost ? texts.size() - kMost : 0;
  texts.resize(texts.size() - more);
  return fmt::format("{}", fmt::join(texts, "; ")) +
         (more > 0 ? fmt::format("; {} more", more) : "");
}

}  // namespace

std::string ExplainSummands(const InputSpace& space, DeviceId reader,
                            const std::vector<WrongSummand>& wrong) {
  const bool unit = wrong.size() == 1 && std::abs(wrong[0].excess) == 1;
  if (wrong.empty() || (unit && wrong[0].leaf != WrongSummand::kConstant)) return "";
  const std::vector<WrongElement> missing = ByElement(space, wrong, true),
                                  excess = ByElement(space, wrong, false);
  const std::string device = "device " + space.mesh().NameOf(reader);
  const bool swapped = missing.size() == 1 && excess.size() == 1 &&
                       missing[0].times == excess[0].times &&
                       missing[0].devices.size() == excess[0].devices.size();
  if (swapped) {
    return fmt::format("{} takes {} in place of {}", device, InWords(space, excess),
                       InWords(space, missing));
  }
  std::string text = device;
  if (!missing.empty()) text += " misses " + InWords(space, missing);
  if (!missing.empty() && !excess.empty()) text += ", and";
  if (!excess.empty()) text += " has in excess " + InWords(space, excess);
  return text;
}

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
