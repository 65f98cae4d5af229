// One numbering of the values of two modules: what is certainly the same value on every device has
// one number. Calls, fusions, tuples and asynchronous pairs are looked through, so that values are
// arrays; layouts, names, channels and metadata do not count. An instruction is the same as another
// if opcode, attributes, shape and operands are; a collective also needs the same group mode and
// the same groups as lists of devices, a loop or conditional the same computations. What has an
// effect (or is rng) depends on the effect before it, so two of one module are never the same, and
// those of both modules are if they come in the same order. Cost: the instructions, whatever the
// devices and the sizes. Source: congruence closure, Nelson and Oppen 1980.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "hlo/module.h"
#include "hlo/op.h"
#include "sim/grouping.h"
#include "sim/mesh.h"
#include "verify/pair.h"

namespace hv {

using ValueId = int32_t;

// Where a node was met: instruction of a computation. Null: nowhere in that module.
struct NodeSource {
  const Computation* computation = nullptr;
  const Instruction* instruction = nullptr;
};

enum class ValueKind : uint8_t {
  kParameter,    // of ENTRY
  kArgument,     // of a computation that a loop or conditional runs, whichever it is
  kFunction,     // such a computation: a function of its arguments, its results as operands
  kInstruction,  // a function of its operands
  kEffect,       // the same with an effect: the first operand and the last result are the order
};

struct ValueNode {
  ValueKind kind = ValueKind::kInstruction;
  int32_t key = 0;                // what is computed
  std::vector<ValueId> operands;  // leaves, and functions last; kept canonical
  ValueId first = 0;              // its results are first .. first + results - 1
  int32_t results = 0;
  const Shape* shape = nullptr;              // what it yields
  std::array<NodeSource, 2> source;          // by side
  std::shared_ptr<const Grouping> grouping;  // of a collective
  bool control = false;   // follows from constants and device ids alone, without collectives
  bool may_wait = false;  // a loop or conditional that runs collectives

  const Instruction& instruction(Side side) const {
    return *source[static_cast<size_t>(side)].instruction;
  }
};

class ValueGraph {
 public:
  explicit ValueGraph(const Mesh& mesh) : mesh_(mesh), groupings_(mesh) {}

  // Numbers a module; the results of its ENTRY, and last the order of its effects. Both modules
  // must outlive the graph. Errors: what is not numbered, by name (messages between devices,
  // effects inside loops).
  Result<std::vector<ValueId>> Add(const Module& module, Side side);

  size_t size() const { return nodes_.size(); }
  const ValueNode& node(size_t n) const { return nodes_[n]; }
  size_t NodeOf(ValueId value) const { return static_cast<size_t>(node_of_[Index(value)]); }
  const ValueNode& DefinitionOf(ValueId value) const { return nodes_[NodeOf(value)]; }
  int32_t ResultNumber(ValueId value) const { return value - DefinitionOf(value).first; }
  const Shape* ShapeOf(ValueId value) const { return shape_of_[Index(value)]; }

  // The number that stands for all values known to be equal.
  ValueId Find(ValueId value) const;
  bool IsShared(ValueId value) const {
    return OfSide(value, Side::kBefore) >= 0 && OfSide(value, Side::kAfter) >= 0;
  }
  // The first value of one module among those equal to `value`; -1 if it has none.
  ValueId OfSide(ValueId value, Side side) const {
    return of_side_[static_cast<size_t>(side)][Index(Find(value))];
  }
  // States that two values are equal, with all that follows for their users.
  void Merge(ValueId a, ValueId b);

 private:
  friend class Numbering;
  static size_t Index(ValueId value) { return static_cast<size_t>(value); }

  // The node with this meaning, made if new.
  size_t Intern(ValueNode node, const std::string& key, std::vector<const Shape*> results,
                Side side, NodeSource source);
  uint64_t Signature(const ValueNode& node) const;
  int64_t FindLike(size_t n, uint64_t signature) const;  // another node of that meaning, or -1
  ValueId NewValue(size_t node, const Shape* shape);

  Mesh mesh_;
  GroupingTable groupings_;
  std::vector<ValueNode> nodes_;
  std::unordered_map<std::string, int32_t> keys_;
  std::unordered_multimap<uint64_t, size_t> index_;  // nodes by signature; stale entries remain
  // By value:
  std::vector<int32_t> node_of_;
  std::vector<const Shape*> shape_of_;
  mutable std::vector<ValueId> parent_;
  std::array<std::vector<ValueId>, 2> of_side_;
  std::vector<std::vector<int32_t>> users_;
};

}  // namespace hv
