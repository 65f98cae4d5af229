#include "verify/dimension_scales.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "hlo/groups.h"
#include "hlo/op.h"
#include "verify/multiples.h"

namespace hv {
namespace {

bool IsSplat(const Literal& literal) {
  if (literal.elided || !literal.shape->IsArray()) return false;
  const size_t each =
      literal.shape->element_count == 0
          ? 0
          : literal.bytes.size() / static_cast<size_t>(literal.shape->element_count);
  for (size_t at = each; at + each <= literal.bytes.size(); at += each) {
    if (std::memcmp(literal.bytes.data(), literal.bytes.data() + at, each) != 0) return false;
  }
  return true;
}

// The array dimensions of one leaf of a shape.
struct Leaf {
  size_t first = 0;  // unknown
  std::span<const int64_t> dims;
};
using Leaves = std::vector<Leaf>;

void AppendLeaves(const Shape& shape, size_t* next, Leaves* leaves) {
  if (!shape.elements.empty()) {
    for (const Shape* element : shape.elements) AppendLeaves(*element, next, leaves);
    return;
  }
  leaves->push_back({*next, shape.dims});
  *next += shape.dims.size();
}

size_t DimensionCount(const Shape& shape) {
  size_t count = 0;
  Leaves leaves;
  AppendLeaves(shape, &count, &leaves);
  return count;
}

}  // namespace

// Walks the modules, relates dimensions, and settles what stays free.
class ScaleSolver {
 public:
  ScaleSolver(std::span<const Module* const> modules, const Mesh& mesh, const SubMesh& part)
      : mesh_(mesh), part_(part), unchanged_(multiples_.Add()) {
    scales_.modules_.assign(modules.begin(), modules.end());
    for (const Module* module : modules) {
      auto& computations = scales_.first_.emplace_back();
      for (const Computation& computation : module->computations) {
        std::vector<size_t>& first = computations.emplace_back();
        for (const Instruction& instruction : computation.instructions) {
          first.push_back(multiples_.size());
          for (size_t n = DimensionCount(*instruction.shape); n > 0; --n) multiples_.Add();
        }
      }
    }
  }

  std::optional<DimensionScales> Run(std::string* why) {
    for (module_ = 0; module_ < scales_.modules_.size(); ++module_) {
      const Module& module = *scales_.modules_[module_];
      for (size_t c = 0; c < module.computations.size(); ++c) {
        computation_ = static_cast<ComputationIndex>(c);
        const auto& instructions = module.computations[c].instructions;
        for (size_t i = 0; i < instructions.size() && why_.empty(); ++i) {
          at_ = static_cast<InstructionIndex>(i);
          Link(instructions[i]);
        }
      }
    }
    if (why_.empty()) LinkEntries();
    if (why_.empty()) LinkShards();
    if (why_.empty()) Settle();
    if (why_.empty()) return std::move(scales_);
    *why = why_;
    return std::nullopt;
  }

 private:
  const Module& module() const { return *scales_.modules_[module_]; }

  Leaves LeavesOf(size_t m, ComputationIndex c, InstructionIndex i) const {
    Leaves leaves;
    size_t next = scales_.first_[m][static_cast<size_t>(c)][static_cast<size_t>(i)];
    AppendLeaves(*scales_.modules_[m]->At(c).At(i).shape, &next, &leaves);
    return leaves;
  }
  Leaves Result() const { return LeavesOf(module_, computation_, at_); }
  Leaves Operand(const Instruction& instruction, size_t i) const {
    return LeavesOf(module_, computation_, instruction.operands[i]);
  }
  Leaves Operands(const Instruction& instruction, size_t from = 0) const {
    Leaves all;
    for (size_t i = from; i < instruction.operands.size(); ++i) {
      const Leaves leaves = Operand(instruction, i);
      all.insert(all.end(), leaves.begin(), leaves.end());
    }
    return all;
  }
  Leaves RootOf(ComputationIndex c) const { return LeavesOf(module_, c, module().At(c).root); }
  Leaves ParametersOf(ComputationIndex c) const {
    Leaves all;
    for (const InstructionIndex p : module().At(c).parameters) {
      const Leaves leaves = LeavesOf(module_, c, p);
      all.insert(all.end(), leaves.begin(), leaves.end());
    }
    return all;
  }

