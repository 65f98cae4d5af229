#include "verify/difference_region.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/check.h"
#include "sim/collective_plan.h"

namespace hv {
namespace {

// Larger control values than this are made inside only when the region is widened.
constexpr int64_t kSmallControl = 4096;

bool BelongsInside(const ValueNode& node, Side side) {
  return node.control && (node.instruction(side).opcode == Opcode::kConstant ||
                          node.shape->element_count <= kSmallControl);
}

class Collector {
 public:
  Collector(const ValueGraph& graph, int layers, size_t most)
      : graph_(graph), layers_(layers), most_(most) {}

  void Run(DifferenceRegion* region) {
    std::vector<Reached> now = {{region->before, Side::kBefore}, {region->after, Side::kAfter}};
    for (int layer = 0; !now.empty() && region->size() <= most_; ++layer) {
      while (!now.empty() && region->size() <= most_) {
        const Reached reached = now.back();
        now.pop_back();
        Visit(reached, layer < layers_, region, &now);
      }
      const std::vector<Reached> entering = std::exchange(next_, {});
      for (const Reached& known : entering) inside_.insert(graph_.Find(known.value));
      for (const Reached& known : entering) Visit(known, true, region, &now);
    }
    region->frontier.assign(frontier_.begin(), frontier_.end());
  }

 private:
  struct Reached {
    ValueId value;
    Side side;
  };

  // A value known to be equal is inside on both sides or on none: on the frontier, or from the next
  // layer on inside.
  void Visit(const Reached& reached, bool widens, DifferenceRegion* region,
             std::vector<Reached>* now) {
    const ValueId known = graph_.Find(reached.value);
    if (frontier_.count(known) != 0) return;
    const ValueNode& node = graph_.DefinitionOf(graph_.OfSide(known, reached.side));
    if (node.kind == ValueKind::kFunction) return;
    const bool leaf = node.kind != ValueKind::kInstruction;
    const bool bounds =
        graph_.IsShared(known) && !BelongsInside(node, reached.side) && inside_.count(known) == 0;
    if (!leaf && !bounds) {
      Enter(node, reached.side, region, now);
    } else if (leaf || !widens) {
      frontier_.insert(known);
    } else {
      next_.push_back(reached);
    }
  }

  void Enter(const ValueNode& node, Side side, DifferenceRegion* region,
             std::vector<Reached>* now) {
    const size_t n = graph_.NodeOf(node.first);
    if (!region->nodes[static_cast<size_t>(side)].insert(n).second) return;
    for (const ValueId operand : node.operands) now->push_back({operand, side});
  }

  const ValueGraph& graph_;
  const int layers_;
  const size_t most_;
  std::vector<Reached> next_;
  std::set<ValueId> frontier_;
  std::unordered_set<ValueId> inside_;
};

// Writes one side of a region as the ENTRY of a module.
class Writer {
 public:
  Writer(const ValueGraph& graph, const DifferenceRegion& region, Side side, const Module& module)
      : graph_(graph), region_(region), side_(side) {
    region_module_.context = module.context;
    region_module_.name = "region";
    region_module_.computations = module.computations;
    region_module_.entry = module.entry;
  }

  Module Write(const Mesh& mesh) {
    region_module_.replica_count = mesh.replicas;
    region_module_.num_partitions = mesh.partitions;
    entry_.name = "region";
    KeepNames();
    for (const ValueId value : region_.frontier) AddParameter(value);
    for (const size_t n : region_.nodes[Index(side_)]) AddNode(graph_.node(n));
    const ValueId root = side_ == Side::kBefore ? region_.before : region_.after;
    entry_.root = At(root);
    region_module_.computations[static_cast<size_t>(region_module_.entry)] = std::move(entry_);
    EliminateDeadCode(&region_module_);
    return std::move(region_module_);
  }

 private:
  static size_t Index(Side side) { return static_cast<size_t>(side); }
  static Side Other(Side side) { return side == Side::kBefore ? Side::kAfter : Side::kBefore; }

  InstructionIndex At(ValueId value) const { return places_.at(graph_.Find(value)); }

  InstructionIndex Append(Instruction instruction) {
    entry_.instructions.push_back(std::move(instruction));
    return static_cast<InstructionIndex>(entry_.instructions.size() - 1);
  }

  InstructionIndex Make(Opcode opcode, const Shape* shape,
                        std::span<const InstructionIndex> operands) {
    return Append(InstructionBuilder(&region_module_, opcode, shape)
                      .Name(FreshName(ToString(opcode)))
                      .Operands(operands)
                      .Build());
  }

  static bool IsKnownByName(const Instruction& instruction) {
    return instruction.literal != nullptr && instruction.literal->elided;
  }

  // An elided constant is known by its name, which nothing else may take.
  void KeepNames() {
    for (const size_t n : region_.nodes[Index(side_)]) {
      const Instruction& instruction = graph_.node(n).instruction(side_);
      if (IsKnownByName(instruction)) names_.insert(std::string(instruction.name));
    }
  }

  std::string FreshName(std::string_view base) {
    std::string name(base);
    for (int n = 1; !names_.insert(name).second; ++n) {
      name = std::string(base) + "." + std::to_string(n);
    }
    return name;
  }

