// Which devices certainly hold the same bits of a value, for every value of one module, without
// running it: a partition of the devices follows from the partitions of the operands and, for
// collectives, from the groups. Small values that follow from constants and device ids are
// computed. Loop states start from what the loop is given and are refined until nothing changes.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "eval/domain.h"
#include "sim/mesh.h"
#include "verify/value_numbering.h"

namespace hv {

// By device: the lowest device that holds the same.
using SameDevices = std::vector<int32_t>;

class DeviceSameness {
 public:
  // The device whose ENTRY argument stands for that of a device; null: all are independent.
  using Representative = std::function<DeviceId(DeviceId device, int64_t parameter)>;

  // Of the values that `roots` need; asked before anything is merged.
  DeviceSameness(const ValueGraph& graph, const Module& module, Side side, const Mesh& mesh,
                 const Representative& representative, const std::vector<ValueId>& roots);

  // Contexts in which a value is computed: 0 is ENTRY, each execution of a loop body, condition or
  // branch under other arguments one more.
  const std::vector<int>& ContextsOf(ValueId value) const;
  // All different if the value is not computed in that context.
  const SameDevices& Of(int context, ValueId value) const;
  int PartitionOf(int context, ValueId value) const;  // equal numbers: equal partitions
  const SameDevices& Partition(int number) const { return *partitions_[Index(number)]; }
  // Does every loop or conditional that runs collectives go the same way on all devices?
  bool loops_agree() const { return loops_agree_; }

 private:
  using Context = std::unordered_map<ValueId, int>;
  // Per device, or one for all.
  using ControlValues = std::vector<Value>;
  static size_t Index(int i) { return static_cast<size_t>(i); }

  int Intern(SameDevices devices);
  int Meet(int a, int b);
  int Merged(const std::vector<int64_t>& class_of_device);
  // Partitions of `roots` where arguments have the partitions `arguments`.
  std::vector<int> Evaluate(const std::vector<ValueId>& roots, const std::vector<int>& arguments,
                            bool record);
  std::vector<size_t> NodesBelow(const std::vector<ValueId>& roots) const;
  std::vector<int> Results(const ValueNode& node, const Context& context,
                           const std::vector<int>& arguments, bool record);
  std::vector<int> OfParameter(const ValueNode& node);
  std::vector<int> OfLoop(const ValueNode& node, const Context& context, bool record);
  std::vector<int> OfConditional(const ValueNode& node, const Context& context, bool record);
  int OfCollective(const ValueNode& node, int operand);
  int OfControl(const ValueNode& node, int of_operands);
  const ControlValues* ControlOf(const ValueNode& node);
  ControlValues ComputeControl(const ValueNode& node);
  std::vector<int> OperandsOf(const ValueNode& node, const Context& context) const;
  std::vector<int> CallOf(ValueId function, const std::vector<int>& arguments, bool record);

  const ValueGraph& graph_;
  const Module& module_;
  const Side side_;
  const Mesh mesh_;
  const Representative& representative_;
  std::map<SameDevices, int> numbers_;
  std::vector<const SameDevices*> partitions_;
  int all_same_ = 0, all_different_ = 0;
  std::map<std::pair<int, int>, int> meets_;
  std::map<std::tuple<Opcode, const Grouping*, int>, int> collectives_;
  std::unique_ptr<Domain> native_ = MakeNativeDomain();
  std::unordered_map<ValueId, ControlValues> control_;  // by first value of the node
  std::map<std::pair<ValueId, std::vector<int>>, std::vector<int>> calls_;
  std::vector<Context> contexts_;
  std::unordered_map<ValueId, std::vector<int>> contexts_of_;
  bool loops_agree_ = true;
};

}  // namespace hv