  void GiveUp(std::string why) {
    if (why_.empty()) why_ = std::move(why);
  }
  void Relate(size_t a, size_t b, const Ratio& q = {}) {
    if (multiples_.Relate(a, b, q)) return;
    const std::string_view name = module().At(computation_).At(at_).name;
    GiveUp(fmt::format("a dimension of {} would have to shrink and to stay", name));
  }
  void Keep(size_t unknown) { Relate(unknown, unchanged_); }
  void Keep(const Leaves& leaves) {
    for (const Leaf& leaf : leaves) {
      for (size_t d = 0; d < leaf.dims.size(); ++d) Keep(leaf.first + d);
    }
  }
  // Alike leaf by leaf, but for dimension `along`, where a is q times b.
  void Same(const Leaves& a, const Leaves& b, int64_t along = -1, const Ratio& q = {}) {
    bool alike = a.size() == b.size();
    for (size_t i = 0; alike && i < a.size(); ++i) alike = a[i].dims.size() == b[i].dims.size();
    if (!alike) return Keep(a), Keep(b);
    for (size_t i = 0; i < a.size(); ++i) {
      for (size_t d = 0; d < a[i].dims.size(); ++d) {
        const bool scaled = static_cast<int64_t>(d) == along;
        Relate(a[i].first + d, b[i].first + d, scaled ? q : Ratio{});
      }
    }
  }

  void Link(const Instruction& instruction) {
    switch (Definition(instruction).kernel) {
      case KernelKind::kSource:
        if (instruction.literal != nullptr && !IsSplat(*instruction.literal)) Keep(Result());
        return;
      case KernelKind::kScalar:
        for (size_t i = 0; i < instruction.operands.size(); ++i) {
          const Leaves operand = Operand(instruction, i);
          if (!operand[0].dims.empty()) Same(operand, Result());
        }
        return;
      case KernelKind::kView:
        return LinkView(instruction);
      case KernelKind::kAlias:
        return LinkAlias(instruction);
      case KernelKind::kReduce:
        return LinkReduce(instruction);
      case KernelKind::kContract:
        return LinkContract(instruction);
      case KernelKind::kCollective:
        return LinkCollective(instruction);
      case KernelKind::kDone:
        return LinkDone(instruction);
      case KernelKind::kRegion:
        return LinkRegion(instruction);
      default:
        return Keep(Result()), Keep(Operands(instruction));
    }
  }

  void LinkView(const Instruction& instruction) {
    const Leaf in = Operand(instruction, 0)[0], out = Result()[0];
    const std::span<const int64_t> dimensions = instruction.Ints(Attr::kDimensions);
    switch (instruction.opcode) {
      case Opcode::kBroadcast:
        for (size_t k = 0; k < dimensions.size(); ++k) {
          Relate(out.first + static_cast<size_t>(dimensions[k]), in.first + k);
        }
        return;
      case Opcode::kTranspose:
        for (size_t d = 0; d < dimensions.size(); ++d) {
          Relate(out.first + d, in.first + static_cast<size_t>(dimensions[d]));
        }
        return;
      case Opcode::kReshape:
        return LinkReshape(in, out);
      case Opcode::kReverse:
        return Same({in}, {out});
      case Opcode::kConcatenate:
        for (size_t i = 0; i < instruction.operands.size(); ++i)
          Same(Operand(instruction, i), {out});
        return;
      case Opcode::kSlice:
        return LinkWindow(in, out, false);
      case Opcode::kDynamicSlice:
        return LinkWindow(in, out, true);
      case Opcode::kDynamicUpdateSlice:
        Same({in}, {out});
        return LinkWindow(in, Operand(instruction, 1)[0], true);
      case Opcode::kPad:
        return LinkWindow(in, out, false);
      default:
        if (std::equal(in.dims.begin(), in.dims.end(), out.dims.begin(), out.dims.end())) {
          return Same({in}, {out});
        }
        return Keep({in, out});
    }
  }

