#include "verify/restrict_module.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "hlo/groups.h"
#include "hlo/op.h"
#include "verify/dimension_scales.h"

namespace hv {
namespace {

// Is 0, 1, 2, ... what it holds?
bool CountsUp(const std::vector<int64_t>& ids) {
  return ids.empty() || (ids.front() == 0 && ids.back() == static_cast<int64_t>(ids.size()) - 1);
}

class Restricter {
 public:
  Restricter(const Module& module, size_t number, const Mesh& mesh, const SubMesh& part,
             const DimensionScales& scales, LostSource lost)
      : before_(module),
        number_(number),
        mesh_(mesh),
        part_(part),
        scales_(scales),
        after_(module),
        arena_(module.context->arena),
        lost_(lost) {}

  std::optional<Module> Run(std::string* why) {
    after_.replica_count = part_.mesh().replicas;
    after_.num_partitions = part_.mesh().partitions;
    std::erase_if(after_.header, [](const HeaderAttribute& attribute) {
      return attribute.key == "entry_computation_layout";
    });
    after_.entry_parameter_layouts.clear();
    after_.entry_result_layout = nullptr;
    for (const Computation& computation : before_.computations) {
      for (const Instruction& i : computation.instructions) names_.insert(i.name);
    }
    for (size_t c = 0; c < before_.computations.size(); ++c) {
      after_.computations[c] = Rewrite(static_cast<ComputationIndex>(c));
    }
    if (why_.empty()) return std::move(after_);
    *why = why_;
    return std::nullopt;
  }

 private:
  Computation Rewrite(ComputationIndex c) {
    const Computation& before = before_.At(c);
    Computation after = before;
    after.instructions.clear();
    place_.clear();
    for (size_t i = 0; i < before.instructions.size(); ++i) {
      Instruction instruction = before.instructions[i];
      instruction.shape =
          scales_.ShapeOf(number_, c, static_cast<InstructionIndex>(i), &after_.context->shapes);
      const bool replica = instruction.opcode == Opcode::kReplicaId;
      const bool partition = instruction.opcode == Opcode::kPartitionId;
      if ((replica && !CountsUp(part_.replicas)) || (partition && !CountsUp(part_.partitions))) {
        LookUp(instruction, replica ? part_.replicas : part_.partitions, &after);
      } else {
        after.instructions.push_back(Rewrite(instruction));
      }
      place_.push_back(static_cast<InstructionIndex>(after.instructions.size() - 1));
    }
    for (InstructionIndex& p : after.parameters) p = place_[static_cast<size_t>(p)];
    after.root = place_[static_cast<size_t>(before.root)];
    return after;
  }

  // %id = reshape(dynamic-slice(constant of old ids, id here))
  void LookUp(const Instruction& id, const std::vector<int64_t>& old_ids, Computation* to) {
    ShapeTable& shapes = after_.context->shapes;
    const auto count = static_cast<int64_t>(old_ids.size());
    const auto add = [&](Instruction instruction) {
      to->instructions.push_back(instruction);
      return static_cast<InstructionIndex>(to->instructions.size() - 1);
    };
    const auto make = [&](Opcode opcode, const Shape* shape, std::string_view suffix) {
      InstructionBuilder builder(&after_, opcode, shape);
      return std::move(builder.Name(FreshName(fmt::format("{}.{}", id.name, suffix))));
    };
    const InstructionIndex here = add(make(id.opcode, id.shape, "here").Build());
    const Shape* list = shapes.Array(ElementType::kU32, {count});
    Instruction table = make(Opcode::kConstant, list, "there").Build();
    std::span<std::byte> bytes = arena_.NewArray<std::byte>(old_ids.size() * sizeof(uint32_t));
    for (size_t i = 0; i < old_ids.size(); ++i) {
      const auto old = static_cast<uint32_t>(old_ids[i]);
      std::memcpy(bytes.data() + i * sizeof old, &old, sizeof old);
    }
    table.literal = NewLiteral(list, bytes);
    const int64_t one[] = {1};
    const InstructionIndex operands[] = {add(table), here};
    const InstructionIndex found[] = {
        add(make(Opcode::kDynamicSlice, shapes.Array(ElementType::kU32, one), "of")
                .Operands(operands)
                .SetInts(Attr::kDynamicSliceSizes, one)
                .Build())};
    InstructionBuilder scalar(&after_, Opcode::kReshape, id.shape);
    add(scalar.Name(id.name).Operands(found).Build());
  }

