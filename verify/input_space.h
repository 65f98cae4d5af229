// The inputs of a pair of modules as numbered leaves: every element of every array inside ENTRY's
// parameters, on every device, is one independent leaf; a claim makes devices share leaves. Fills
// make the arguments of a run (codes, native values) from leaf numbers alone, whatever the rank
// count.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "eval/value.h"
#include "hlo/module.h"
#include "sim/mesh.h"
#include "sim/run.h"
#include "verify/report_model.h"

namespace hv {

// One array inside a parameter.
struct InputSlot {
  int64_t parameter = 0;
  const Shape* shape = nullptr;         // of the module before
  int64_t first = 0;                    // elements of the slots before it
  std::vector<int64_t> representative;  // by device: whose leaves it shares; own number if nobody's
};

// A leaf, located.
struct Leaf {
  int64_t slot = 0;
  int64_t device = 0;  // representative
  int64_t element = 0;
};

class InputSpace {
 public:
  InputSpace(const Module& before, const Mesh& mesh);

  const Mesh& mesh() const { return mesh_; }
  const std::vector<InputSlot>& slots() const { return slots_; }
  const InputSlot& slot(int64_t i) const { return slots_[static_cast<size_t>(i)]; }
  int64_t parameter_count() const { return parameter_count_; }
  const std::string& ParameterName(int64_t parameter) const {
    return names_[static_cast<size_t>(parameter)];
  }
  // Numbers below which all leaf ids lie, shared ones counted for each device.
  int64_t id_count() const { return elements_ * mesh_.devices(); }
  int64_t IdOf(const Leaf& leaf) const;
  Leaf LeafOf(int64_t id) const;
  // Is the leaf somebody's own (not shared from another device)?
  bool IsOwn(const Leaf& leaf) const;

  // Devices with equal group numbers hold the same values of `parameter`.
  void Share(int64_t parameter, const std::vector<int64_t>& group_of_device);
  // The device whose `parameter` stands for that of `device`.
  DeviceId RepresentativeOf(DeviceId device, int64_t parameter) const;

  // "parameter 0 (x)[3] of device 0,1", the names in JSON.
  InputElement Describe(const Leaf& leaf, std::string value) const;

 private:
  Mesh mesh_;
  std::vector<InputSlot> slots_;
  std::vector<std::string> names_;  // of parameters
  int64_t parameter_count_ = 0;
  int64_t elements_ = 0;
};

// Makes the array of one slot for the device whose leaves it holds.
using SlotFill = std::function<Result<Value>(const Shape* shape, int64_t slot, int64_t device)>;

// Arguments of `module` (whose parameters have the space's shapes, layouts aside).
InputFn MakeInputs(const Module& module, const InputSpace& space, SlotFill fill);

}  // namespace hv