  // Dimensions of equal size go together; a window of fixed sizes stays as it is, one that device
  // ids may place can be the shard of a group.
  void LinkWindow(const Leaf& whole, const Leaf& part, bool placed) {
    for (size_t d = 0; d < whole.dims.size(); ++d) {
      const size_t a = whole.first + d, b = part.first + d;
      if (whole.dims[d] == part.dims[d]) {
        Relate(a, b);
      } else if (!placed) {
        Keep(a);
        Keep(b);
      } else if (part.dims[d] > 0 && whole.dims[d] % part.dims[d] == 0) {
        shards_.push_back({a, b, whole.dims[d] / part.dims[d]});
      }
    }
  }

  // Runs of dimensions with equal products. What one dimension is split into shrinks in the slowest
  // part, which counts the shards.
  void LinkReshape(const Leaf& in, const Leaf& out) {
    std::array<std::vector<size_t>, 2> dims;
    for (size_t side = 0; side < 2; ++side) {
      const Leaf& leaf = side == 0 ? in : out;
      for (size_t d = 0; d < leaf.dims.size(); ++d) {
        if (leaf.dims[d] == 0) return Keep({in, out});
        if (leaf.dims[d] == 1) Keep(leaf.first + d);
        if (leaf.dims[d] > 1) dims[side].push_back(d);
      }
    }
    for (size_t i = 0, o = 0; i < dims[0].size() && o < dims[1].size();) {
      const size_t i0 = i, o0 = o;
      int64_t a = in.dims[dims[0][i++]], b = out.dims[dims[1][o++]];
      while (a != b) (a < b ? a *= in.dims[dims[0][i++]] : b *= out.dims[dims[1][o++]]);
      const bool splits = i - i0 == 1 || o - o0 == 1;
      if (splits) Relate(in.first + dims[0][i0], out.first + dims[1][o0]);
      for (size_t k = i0 + (splits ? 1 : 0); k < i; ++k) Keep(in.first + dims[0][k]);
      for (size_t k = o0 + (splits ? 1 : 0); k < o; ++k) Keep(out.first + dims[1][k]);
    }
  }

  void LinkAlias(const Instruction& instruction) {
    const Leaves result = Result(), operands = Operands(instruction);
    if (instruction.opcode == Opcode::kTuple) return Same(result, operands);
    if (instruction.opcode == Opcode::kGetTupleElement) {
      const auto element = static_cast<size_t>(instruction.Int(Attr::kIndex, 0));
      return Same(result, Element(instruction, element));
    }
    if (instruction.opcode == Opcode::kAddDependency) return Same(result, Operand(instruction, 0));
    if (instruction.opcode == Opcode::kCopyStart)
      return Same({result[0], result[1]}, {operands[0], operands[0]});
    if (instruction.opcode == Opcode::kCopyDone) return Same(result, {operands[0]});
    Same(result, operands);
  }

  // Leaves of one element of the first operand.
  Leaves Element(const Instruction& instruction, size_t element) const {
    const InstructionIndex operand = instruction.operands[0];
    return ElementOf(*module().At(computation_).At(operand).shape, Operand(instruction, 0),
                     element);
  }
  static Leaves ElementOf(const Shape& shape, const Leaves& leaves, size_t element) {
    Leaves counted;
    size_t ignored = 0, begin = 0;
    for (size_t e = 0; e <= element; ++e) {
      begin = counted.size();
      AppendLeaves(*shape.elements[e], &ignored, &counted);
    }
    return {leaves.begin() + static_cast<int64_t>(begin),
            leaves.begin() + static_cast<int64_t>(counted.size())};
  }