  std::string FreshName(std::string name) {
    while (names_.count(name) != 0) name += '.';
    names_.insert(arena_.CopyText(name));
    return name;
  }

  Instruction Rewrite(Instruction instruction) {
    std::vector<InstructionIndex> operands;
    for (const InstructionIndex o : instruction.operands) operands.push_back(Place(o));
    instruction.operands = arena_.Copy(operands);
    if (instruction.literal != nullptr && instruction.literal->shape != instruction.shape) {
      instruction.literal = Resized(*instruction.literal, instruction.shape);
    }
    std::vector<Attribute> attributes;
    for (Attribute attribute : instruction.attributes) {
      if (Rewrite(instruction, &attribute)) attributes.push_back(attribute);
    }
    instruction.attributes = arena_.Copy(attributes);
    return instruction;
  }

  InstructionIndex Place(InstructionIndex before) const {
    return place_[static_cast<size_t>(before)];
  }

  const Literal* NewLiteral(const Shape* shape, std::span<const std::byte> bytes) {
    Literal literal;
    literal.shape = shape;
    literal.bytes = bytes;
    return arena_.New<Literal>(literal);
  }

  // All elements are the same, or their number has not changed.
  const Literal* Resized(const Literal& literal, const Shape* shape) {
    if (literal.elided || !shape->IsArray() || SameDims(*literal.shape, *shape)) return &literal;
    if (literal.shape->element_count == 0) return NewLiteral(shape, {});
    const size_t each = literal.bytes.size() / static_cast<size_t>(literal.shape->element_count);
    const std::span<std::byte> bytes =
        arena_.NewArray<std::byte>(each * static_cast<size_t>(shape->element_count));
    for (size_t at = 0; at < bytes.size(); at += each) {
      std::memcpy(bytes.data() + at, literal.bytes.data(), each);
    }
    return NewLiteral(shape, bytes);
  }

  // False: the attribute is dropped.
  bool Rewrite(const Instruction& instruction, Attribute* attribute) {
    switch (attribute->key) {
      case Attr::kReplicaGroups:
        return SetGroups(instruction, attribute), true;
      case Attr::kSourceTargetPairs: {
        const std::vector<SourceTarget> pairs = PairsHere(instruction);
        return SetList(pairs, attribute), true;
      }
      case Attr::kFrontendAttributes:
        return SetPairText(instruction, attribute), true;
      case Attr::kControlPredecessors: {
        std::vector<InstructionIndex> places;
        for (const InstructionIndex p : instruction.ControlPredecessors()) {
          places.push_back(Place(p));
        }
        return SetList(places, attribute), true;
      }
      case Attr::kSlice:
        return SetLimits(instruction, attribute), true;
      case Attr::kDynamicSliceSizes: {
        const std::span<const int64_t> sizes = instruction.shape->dims;
        return SetList(std::vector<int64_t>(sizes.begin(), sizes.end()), attribute), true;
      }
      case Attr::kSharding:
        return attribute->text == "{replicated}";
      default:
        return true;
    }
  }

  template <class T>
  void SetList(const std::vector<T>& list, Attribute* attribute) {
    const std::span<const T> copy = arena_.Copy(list);
    attribute->data = copy.data();
    attribute->size = copy.size();
  }

  // The number here of an id as the instruction lists it; -1 if it is not in the part.
  int64_t IdHere(GroupMode mode, int64_t id) const {
    if (mode == GroupMode::kFlattenedId) return part_.DeviceHere(DeviceId(id), mesh_);
    return mode == GroupMode::kCrossPartition ? part_.PartitionHere(id) : part_.ReplicaHere(id);
  }