  void AddParameter(ValueId value) {
    const ValueId own = graph_.OfSide(value, side_);
    const ValueId shown = own >= 0 ? own : value;
    const ValueNode& node = graph_.DefinitionOf(shown);
    const Instruction* source = node.source[Index(own >= 0 ? side_ : Other(side_))].instruction;
    Instruction parameter =
        InstructionBuilder(&region_module_, Opcode::kParameter, graph_.ShapeOf(shown))
            .Name(FreshName(source != nullptr ? source->name : "known"))
            .Build();
    parameter.parameter_number = static_cast<int64_t>(entry_.parameters.size());
    places_[value] = Append(parameter);
    entry_.parameters.push_back(places_[value]);
  }

  void AddNode(const ValueNode& node) {
    const NodeSource& source = node.source[Index(side_)];
    Instruction copy = *source.instruction;
    size_t next = 0;
    std::vector<InstructionIndex> operands;
    for (const InstructionIndex o : copy.operands) {
      operands.push_back(Operand(source.computation->At(o).shape, node, &next));
    }
    // A bitcast looks at the layout of its operand: the declared one.
    if (copy.opcode == Opcode::kBitcast) {
      operands[0] = Make(Opcode::kCopy, source.computation->At(copy.operands[0]).shape, operands);
    }
    Arena& arena = region_module_.context->arena;
    copy.opcode = PlainOpcode(copy.opcode);
    if (copy.opcode != source.instruction->opcode) copy.shape = node.shape;  // of the done
    if (!IsKnownByName(copy)) copy.name = arena.CopyText(FreshName(copy.name));
    copy.operands = arena.Copy(operands);
    std::vector<Attribute> attributes;
    for (const Attribute& a : copy.attributes) {
      if (a.key != Attr::kControlPredecessors) attributes.push_back(a);
    }
    copy.attributes = arena.Copy(attributes);
    const InstructionIndex index = Append(copy);
    ValueId value = node.first;
    Spread(index, copy.shape, &value);
  }

  // Operand of a shape made of the next leaves of the node's operands.
  InstructionIndex Operand(const Shape* shape, const ValueNode& node, size_t* next) {
    if (shape->IsArray()) return At(node.operands[(*next)++]);
    std::vector<InstructionIndex> elements;
    for (const Shape* element : shape->elements) elements.push_back(Operand(element, node, next));
    return Make(shape->IsTuple() ? Opcode::kTuple : Opcode::kAfterAll, shape, elements);
  }

  // Makes the leaves of a tuple known.
  void Spread(InstructionIndex index, const Shape* shape, ValueId* next) {
    if (shape->IsArray()) {
      places_.emplace(graph_.Find((*next)++), index);
      return;
    }
    for (size_t e = 0; e < shape->elements.size(); ++e) {
      if (!shape->IsTuple()) continue;
      const InstructionIndex operands[] = {index};
      const InstructionIndex part =
          Append(InstructionBuilder(&region_module_, Opcode::kGetTupleElement, shape->elements[e])
                     .Name(FreshName("part"))
                     .Operands(operands)
                     .SetInt(Attr::kIndex, static_cast<int64_t>(e))
                     .Build());
      Spread(part, shape->elements[e], next);
    }
  }

  const ValueGraph& graph_;
  const DifferenceRegion& region_;
  const Side side_;
  Module region_module_;
  Computation entry_;
  std::unordered_map<ValueId, InstructionIndex> places_;  // by canonical value
  std::unordered_set<std::string> names_;
};

void AppendNumber(int64_t number, std::string* key) {
  key->append(reinterpret_cast<const char*>(&number), sizeof number);
}

}  // namespace

DifferenceRegion CollectRegion(const ValueGraph& graph, ValueId before, ValueId after, int layers,
                               size_t most) {
  DifferenceRegion region;
  region.before = before;
  region.after = after;
  Collector(graph, layers, most).Run(&region);
  return region;
}

Module RegionModule(const ValueGraph& graph, const DifferenceRegion& region, Side side,
                    const Module& module, const Mesh& mesh) {
  return Writer(graph, region, side, module).Write(mesh);
}

std::string RegionKey(const ValueGraph& graph, const DifferenceRegion& region) {
  std::string key;
  AppendNumber(static_cast<int64_t>(region.frontier.size()), &key);
  for (const Side side : kSides) {
    std::unordered_map<ValueId, int64_t> numbers;
    for (const ValueId value : region.frontier) {
      numbers.emplace(value, static_cast<int64_t>(numbers.size()));
      AppendShape(*graph.ShapeOf(value), false, &key);
    }
    int64_t next = static_cast<int64_t>(numbers.size());
    for (const size_t n : region.nodes[static_cast<size_t>(side)]) {
      const ValueNode& node = graph.node(n);
      AppendNumber(node.key, &key);
      for (const ValueId operand : node.operands) {
        const ValueId known = graph.Find(operand);
        const auto local = numbers.find(known);
        AppendNumber(local != numbers.end() ? local->second : -1 - known, &key);
      }
      for (int32_t r = 0; r < node.results; ++r, ++next) {
        numbers.emplace(graph.Find(node.first + r), next);
      }
    }
    AppendNumber(numbers.at(graph.Find(side == Side::kBefore ? region.before : region.after)),
                 &key);
  }
  return key;
}

}  // namespace hv