  void LinkReduce(const Instruction& instruction) {
    const std::span<const int64_t> gone = instruction.Ints(Attr::kDimensions);
    const Leaves result = Result();
    for (size_t i = 0; i < instruction.operands.size() / 2; ++i) {
      const Leaf in = Operand(instruction, i)[0];
      size_t next = 0;
      for (size_t d = 0; d < in.dims.size(); ++d) {
        const bool kept =
            std::find(gone.begin(), gone.end(), static_cast<int64_t>(d)) == gone.end();
        Relate(in.first + d,
               kept ? result[i].first + next++ : Operand(instruction, 0)[0].first + d);
      }
    }
  }

  void LinkContract(const Instruction& instruction) {
    const Leaf lhs = Operand(instruction, 0)[0], rhs = Operand(instruction, 1)[0];
    if (instruction.opcode != Opcode::kDot) {
      return Keep(Result()), Keep(Operands(instruction));
    }
    const auto batch_l = instruction.Ints(Attr::kLhsBatchDims);
    const auto batch_r = instruction.Ints(Attr::kRhsBatchDims);
    const auto sum_l = instruction.Ints(Attr::kLhsContractingDims);
    const auto sum_r = instruction.Ints(Attr::kRhsContractingDims);
    const auto at = [](const Leaf& leaf, int64_t d) { return leaf.first + static_cast<size_t>(d); };
    for (size_t k = 0; k < sum_l.size(); ++k) Relate(at(lhs, sum_l[k]), at(rhs, sum_r[k]));
    size_t next = Result()[0].first;
    for (size_t k = 0; k < batch_l.size(); ++k, ++next) {
      Relate(at(lhs, batch_l[k]), at(rhs, batch_r[k]));
      Relate(at(lhs, batch_l[k]), next);
    }
    for (const auto& [leaf, batch, sum] :
         {std::tuple{lhs, batch_l, sum_l}, {rhs, batch_r, sum_r}}) {
      for (int64_t d = 0; d < static_cast<int64_t>(leaf.dims.size()); ++d) {
        const bool used = std::find(batch.begin(), batch.end(), d) != batch.end() ||
                          std::find(sum.begin(), sum.end(), d) != sum.end();
        if (!used) Relate(at(leaf, d), next++);
      }
    }
  }

  // What is left of every group that is not gone: the same part of each, or nothing.
  std::optional<Ratio> CutOf(const Instruction& instruction) {
    std::optional<Ratio> cut;
    for (const auto& group : EffectiveGroups(instruction, mesh_.replicas, mesh_.partitions)) {
      const int64_t kept = std::count_if(group.begin(), group.end(), [&](DeviceId device) {
        return part_.DeviceHere(device, mesh_) >= 0;
      });
      if (kept == 0) continue;
      const Ratio ratio = Ratio::Of(kept, static_cast<int64_t>(group.size()));
      if (cut && !(*cut == ratio)) return std::nullopt;
      cut = ratio;
      cut_of_size_.emplace(static_cast<int64_t>(group.size()), ratio);
    }
    return cut.value_or(Ratio{});
  }

  void LinkCollective(const Instruction& instruction) {
    const Leaves operands = Operands(instruction);
    Leaves result = Result();
    const bool starts = instruction.opcode == Opcode::kAllGatherStart ||
                        instruction.opcode == Opcode::kCollectivePermuteStart;
    if (starts) {
      const Leaves all = result;
      Same(ElementOf(*instruction.shape, all, 0), operands);
      result = ElementOf(*instruction.shape, all, 1);
    }
    if (HasPairs(instruction.opcode)) {
      const bool plain = PlainOpcode(instruction.opcode) == Opcode::kCollectivePermute;
      if (plain && !instruction.Has(Attr::kSliceSizes)) return Same(result, operands);
      return Keep(result), Keep(operands);
    }
    const std::optional<Ratio> cut = CutOf(instruction);
    const Opcode plain = PlainOpcode(instruction.opcode);
    if (plain == Opcode::kAllReduce || plain == Opcode::kCollectiveBroadcast) {
      return Same(result, operands);
    }
    if (!cut) return GiveUp(fmt::format("the groups of {} keep unequal parts", instruction.name));
    LinkParts(instruction, result, operands, *cut);
  }