  void SetGroups(const Instruction& instruction, Attribute* attribute) {
    const DeviceList& list = *instruction.Object<DeviceList>(Attr::kReplicaGroups);
    if (list.form == DeviceList::Form::kEmpty) return;
    std::vector<std::span<const int64_t>> groups;
    for (const std::vector<int64_t>& group : Expand(list)) {
      std::vector<int64_t> members;
      for (const int64_t id : group) {
        const int64_t here = IdHere(GroupModeOf(instruction), id);
        if (here >= 0) members.push_back(here);
      }
      if (!members.empty()) groups.push_back(arena_.Copy(members));
    }
    if (groups.empty() && why_.empty()) {  // which would mean one group of all
      why_ = fmt::format("no group of {} is left", instruction.name);
    }
    DeviceList* restricted = arena_.New<DeviceList>();
    restricted->form = DeviceList::Form::kLists;
    restricted->lists = arena_.Copy(groups);
    attribute->data = restricted;
  }

  std::vector<SourceTarget> PairsHere(const Instruction& instruction) {
    const GroupMode mode = GroupModeOf(instruction);
    const auto listed = ListedPairs(instruction).value_or(std::vector<SourceTarget>());
    std::multimap<int64_t, int64_t> source_of;
    for (const SourceTarget& pair : listed) source_of.emplace(pair.target, pair.source);
    std::vector<SourceTarget> pairs;
    for (SourceTarget pair : listed) {
      const int64_t target = IdHere(mode, pair.target);
      if (target < 0) continue;
      if (lost_ == LostSource::kRefuse && IdHere(mode, pair.source) < 0 && why_.empty()) {
        why_ = fmt::format("a pair of {} would lose its source", instruction.name);
      }
      for (size_t steps = 0; IdHere(mode, pair.source) < 0 && steps < listed.size(); ++steps) {
        const auto next = source_of.find(pair.source);
        if (next == source_of.end()) break;
        pair.source = next->second;
      }
      const int64_t source = IdHere(mode, pair.source);
      if (source >= 0) pairs.push_back({source, target});
    }
    return pairs;
  }

  // Pairs of send and recv are a frontend attribute.
  void SetPairText(const Instruction& instruction, Attribute* attribute) {
    if (instruction.opcode != Opcode::kSend && instruction.opcode != Opcode::kRecv &&
        instruction.opcode != Opcode::kSendDone && instruction.opcode != Opcode::kRecvDone) {
      return;
    }
    std::vector<DictionaryEntry> entries;
    for (DictionaryEntry e : instruction.List<DictionaryEntry>(Attr::kFrontendAttributes)) {
      if (e.key == "_xla_send_recv_source_target_pairs") {
        std::string text;
        for (const SourceTarget& p : PairsHere(instruction)) {
          text += fmt::format("{}{{{},{}}}", text.empty() ? "" : ",", p.source, p.target);
        }
        e.value = arena_.CopyText("{" + text + "}");
      }
      entries.push_back(e);
    }
    SetList(entries, attribute);
  }

  // A slice that takes all of a dimension goes on doing so; others cut no dimension that shrinks.
  void SetLimits(const Instruction& instruction, Attribute* attribute) {
    const auto listed = instruction.List<SliceDim>(Attr::kSlice);
    std::vector<SliceDim> limits(listed.begin(), listed.end());
    for (size_t d = 0; d < limits.size(); ++d) {
      const bool whole = limits[d].start == 0 && limits[d].stride == 1;
      if (whole) limits[d].limit = instruction.shape->dims[d];
    }
    SetList(limits, attribute);
  }

  const Module& before_;
  const size_t number_;
  const Mesh mesh_;
  const SubMesh& part_;
  const DimensionScales& scales_;
  Module after_;
  Arena& arena_;
  std::set<std::string_view> names_;
  const LostSource lost_;
  std::string why_;                      // not to be done
  std::vector<InstructionIndex> place_;  // in the computation being written, of the one before
};

}  // namespace

std::optional<std::vector<Module>> RestrictModules(std::span<const Module* const> modules,
                                                   const Mesh& mesh, const SubMesh& part,
                                                   LostSource lost, std::string* why) {
  const auto scales = DimensionScales::Solve(modules, mesh, part, why);
  if (!scales) return std::nullopt;
  std::vector<Module> restricted;
  for (size_t m = 0; m < modules.size(); ++m) {
    auto module = Restricter(*modules[m], m, mesh, part, *scales, lost).Run(why);
    if (!module) return std::nullopt;
    restricted.push_back(std::move(*module));
  }
  return restricted;
}

}  // namespace hv
