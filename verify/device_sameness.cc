#include "verify/device_sameness.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "sim/collective_plan.h"

namespace hv {
namespace {

// Control values of this many elements and less are computed on every device.
constexpr int64_t kSmall = 4096;

bool IsControlArray(const ValueNode& node) {
  return node.control && node.kind == ValueKind::kInstruction && node.shape->IsArray() &&
         node.shape->element_count <= kSmall;
}

}  // namespace

DeviceSameness::DeviceSameness(const ValueGraph& graph, const Module& module, Side side,
                               const Mesh& mesh, const Representative& representative,
                               const std::vector<ValueId>& roots)
    : graph_(graph), module_(module), side_(side), mesh_(mesh), representative_(representative) {
  const size_t devices = static_cast<size_t>(mesh.devices());
  SameDevices different(devices);
  std::iota(different.begin(), different.end(), 0);
  all_same_ = Intern(SameDevices(devices, 0));
  all_different_ = Intern(std::move(different));
  Evaluate(roots, {}, true);
}

const std::vector<int>& DeviceSameness::ContextsOf(ValueId value) const {
  static const std::vector<int> kNone;
  const auto known = contexts_of_.find(value);
  return known == contexts_of_.end() ? kNone : known->second;
}

int DeviceSameness::PartitionOf(int context, ValueId value) const {
  const Context& values = contexts_[Index(context)];
  const auto known = values.find(value);
  return known == values.end() ? all_different_ : known->second;
}

const SameDevices& DeviceSameness::Of(int context, ValueId value) const {
  return Partition(PartitionOf(context, value));
}

int DeviceSameness::Intern(SameDevices devices) {
  const auto [entry, is_new] =
      numbers_.emplace(std::move(devices), static_cast<int>(partitions_.size()));
  if (is_new) partitions_.push_back(&entry->first);
  return entry->second;
}

// Devices with equal numbers are one class.
int DeviceSameness::Merged(const std::vector<int64_t>& class_of_device) {
  std::unordered_map<int64_t, int32_t> first;
  SameDevices same;
  same.reserve(class_of_device.size());
  for (size_t d = 0; d < class_of_device.size(); ++d) {
    same.push_back(first.emplace(class_of_device[d], static_cast<int32_t>(d)).first->second);
  }
  return Intern(std::move(same));
}

int DeviceSameness::Meet(int a, int b) {
  if (a == b || b == all_same_) return a;
  if (a == all_same_) return b;
  if (a > b) std::swap(a, b);
  const auto known = meets_.find({a, b});
  if (known != meets_.end()) return known->second;
  const SameDevices &x = Partition(a), &y = Partition(b);
  std::vector<int64_t> classes;
  for (size_t d = 0; d < x.size(); ++d) classes.push_back((int64_t{x[d]} << 32) | y[d]);
  return meets_[{a, b}] = Merged(classes);
}

// Ascending numbers: operands come before their users.
std::vector<size_t> DeviceSameness::NodesBelow(const std::vector<ValueId>& roots) const {
  std::unordered_map<size_t, bool> seen;
  std::vector<size_t> nodes, stack;
  const auto visit = [&](ValueId value) {
    const size_t n = graph_.NodeOf(value);
    if (graph_.node(n).kind == ValueKind::kFunction || !seen.emplace(n, true).second) return;
    nodes.push_back(n);
    stack.push_back(n);
  };
  for (const ValueId root : roots) visit(root);
  while (!stack.empty()) {
    const size_t n = stack.back();
    stack.pop_back();
    for (const ValueId operand : graph_.node(n).operands) visit(operand);
  }
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

std::vector<int> DeviceSameness::Evaluate(const std::vector<ValueId>& roots,
                                          const std::vector<int>& arguments, bool record) {
  const size_t number = contexts_.size();  // before those of the loops inside: ENTRY is number 0
  if (record) contexts_.emplace_back();
  Context context;
  for (const size_t n : NodesBelow(roots)) {
    const ValueNode& node = graph_.node(n);
    const std::vector<int> results = Results(node, context, arguments, record);
    for (int32_t r = 0; r < node.results; ++r) {
      context[node.first + r] = results[static_cast<size_t>(r)];
    }
  }
  std::vector<int> found;
  for (const ValueId root : roots) found.push_back(context.at(root));
  if (record) {
    for (const auto& [value, partition] : context) {
      contexts_of_[value].push_back(static_cast<int>(number));
    }
    contexts_[number] = std::move(context);
  }
  return found;
}

std::vector<int> DeviceSameness::OperandsOf(const ValueNode& node, const Context& context) const {
  std::vector<int> operands;
  for (const ValueId operand : node.operands) {
    const auto known = context.find(operand);
    if (known != context.end()) operands.push_back(known->second);  // all but functions
  }
  return operands;
}

std::vector<int> DeviceSameness::Results(const ValueNode& node, const Context& context,
                                         const std::vector<int>& arguments, bool record) {
  const size_t results = static_cast<size_t>(node.results);
  switch (node.kind) {
    case ValueKind::kParameter:
      return OfParameter(node);
    case ValueKind::kArgument:
      return arguments.size() == results ? arguments : std::vector<int>(results, all_different_);
    case ValueKind::kFunction:
    case ValueKind::kEffect:
      return std::vector<int>(results, all_different_);
    case ValueKind::kInstruction:
      break;
  }
  const Opcode opcode = PlainOpcode(node.instruction(side_).opcode);
  if (opcode == Opcode::kWhile) return OfLoop(node, context, record);
  if (opcode == Opcode::kConditional) return OfConditional(node, context, record);
  const std::vector<int> operands = OperandsOf(node, context);
  int all = all_same_;
  for (const int operand : operands) all = Meet(all, operand);
  if (!IsCollective(opcode)) {
    return std::vector<int>(results, node.control ? OfControl(node, all) : all);
  }
  const bool apart = operands.size() == results && opcode != Opcode::kAllToAll &&
                     opcode != Opcode::kRaggedAllToAll;  // result i comes of operand i
  std::vector<int> found;
  for (size_t r = 0; r < results; ++r) {
    found.push_back(OfCollective(node, apart ? operands[r] : all));
  }
  return found;
}

std::vector<int> DeviceSameness::OfParameter(const ValueNode& node) {
  int partition = all_different_;
  if (representative_) {
    const int64_t parameter = node.instruction(side_).parameter_number;
    std::vector<int64_t> classes;
    for (int64_t d = 0; d < mesh_.devices(); ++d) {
      classes.push_back(representative_(DeviceId(d), parameter).value);
    }
    partition = Merged(classes);
  }
  return std::vector<int>(static_cast<size_t>(node.results), partition);
}

std::vector<int> DeviceSameness::CallOf(ValueId function, const std::vector<int>& arguments,
                                        bool record) {
  const auto known = calls_.find({function, arguments});
  if (known != calls_.end() && !record) return known->second;
  return calls_[{function, arguments}] =
             Evaluate(graph_.DefinitionOf(function).operands, arguments, record);
}

std::vector<int> DeviceSameness::OfLoop(const ValueNode& node, const Context& context,
                                        bool record) {
  const size_t count = node.operands.size();
  const ValueId condition = node.operands[count - 2], body = node.operands[count - 1];
  std::vector<int> state = OperandsOf(node, context);
  for (bool changes = true; changes;) {
    changes = false;
    const std::vector<int> next = CallOf(body, state, false);
    for (size_t i = 0; i < state.size(); ++i) {
      const int met = Meet(state[i], next[i]);
      changes = changes || met != state[i];
      state[i] = met;
    }
  }
  const int turns = CallOf(condition, state, record)[0];
  CallOf(body, state, record);
  if (node.may_wait && turns != all_same_) loops_agree_ = false;
  for (int& partition : state) partition = Meet(partition, turns);
  return state;
}

std::vector<int> DeviceSameness::OfConditional(const ValueNode& node, const Context& context,
                                               bool record) {
  std::vector<int> operands = OperandsOf(node, context);
  const int selector = operands[0];
  if (node.may_wait && selector != all_same_) loops_agree_ = false;
  std::vector<int> results(static_cast<size_t>(node.results), selector);
  // Arguments come branch by branch, then the branches.
  size_t branches = 0;
  for (const ValueId operand : node.operands) {
    branches += graph_.DefinitionOf(operand).kind == ValueKind::kFunction ? 1 : 0;
  }
  const std::span<const ValueId> functions =
      std::span(node.operands).subspan(node.operands.size() - branches);
  const Instruction& conditional = node.instruction(side_);
  const Computation& caller = *node.source[static_cast<size_t>(side_)].computation;
  size_t next = 1;
  for (size_t b = 0; b < branches; ++b) {
    const Shape* argument = caller.At(conditional.operands[b + 1]).shape;
    const size_t leaves = DataLeaves(argument).size();
    const std::vector<int> arguments(operands.begin() + static_cast<ptrdiff_t>(next),
                                     operands.begin() + static_cast<ptrdiff_t>(next + leaves));
    next += leaves;
    const std::vector<int> found = CallOf(functions[b], arguments, record);
    for (size_t r = 0; r < results.size(); ++r) results[r] = Meet(results[r], found[r]);
  }
  return results;
}

// Members at the same place of groups that hold the same, member by member, receive the same; of an
// all-reduce, all-gather or broadcast all members of such groups do.
int DeviceSameness::OfCollective(const ValueNode& node, int operand) {
  const Opcode opcode = PlainOpcode(node.instruction(side_).opcode);
  const auto known = collectives_.find({opcode, node.grouping.get(), operand});
  if (known != collectives_.end()) return known->second;
  const Grouping& grouping = *node.grouping;
  const SameDevices& same = Partition(operand);
  std::vector<int64_t> classes(same.size(), -1);  // -1: takes no part
  if (opcode == Opcode::kCollectivePermute) {
    for (size_t d = 0; d < same.size(); ++d) {
      const int64_t source = grouping.source_of[d];
      if (source >= 0) classes[d] = same[static_cast<size_t>(source)];
    }
  } else {
    const bool shared = opcode == Opcode::kAllReduce || opcode == Opcode::kAllGather ||
                        opcode == Opcode::kCollectiveBroadcast;
    std::map<std::vector<int32_t>, int64_t> firsts;
    for (const std::vector<DeviceId>& group : grouping.groups) {
      std::vector<int32_t> held;
      for (const DeviceId member : group) held.push_back(same[static_cast<size_t>(member.value)]);
      const int64_t first = firsts.emplace(std::move(held), group[0].value).first->second;
      for (size_t k = 0; k < group.size(); ++k) {
        classes[static_cast<size_t>(group[k].value)] =
            (first << 32) | static_cast<int64_t>(shared ? 0 : k);
      }
    }
  }
  return collectives_[{opcode, node.grouping.get(), operand}] = Merged(classes);
}

// Small control values are compared; larger ones follow the ids that they are made of.
int DeviceSameness::OfControl(const ValueNode& node, int of_operands) {
  const ControlValues* values = ControlOf(node);
  if (values == nullptr) return of_operands;
  if (values->size() == 1) return all_same_;
  std::unordered_map<std::string, int64_t> numbers;
  std::vector<int64_t> classes;
  for (const Value& value : *values) {
    std::string bytes(reinterpret_cast<const char*>(value.bytes().data()), value.bytes().size());
    classes.push_back(
        numbers.emplace(std::move(bytes), static_cast<int64_t>(numbers.size())).first->second);
  }
  return Merged(classes);
}

// Null if it is large or cannot be computed.
const DeviceSameness::ControlValues* DeviceSameness::ControlOf(const ValueNode& node) {
  if (!IsControlArray(node)) return nullptr;
  auto known = control_.find(node.first);
  if (known == control_.end()) {
    ControlValues values = ComputeControl(node);
    known = control_.emplace(node.first, std::move(values)).first;
  }
  return known->second.empty() ? nullptr : &known->second;
}

DeviceSameness::ControlValues DeviceSameness::ComputeControl(const ValueNode& node) {
  const Instruction& instruction = node.instruction(side_);
  std::vector<const ControlValues*> operands;
  bool uniform =
      instruction.opcode != Opcode::kPartitionId && instruction.opcode != Opcode::kReplicaId;
  for (const ValueId operand : node.operands) {
    operands.push_back(ControlOf(graph_.DefinitionOf(operand)));
    if (operands.back() == nullptr) return {};
    uniform = uniform && operands.back()->size() == 1;
  }
  if (instruction.literal != nullptr && instruction.literal->elided) return {};
  const KernelCall call{module_, *node.source[static_cast<size_t>(side_)].computation, instruction,
                        node.shape};
  ControlValues values;
  for (int64_t d = 0; d < (uniform ? 1 : mesh_.devices()); ++d) {
    std::vector<Value> arguments;
    for (const ControlValues* operand : operands) {
      arguments.push_back((*operand)[operand->size() == 1 ? 0 : static_cast<size_t>(d)]);
    }
    auto value = EvaluateInstruction(*native_, call, std::move(arguments),
                                     mesh_.ReplicaOf(DeviceId(d)).value,
                                     mesh_.PartitionOf(DeviceId(d)).value);
    if (!value || !value->IsNative()) return {};
    values.push_back(std::move(*value));
  }
  return values;
}

}  // namespace hv