  // Collectives whose shapes tell the size of their groups.
  void LinkParts(const Instruction& instruction, const Leaves& result, const Leaves& operands,
                 const Ratio& cut) {
    const std::span<const int64_t> dimensions = instruction.Ints(Attr::kDimensions);
    const Opcode plain = PlainOpcode(instruction.opcode);
    if (plain == Opcode::kAllGather) return Same(result, operands, dimensions[0], cut);
    if (plain == Opcode::kReduceScatter) return Same(operands, result, dimensions[0], cut);
    if (plain == Opcode::kAllToAll && !dimensions.empty()) {
      Relate(result[0].first + static_cast<size_t>(dimensions[0]), unchanged_, cut);
      return Same(result, operands);
    }
    if (!(cut == Ratio{})) {
      GiveUp(
          fmt::format("{} has one operand or entry for each member of a group", instruction.name));
    }
    if (plain == Opcode::kAllToAll) return Same(result, operands);
    Keep(result);
    Keep(operands);
  }

  void LinkDone(const Instruction& instruction) {
    switch (instruction.opcode) {
      case Opcode::kAllReduceDone:
        return Same(Result(), Operand(instruction, 0));
      case Opcode::kAllGatherDone:
      case Opcode::kCollectivePermuteDone:
      case Opcode::kAsyncDone:
        return Same(Result(), Element(instruction, 1));
      default:
        return Keep(Result()), Keep(Operands(instruction));
    }
  }

  void LinkRegion(const Instruction& instruction) {
    const std::vector<ComputationIndex> callees = CalledComputations(instruction);
    switch (instruction.opcode) {
      case Opcode::kCall:
      case Opcode::kFusion:
        Same(ParametersOf(callees[0]), Operands(instruction));
        return Same(RootOf(callees[0]), Result());
      case Opcode::kWhile: {
        const ComputationIndex body = instruction.Computation(Attr::kBody);
        Same(Result(), Operands(instruction));
        Same(ParametersOf(instruction.Computation(Attr::kCondition)), Result());
        Same(ParametersOf(body), Result());
        return Same(RootOf(body), Result());
      }
      case Opcode::kConditional:
        for (size_t k = 0; k < callees.size(); ++k) {
          Same(ParametersOf(callees[k]), Operand(instruction, k + 1));
          Same(RootOf(callees[k]), Result());
        }
        return;
      case Opcode::kMap:
        for (size_t i = 0; i < instruction.operands.size(); ++i) {
          Same(Operand(instruction, i), Result());
        }
        return;
      case Opcode::kAsyncStart: {
        const Leaves all = Result();
        Same(ElementOf(*instruction.shape, all, 0), Operands(instruction));
        Same(ParametersOf(callees[0]), Operands(instruction));
        return Same(RootOf(callees[0]), ElementOf(*instruction.shape, all, 1));
      }
      default:
        return Keep(Result()), Keep(Operands(instruction));
    }
  }

  // Both modules take the same arguments and give results of the same shape.
  void LinkEntries() {
    for (size_t m = 1; m < scales_.modules_.size(); ++m) {
      module_ = 0;
      const Leaves parameters = ParametersOf(module().entry), root = RootOf(module().entry);
      module_ = m;
      computation_ = module().entry;
      at_ = module().Entry().root;
      Same(ParametersOf(module().entry), parameters);
      Same(RootOf(module().entry), root);
    }
  }

