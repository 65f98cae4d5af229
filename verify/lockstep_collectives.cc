// Collectives on all devices at once: groups as digits. What a member receives is sim/recipe's,
// said of all members together; a test compares both.
#include <algorithm>
#include <utility>

#include "hlo/groups.h"
#include "sim/collective_plan.h"
#include "verify/lockstep.h"
#include "verify/symbolic_reduction.h"

namespace hv {
namespace {

// An array cut along one dimension: `outer` runs of `extent` blocks of `inner` elements.
struct Cut {
  int64_t outer = 1, extent = 1, inner = 1;
};

Cut CutOf(const Shape& shape, int64_t dimension) {
  Cut cut;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    const int64_t extent = shape.dims[static_cast<size_t>(d)];
    (d < dimension ? cut.outer : d == dimension ? cut.extent : cut.inner) *= extent;
  }
  return cut;
}

// Adds a digit for each of `digits`: a step moves in x (stride or weight) and out likewise.
enum class By : uint8_t { kNothing, kDevice, kPosition };
int64_t StepOf(const DeviceDigit& d, By by, int64_t elements) {
  return by == By::kDevice ? d.stride * elements : by == By::kPosition ? d.weight * elements : 0;
}
void Append(const std::vector<DeviceDigit>& digits, By in, int64_t in_elements, By out,
            int64_t out_elements, Piece* piece) {
  for (const DeviceDigit& d : digits) {
    piece->digits.push_back({d.extent, StepOf(d, in, in_elements), StepOf(d, out, out_elements)});
  }
}

void AppendDigit(int64_t extent, int64_t in, int64_t out, Piece* piece) {
  if (extent > 1) piece->digits.push_back({extent, in, out});
}

std::string InstanceOf(const Instruction& instruction, const Grouping& grouping) {
  std::string name(ToString(instruction.opcode));
  for (const auto& group : grouping.groups) {
    name += " of";
    for (const DeviceId device : group) name.append(" ").append(std::to_string(device.value));
  }
  return name;
}

}  // namespace

Lockstep::MaybeLanes Lockstep::Collective(const Instruction& instruction, const Shape& result,
                                          const Lanes& operands) {
  const std::vector<const Shape*> results = DataLeaves(&result);
  if (results.size() != operands.size()) return std::nullopt;
  const bool reduces =
      instruction.opcode == Opcode::kAllReduce || instruction.opcode == Opcode::kReduceScatter;
  const bool moves =
      instruction.opcode == Opcode::kAllGather ||
      (instruction.opcode == Opcode::kAllToAll && instruction.Has(Attr::kDimensions));
  const bool permutes =
      instruction.opcode == Opcode::kCollectivePermute && !instruction.Has(Attr::kSliceSizes);
  if (!reduces && !moves && !permutes) return std::nullopt;
  const std::shared_ptr<const Grouping> grouping = groupings_.Of(instruction);
  std::optional<GroupDigits> digits;
  if (!permutes) {
    digits = DigitsOf(*grouping);
    if (!digits) return std::nullopt;
  }
  const std::string instance = reduces ? InstanceOf(instruction, *grouping) : std::string();
  Lanes lanes;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].shape->element_count == 0 || results[i]->element_count == 0) {
      return std::nullopt;
    }
    std::optional<Lane> lane =
        reduces ? Reduction(instruction, *digits, instance, operands[i], *results[i])
        : moves ? Exchange(instruction, *digits, operands[i], *results[i])
                : Permute(*grouping, operands[i], *results[i]);
    if (!lane) return std::nullopt;
    lanes.push_back(std::move(*lane));
  }
  return lanes;
}

