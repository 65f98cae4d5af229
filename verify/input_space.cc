#include "verify/input_space.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <unordered_map>

#include "base/check.h"
#include "verify/element_text.h"

namespace hv {
namespace {

void AppendArrays(const Shape* shape, std::vector<const Shape*>* arrays) {
  if (shape->IsArray()) arrays->push_back(shape);
  for (const Shape* element : shape->elements) AppendArrays(element, arrays);
}

// Rebuilds one parameter from its slots, counted on from *slot.
Result<Value> BuildArgument(const Shape* shape, const InputSpace& space, int64_t device,
                            const SlotFill& fill, int64_t* slot) {
  if (shape->IsArray()) {
    const int64_t i = (*slot)++;
    return fill(shape, i, space.slot(i).representative[static_cast<size_t>(device)]);
  }
  if (!shape->IsTuple()) return Value::Token(shape);
  std::vector<Value> elements;
  for (const Shape* element : shape->elements) {
    HV_ASSIGN(Value value, BuildArgument(element, space, device, fill, slot));
    elements.push_back(std::move(value));
  }
  return Value::Tuple(shape, std::move(elements));
}

}  // namespace

InputSpace::InputSpace(const Module& before, const Mesh& mesh) : mesh_(mesh) {
  std::vector<int64_t> own(static_cast<size_t>(mesh.devices()));
  std::iota(own.begin(), own.end(), 0);
  for (InstructionIndex index : before.Entry().parameters) {
    const Instruction& parameter = before.Entry().At(index);
    const int64_t number = parameter_count_++;
    names_.emplace_back(parameter.name);
    std::vector<const Shape*> arrays;
    AppendArrays(parameter.shape, &arrays);
    for (const Shape* shape : arrays) {
      slots_.push_back({number, shape, elements_, own});
      elements_ += shape->element_count;
    }
  }
}

int64_t InputSpace::IdOf(const Leaf& leaf) const {
  return (slot(leaf.slot).first + leaf.element) * mesh_.devices() + leaf.device;
}

Leaf InputSpace::LeafOf(int64_t id) const {
  const int64_t element = id / mesh_.devices();
  const auto after =
      std::upper_bound(slots_.begin(), slots_.end(), element,
                       [](int64_t value, const InputSlot& s) { return value < s.first; });
  const int64_t index = after - slots_.begin() - 1;
  return {index, id % mesh_.devices(), element - slot(index).first};
}

bool InputSpace::IsOwn(const Leaf& leaf) const {
  return slot(leaf.slot).representative[static_cast<size_t>(leaf.device)] == leaf.device;
}

void InputSpace::Share(int64_t parameter, const std::vector<int64_t>& group_of_device) {
  HV_CHECK(group_of_device.size() == static_cast<size_t>(mesh_.devices()), "groups of devices");
  std::unordered_map<int64_t, int64_t> first;
  std::vector<int64_t> representative;
  for (size_t d = 0; d < group_of_device.size(); ++d) {
    representative.push_back(
        first.emplace(group_of_device[d], static_cast<int64_t>(d)).first->second);
  }
  for (InputSlot& s : slots_) {
    if (s.parameter == parameter) s.representative = representative;
  }
}

DeviceId InputSpace::RepresentativeOf(DeviceId device, int64_t parameter) const {
  const auto slot =
      std::lower_bound(slots_.begin(), slots_.end(), parameter,
                       [](const InputSlot& s, int64_t number) { return s.parameter < number; });
  if (slot == slots_.end() || slot->parameter != parameter) return device;
  return DeviceId(slot->representative[static_cast<size_t>(device.value)]);
}

InputElement InputSpace::Describe(const Leaf& leaf, std::string value) const {
  const InputSlot& s = slot(leaf.slot);
  return {mesh_.NameOf(DeviceId(leaf.device)), s.parameter,
          names_[static_cast<size_t>(s.parameter)], IndexOf(*s.shape, leaf.element),
          std::move(value)};
}

InputFn MakeInputs(const Module& module, const InputSpace& space, SlotFill fill) {
  HV_CHECK(static_cast<int64_t>(module.Entry().parameters.size()) == space.parameter_count(),
           "modules with different parameters");
  std::vector<const Shape*> shapes;
  std::vector<int64_t> first_slot;
  for (int64_t number = 0, slot = 0; number < space.parameter_count(); ++number) {
    const InstructionIndex index = module.Entry().parameters[static_cast<size_t>(number)];
    shapes.push_back(module.Entry().At(index).shape);
    first_slot.push_back(slot);
    while (slot < static_cast<int64_t>(space.slots().size()) &&
           space.slot(slot).parameter == number) {
      ++slot;
    }
  }
  return [shapes, first_slot, &space, fill = std::move(fill)](DeviceId device, int64_t parameter) {
    int64_t slot = first_slot[static_cast<size_t>(parameter)];
    return BuildArgument(shapes[static_cast<size_t>(parameter)], space, device.value, fill, &slot);
  };
}

}  // namespace hv