  // A window that is one of as many as a group has members is taken for the shard of one of them,
  // unless something else has settled that.
  void LinkShards() {
    for (const Shard& shard : shards_) {
      const auto cut = cut_of_size_.find(shard.parts);
      const bool settled = multiples_.Find(shard.whole).first == multiples_.Find(unchanged_).first;
      if (cut != cut_of_size_.end() && !settled) {
        multiples_.Relate(shard.whole, shard.part, cut->second);
      }
    }
  }

  // The largest of each class of multiples stays as it is, but where some other must.
  void Settle() {
    std::vector<Ratio> largest(multiples_.size(), Ratio{0, 1});
    for (size_t u = 0; u < multiples_.size(); ++u) {
      const auto [root, ratio] = multiples_.Find(u);
      largest[root] = std::max(largest[root], ratio);
    }
    const auto [fixed, multiple] = multiples_.Find(unchanged_);
    largest[fixed] = multiple;
    scales_.sizes_.assign(multiples_.size(), 0);
    for (size_t m = 0; m < scales_.modules_.size(); ++m) {
      for (size_t c = 0; c < scales_.first_[m].size(); ++c) {
        for (size_t i = 0; i < scales_.first_[m][c].size(); ++i) {
          SettleSizes(m, static_cast<ComputationIndex>(c), static_cast<InstructionIndex>(i),
                      largest);
        }
      }
    }
  }

  void SettleSizes(size_t m, ComputationIndex c, InstructionIndex i,
                   const std::vector<Ratio>& largest) {
    for (const Leaf& leaf : LeavesOf(m, c, i)) {
      for (size_t d = 0; d < leaf.dims.size(); ++d) {
        const auto [root, ratio] = multiples_.Find(leaf.first + d);
        const Ratio scale = ratio * largest[root].Inverse();
        if (leaf.dims[d] % scale.under != 0) {
          return GiveUp(fmt::format("dimension {} of {} would become {} x {}/{}", d,
                                    scales_.modules_[m]->At(c).At(i).name, leaf.dims[d], scale.over,
                                    scale.under));
        }
        scales_.sizes_[leaf.first + d] = leaf.dims[d] / scale.under * scale.over;
      }
    }
  }

  struct Shard {
    size_t whole, part;
    int64_t parts;
  };

  const Mesh mesh_;
  const SubMesh& part_;
  DimensionScales scales_;
  Multiples multiples_;
  const size_t unchanged_;
  std::vector<Shard> shards_;
  std::map<int64_t, Ratio> cut_of_size_;  // what is left of groups, by their size
  size_t module_ = 0;
  ComputationIndex computation_ = 0;
  InstructionIndex at_ = 0;
  std::string why_;
};

std::optional<DimensionScales> DimensionScales::Solve(std::span<const Module* const> modules,
                                                      const Mesh& mesh, const SubMesh& part,
                                                      std::string* why) {
  return ScaleSolver(modules, mesh, part).Run(why);
}

const Shape* DimensionScales::ShapeOf(size_t module, ComputationIndex computation,
                                      InstructionIndex instruction, ShapeTable* shapes) const {
  size_t next = first_[module][static_cast<size_t>(computation)][static_cast<size_t>(instruction)];
  return Scaled(*modules_[module]->At(computation).At(instruction).shape, &next, shapes);
}

const Shape* DimensionScales::Scaled(const Shape& shape, size_t* next, ShapeTable* shapes) const {
  Shape scaled = shape;
  std::vector<const Shape*> elements;
  for (const Shape* element : shape.elements) elements.push_back(Scaled(*element, next, shapes));
  scaled.elements = elements;
  if (elements.empty()) {
    scaled.dims = std::span(sizes_).subspan(*next, shape.dims.size());
    *next += shape.dims.size();
    if (!shape.dims.empty()) scaled.element_count = CountElements(scaled.dims);
  }
  return shapes->Intern(scaled);
}

}  // namespace hv