// One sum per group, then to every member its part: all of it, or its block.
std::optional<Lockstep::Lane> Lockstep::Reduction(const Instruction& instruction,
                                                  const GroupDigits& digits,
                                                  const std::string& instance, const Lane& operand,
                                                  const Shape& result) {
  const std::optional<Value> batch = Batch(operand);
  const Reducer reducer = RecognizeReducer(module_, instruction.Computation(Attr::kToApply));
  if (!batch || batch->IsNative() || reducer.fn == ScalarFn::kNone) return std::nullopt;
  const int64_t count = operand.shape->element_count;
  const SymbolicTensor tensor = domain_.LeavesOf(*batch)[0];
  if (reducer.element != operand.shape->type) return std::nullopt;
  const Shape* by_group = Batched(*operand.shape, {digits.groups, count});
  std::optional<SymbolicTensor> sums = tensor;
  if (digits.members > 1 && domain_.algebra().OrderFree(reducer.element)) {
    sums = Sum(reducer, digits, tensor, count);
  } else if (digits.members > 1) {  // in some order of its own: a function of the whole operand
    std::string key = instance + " by ";
    key += std::to_string(static_cast<int>(reducer.fn));
    AppendShape(*operand.shape, false, &key);
    sums = domain_.Opaquely(key, ToString(instruction.opcode), tensor, *by_group);
  }
  if (!sums) return std::nullopt;
  const int64_t out = result.element_count;
  Piece piece;
  // The sums stand group by group; those of groups of one stand device by device.
  const By group = digits.members == 1 ? By::kDevice : By::kPosition;
  Append(digits.group, group, count, By::kDevice, out, &piece);
  if (instruction.opcode == Opcode::kAllReduce) {
    Append(digits.member, By::kNothing, 0, By::kDevice, out, &piece);
    AppendDigit(count, 1, 1, &piece);
  } else {
    const Cut cut = CutOf(*operand.shape, instruction.Ints(Attr::kDimensions)[0]);
    const int64_t block = cut.extent / digits.members * cut.inner;
    Append(digits.member, By::kPosition, block, By::kDevice, out, &piece);
    AppendDigit(cut.outer, cut.extent * cut.inner, block, &piece);
    AppendDigit(block, 1, 1, &piece);
  }
  Normalize(&piece);
  Value value = Value::Extended(by_group, std::make_unique<SymbolicTensor>(std::move(*sums)));
  return Moved(&result, {piece}, {std::move(value)});
}

// In any order: bound digits.
std::optional<SymbolicTensor> Lockstep::Sum(const Reducer& reducer, const GroupDigits& digits,
                                            const SymbolicTensor& tensor, int64_t count) {
  ReductionDomain domain;
  ReductionOperand operand{&tensor, {}};
  const auto add = [&](int64_t extent, int64_t stride) {
    domain.extents.push_back(extent);
    operand.strides.push_back(stride);
  };
  for (const DeviceDigit& d : digits.group) add(d.extent, d.stride * count);
  add(count, 1);
  domain.kept = domain.extents.size();
  for (const DeviceDigit& d : digits.member) add(d.extent, d.stride * count);
  return ReduceTensors(
      &domain_.maker(), {reducer.fn, reducer.element}, domain, {&operand, 1},
      [](std::vector<Term> terms) { return std::move(terms[0]); }, std::nullopt,
      [](std::vector<Term> terms) { return std::move(terms[0]); });
}

// all-gather: block k of the result is the operand of member k. all-to-all: block k of the result
// of member j is block j of the operand of member k.
std::optional<Lockstep::Lane> Lockstep::Exchange(const Instruction& instruction,
                                                 const GroupDigits& digits, const Lane& operand,
                                                 const Shape& result) {
  const std::optional<Value> batch = Batch(operand);
  if (!batch) return std::nullopt;
  const int64_t in = operand.shape->element_count, out = result.element_count;
  const bool gathers = instruction.opcode == Opcode::kAllGather;
  const Cut cut = CutOf(result, instruction.Ints(Attr::kDimensions)[0]);
  const int64_t block = cut.extent / digits.members * cut.inner;
  Piece piece;
  Append(digits.group, By::kDevice, in, By::kDevice, out, &piece);
  Append(digits.member, gathers ? By::kNothing : By::kPosition, block, By::kDevice, out, &piece);
  Append(digits.member, By::kDevice, in, By::kPosition, block, &piece);
  AppendDigit(cut.outer, gathers ? block : cut.extent * cut.inner, cut.extent * cut.inner, &piece);
  AppendDigit(block, 1, 1, &piece);
  Normalize(&piece);
  return Moved(&result, {piece}, {*batch});
}

std::optional<Lockstep::Lane> Lockstep::Permute(const Grouping& grouping, const Lane& operand,
                                                const Shape& result) {
  const std::optional<Value> batch = Batch(operand);
  if (!batch) return std::nullopt;
  const int64_t count = operand.shape->element_count;
  std::vector<BlockMove> moves, zeros;
  for (int64_t d = 0; d < devices_; ++d) {
    const int64_t source = grouping.source_of[static_cast<size_t>(d)];
    if (source >= 0) {
      moves.push_back({source * count, d * count});
    } else {
      zeros.push_back({0, d * count});
    }
  }
  Pieces pieces = FactorMoves(moves);
  const size_t moved = pieces.size();
  for (Piece& zero : FactorMoves(zeros)) pieces.push_back(std::move(zero));
  for (size_t p = 0; p < pieces.size(); ++p) {
    if (p >= moved) pieces[p].operand = Piece::kZeros;
    AppendDigit(count, 1, 1, &pieces[p]);
    Normalize(&pieces[p]);
  }
  return Moved(&result, pieces, {*batch});
}

}  // namespace hv
