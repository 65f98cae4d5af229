#include "verify/lockstep.h"

#include <algorithm>
#include <utility>

#include "hlo/view_ops.h"
#include "sim/collective_plan.h"

namespace hv {
namespace {

// Calls are written out; more than this is not.
constexpr int64_t kMostInstructions = 1'000'000;
constexpr int kDeepestCall = 500;

}  // namespace

Lockstep::Lockstep(SymbolicDomain* domain, const Module& module, const Mesh& mesh,
                   const ProofOptions& options)
    : domain_(*domain),
      module_(module),
      mesh_(mesh),
      devices_(mesh.devices()),
      options_(options),
      groupings_(mesh) {}

std::optional<std::vector<LockstepOutput>> Lockstep::Run() {
  std::vector<Lanes> arguments;
  for (const InstructionIndex p : module_.Entry().parameters) {
    MaybeLanes lanes = Parameter(module_.Entry().At(p));
    if (!lanes) return std::nullopt;
    arguments.push_back(std::move(*lanes));
  }
  const MaybeLanes root = RunComputation(module_.Entry(), arguments);
  if (!root) return std::nullopt;
  std::vector<LockstepOutput> outputs;
  for (const Lane& lane : *root) {
    const std::optional<Value> batch = Batch(lane);
    if (!batch) return std::nullopt;
    outputs.push_back({std::move(domain_.LeavesOf(*batch)[0]), lane.shape->element_count});
  }
  return outputs;
}

const Shape* Lockstep::Batched(const Shape& shape, std::vector<int64_t> dims) {
  std::vector<int64_t>& list = lists_.emplace_back(std::move(dims));
  Shape& batched = shapes_.emplace_back();
  batched.type = shape.type;
  batched.dims = list;
  batched.element_count = 1;
  for (const int64_t d : list) batched.element_count *= d;
  return &batched;
}

const Shape* Lockstep::Batched(const Shape& shape) {
  const Shape*& known = batched_[&shape];
  if (known == nullptr) {
    std::vector<int64_t> dims = {devices_};
    dims.insert(dims.end(), shape.dims.begin(), shape.dims.end());
    known = Batched(shape, std::move(dims));
  }
  return known;
}

Lockstep::MaybeLanes Lockstep::RunComputation(const Computation& computation,
                                              const std::vector<Lanes>& arguments) {
  std::vector<Lanes> values(computation.instructions.size());
  met_ += static_cast<int64_t>(values.size());
  if (met_ > kMostInstructions || depth_ >= kDeepestCall) return std::nullopt;
  ++depth_;
  for (size_t i = 0; i < values.size(); ++i) {
    const Instruction& instruction = computation.instructions[i];
    if (instruction.opcode == Opcode::kParameter) {
      values[i] = arguments[static_cast<size_t>(instruction.parameter_number)];
      continue;
    }
    std::vector<Lanes> operands;
    for (const InstructionIndex o : instruction.operands) {
      operands.push_back(values[static_cast<size_t>(o)]);
    }
    MaybeLanes lanes = RunInstruction(computation, instruction, std::move(operands));
    if (!lanes || domain_.algebra().IsExhausted()) return std::nullopt;
    values[i] = std::move(*lanes);
  }
  --depth_;
  return std::move(values[static_cast<size_t>(computation.root)]);
}

Lockstep::MaybeLanes Lockstep::RunInstruction(const Computation& computation,
                                              const Instruction& instruction,
                                              std::vector<Lanes> operands) {
  Lanes all;
  for (const Lanes& operand : operands) all.insert(all.end(), operand.begin(), operand.end());
  const OpDef& op = Definition(instruction);
  switch (instruction.opcode) {
    case Opcode::kTuple:
      return all;
    case Opcode::kGetTupleElement: {
      const Shape& tuple = *computation.At(instruction.operands[0]).shape;
      size_t first = 0;
      const auto index = static_cast<size_t>(instruction.Int(Attr::kIndex, 0));
      for (size_t e = 0; e < index; ++e) first += DataLeaves(tuple.elements[e]).size();
      const size_t count = DataLeaves(instruction.shape).size();
      return Lanes(all.begin() + static_cast<ptrdiff_t>(first),
                   all.begin() + static_cast<ptrdiff_t>(first + count));
    }
    case Opcode::kCall:
      return RunComputation(module_.At(instruction.Computation(Attr::kToApply)), operands);
    case Opcode::kFusion:
      return RunComputation(module_.At(instruction.Computation(Attr::kCalls)), operands);
    case Opcode::kPartitionId:
    case Opcode::kReplicaId:
      return DeviceIds(instruction);
    case Opcode::kCopy:
      if (all[0].shape->type != instruction.shape->type) return std::nullopt;
      return all;
    case Opcode::kOptBarrier:
    case Opcode::kDomain:
      return all;
    default:
      break;
  }
  if (!instruction.shape->IsArray() && op.kernel != KernelKind::kCollective) return std::nullopt;
  const auto is_empty = [](const Lane& lane) { return lane.shape->element_count == 0; };
  if (instruction.shape->IsArray() && instruction.shape->element_count == 0) return std::nullopt;
  if (std::any_of(all.begin(), all.end(), is_empty)) return std::nullopt;
  if (PlainOpcode(instruction.opcode) != instruction.opcode) return std::nullopt;
  if (op.kernel == KernelKind::kCollective) return Collective(instruction, *instruction.shape, all);
  const bool uniform =
      std::all_of(all.begin(), all.end(), [](const Lane& lane) { return lane.uniform; });
  if (uniform) return Uniform(computation, instruction, all);
  switch (op.kernel) {
    case KernelKind::kScalar:
      return Scalar(computation, instruction, all);
    case KernelKind::kView:
      return View(computation, instruction, std::move(all));
    case KernelKind::kReduce:
      return Reduce(computation, instruction, all);
    case KernelKind::kContract:
      return Dot(computation, instruction, all);
    default:
      return std::nullopt;
  }
}

// Source d of the parameter's leaves: a device reads that of the device that stands for it.
Lockstep::MaybeLanes Lockstep::Parameter(const Instruction& parameter) {
  Lanes lanes;
  int64_t leaf = 0;
  for (const Shape* shape : DataLeaves(parameter.shape)) {
    int64_t total = 0;
    if (shape->HasDynamicDimensions() || shape->element_count == 0 ||
        __builtin_mul_overflow(shape->element_count, devices_ * 4, &total)) {
      return std::nullopt;
    }
    const std::string name = "parameter " + std::to_string(parameter.parameter_number) + "." +
                             std::to_string(leaf++) + " of all devices";
    const Shape* batched = Batched(*shape);
    Value value = domain_.Unknown(batched, name);
    if (options_.representative) {
      std::vector<BlockMove> moves;
      for (int64_t d = 0; d < devices_; ++d) {
        const DeviceId known = options_.representative(DeviceId(d), parameter.parameter_number);
        moves.push_back({known.value * shape->element_count, d * shape->element_count});
      }
      Pieces pieces = FactorMoves(moves);
      for (Piece& piece : pieces) {
        piece.digits.push_back({shape->element_count, 1, 1});
        Normalize(&piece);
      }
      auto moved = domain_.Move(batched, pieces, {std::move(value)});
      if (!moved) return std::nullopt;
      value = std::move(*moved);
    }
    lanes.push_back({std::move(value), shape, false});
  }
  return lanes;
}

Lockstep::MaybeLanes Lockstep::DeviceIds(const Instruction& instruction) {
  Value ids = Value::NewNative(Batched(*instruction.shape));
  const std::span<uint32_t> all = ids.MutableAs<uint32_t>();
  for (size_t d = 0; d < all.size(); ++d) {
    const DeviceId device(static_cast<int64_t>(d));
    all[d] = static_cast<uint32_t>(instruction.opcode == Opcode::kPartitionId
                                       ? mesh_.PartitionOf(device).value
                                       : mesh_.ReplicaOf(device).value);
  }
  return Lanes{{std::move(ids), instruction.shape, false}};
}

// What is the same on all devices is computed once.
Lockstep::MaybeLanes Lockstep::Uniform(const Computation& computation,
                                       const Instruction& instruction, const Lanes& operands) {
  if (HasSideEffect(instruction) || Definition(instruction).kernel == KernelKind::kRegion ||
      instruction.opcode == Opcode::kRng || instruction.opcode == Opcode::kRngGetAndUpdateState) {
    return std::nullopt;
  }
  std::vector<Value> values;
  for (const Lane& lane : operands) values.push_back(lane.value);
  auto value = EvaluateInstruction(domain_, {module_, computation, instruction, instruction.shape},
                                   std::move(values), 0, 0);
  if (!value) return std::nullopt;
  return Lanes{{std::move(*value), instruction.shape, true}};
}

std::optional<Value> Lockstep::Batch(const Lane& lane, int64_t repeats) {
  if (!lane.uniform && repeats == 1) return lane.value;
  const int64_t count = lane.shape->element_count;
  Piece piece;
  piece.digits.push_back({devices_, lane.uniform ? 0 : count, count * repeats});
  if (repeats > 1) piece.digits.push_back({repeats, 0, 1});
  if (count > 1) piece.digits.push_back({count, 1, 1});
  Normalize(&piece);
  const Shape* shape =
      repeats == 1 ? Batched(*lane.shape) : Batched(*lane.shape, {devices_, repeats});
  auto moved = domain_.Move(shape, {piece}, {lane.value});
  if (!moved) return std::nullopt;
  return std::move(*moved);
}

Lockstep::MaybeLanes Lockstep::Scalar(const Computation& computation,
                                      const Instruction& instruction, const Lanes& operands) {
  std::vector<Value> values;
  for (const Lane& lane : operands) {
    const bool spreads = lane.shape->IsScalar() && !instruction.shape->IsScalar();
    const int64_t repeats = spreads ? instruction.shape->element_count : 1;
    if (repeats * lane.shape->element_count != instruction.shape->element_count) {
      return std::nullopt;
    }
    auto batch = Batch(lane, repeats);
    if (!batch) return std::nullopt;
    values.push_back(std::move(*batch));
  }
  auto value = domain_.Scalar({module_, computation, instruction, Batched(*instruction.shape)},
                              std::move(values));
  if (!value) return std::nullopt;
  return Lanes{{std::move(*value), instruction.shape, false}};
}

std::optional<std::vector<std::vector<int64_t>>> Lockstep::StartsOf(const Shape& array,
                                                                    const Shape& window,
                                                                    std::span<const Lane> starts) {
  const bool uniform =
      std::all_of(starts.begin(), starts.end(), [](const Lane& lane) { return lane.uniform; });
  std::vector<std::vector<int64_t>> all(uniform ? 1 : static_cast<size_t>(devices_));
  for (const Lane& lane : starts) {
    const std::optional<Value> concrete = domain_.Concrete(lane.value);
    if (!concrete) return std::nullopt;
    const std::vector<int64_t> integers = IntegersOf(*concrete);
    const size_t each = static_cast<size_t>(lane.shape->element_count);
    for (size_t d = 0; d < all.size(); ++d) {
      const auto first = integers.begin() + static_cast<ptrdiff_t>(lane.uniform ? 0 : d * each);
      all[d].insert(all[d].end(), first, first + static_cast<ptrdiff_t>(each));
    }
  }
  for (std::vector<int64_t>& list : all) list = ClampStarts(array.dims, window.dims, list);
  return all;
}

// Device by device the pieces must have the same digits. Devices whose pieces lie at one place of
// their arrays are taken together: a digit that moved device and element at once would be a
// diagonal, which no digit of a region can follow. What continues is joined afterwards.
std::optional<Pieces> Lockstep::OnAllDevices(const std::vector<Pieces>& by_device,
                                             std::span<const Lane> operands, int64_t result_count) {
  Pieces all;
  for (size_t p = 0; p < by_device[0].size(); ++p) {
    const Piece& like = by_device[0][p];
    int64_t in_count = 0;  // between devices
    if (like.operand != Piece::kZeros) {
      const Lane& lane = operands[static_cast<size_t>(like.operand)];
      in_count = lane.uniform ? 0 : lane.shape->element_count;
    }
    std::map<std::pair<int64_t, int64_t>, std::vector<BlockMove>> moves;  // by place
    for (int64_t d = 0; d < devices_; ++d) {
      const Pieces& own = by_device[by_device.size() == 1 ? 0 : static_cast<size_t>(d)];
      const bool same = own.size() == by_device[0].size() && own[p].operand == like.operand &&
                        std::equal(own[p].digits.begin(), own[p].digits.end(), like.digits.begin(),
                                   like.digits.end(), [](const Digit& a, const Digit& b) {
                                     return a.extent == b.extent && a.in_stride == b.in_stride &&
                                            a.out_stride == b.out_stride;
                                   });
      if (!same) return std::nullopt;
      moves[{own[p].in_base, own[p].out_base}].push_back(
          {own[p].in_base + d * in_count, own[p].out_base + d * result_count});
    }
    for (const auto& [place, devices] : moves) {
      for (Piece& nest : FactorMoves(devices)) {
        nest.operand = like.operand;
        nest.digits.insert(nest.digits.end(), like.digits.begin(), like.digits.end());
        Normalize(&nest);
        all.push_back(std::move(nest));
      }
    }
  }
  return all;
}

Lockstep::MaybeLanes Lockstep::View(const Computation& computation, const Instruction& instruction,
                                    Lanes operands) {
  if (instruction.opcode == Opcode::kBitcast) {
    const Shape& from = *computation.At(instruction.operands[0]).shape;
    const bool moves = from.type == instruction.shape->type;
    if (!moves || !BitcastFactors(from, *instruction.shape)) return std::nullopt;
  }
  std::vector<const Shape*> shapes;
  for (const InstructionIndex o : instruction.operands) shapes.push_back(computation.At(o).shape);
  std::vector<std::vector<int64_t>> starts(1);
  const bool slice = instruction.opcode == Opcode::kDynamicSlice;
  if (slice || instruction.opcode == Opcode::kDynamicUpdateSlice) {
    const size_t data = slice ? 1 : 2;
    auto known = StartsOf(*shapes[0], slice ? *instruction.shape : *shapes[1],
                          std::span(operands).subspan(data));
    if (!known) return std::nullopt;
    starts = std::move(*known);
    operands.resize(data);
    shapes.resize(data);
  }
  std::vector<Pieces> by_device;
  for (const std::vector<int64_t>& own : starts) {
    by_device.push_back(Definition(instruction).view(instruction, shapes, own));
  }
  const auto pieces = OnAllDevices(by_device, operands, instruction.shape->element_count);
  if (!pieces) return std::nullopt;
  std::vector<Value> values;
  for (const Lane& lane : operands) values.push_back(lane.value);
  auto lane = Moved(instruction.shape, *pieces, std::move(values));
  if (!lane) return std::nullopt;
  return Lanes{std::move(*lane)};
}

std::optional<Lockstep::Lane> Lockstep::Moved(const Shape* shape, const Pieces& pieces,
                                              std::vector<Value> operands) {
  auto moved = domain_.Move(Batched(*shape), pieces, std::move(operands));
  if (!moved) return std::nullopt;
  return Lane{std::move(*moved), shape, false};
}

// The instruction on batched operands: dimension numbers are one higher, the devices a batch.
Instruction Lockstep::Shifted(const Instruction& instruction,
                              std::initializer_list<Attr> dimensions,
                              std::initializer_list<Attr> batch) {
  const auto contains = [](std::initializer_list<Attr> list, Attr key) {
    return std::find(list.begin(), list.end(), key) != list.end();
  };
  std::vector<Attribute>& attributes = attributes_.emplace_back();
  const auto put = [&](Attr key, std::span<const int64_t> old, bool is_batch) {
    std::vector<int64_t>& numbers = lists_.emplace_back();
    if (is_batch) numbers.push_back(0);
    for (const int64_t d : old) numbers.push_back(d + 1);
    Attribute attribute;
    attribute.key = key;
    attribute.data = numbers.data();
    attribute.size = numbers.size();
    attributes.push_back(attribute);
  };
  for (const Attribute& a : instruction.attributes) {
    if (!contains(dimensions, a.key) && !contains(batch, a.key)) attributes.push_back(a);
  }
  for (const Attr key : dimensions) put(key, instruction.Ints(key), false);
  for (const Attr key : batch) put(key, instruction.Ints(key), true);
  Instruction shifted = instruction;
  shifted.attributes = attributes;
  return shifted;
}

Lockstep::MaybeLanes Lockstep::Reduce(const Computation& computation,
                                      const Instruction& instruction, const Lanes& operands) {
  if (operands.size() != 2 || !operands[1].uniform) return std::nullopt;
  const std::optional<Value> data = Batch(operands[0]);
  if (!data) return std::nullopt;
  const Instruction shifted = Shifted(instruction, {Attr::kDimensions}, {});
  auto value = domain_.Reduce({module_, computation, shifted, Batched(*instruction.shape)},
                              {*data, operands[1].value});
  if (!value) return std::nullopt;
  return Lanes{{std::move(*value), instruction.shape, false}};
}

Lockstep::MaybeLanes Lockstep::Dot(const Computation& computation, const Instruction& instruction,
                                   const Lanes& operands) {
  if (instruction.opcode != Opcode::kDot || instruction.Has(Attr::kSparsity)) return std::nullopt;
  const std::optional<Value> lhs = Batch(operands[0]), rhs = Batch(operands[1]);
  if (!lhs || !rhs) return std::nullopt;
  const Instruction shifted =
      Shifted(instruction, {Attr::kLhsContractingDims, Attr::kRhsContractingDims},
              {Attr::kLhsBatchDims, Attr::kRhsBatchDims});
  auto value =
      domain_.Contract({module_, computation, shifted, Batched(*instruction.shape)}, {*lhs, *rhs});
  if (!value) return std::nullopt;
  return Lanes{{std::move(*value), instruction.shape, false}};
}

}  // namespace hv
