#include "verify/loop_parts.h"

#include <algorithm>
#include <utility>

#include "verify/entry_argument.h"
#include "verify/symbolic_leaves.h"

namespace hv {
namespace {

// Iterations of loops inside a part, for each device.
constexpr int64_t kMostInnerSteps = 64;

const SymbolicTensor& AnyOf(const ByDevice& values) { return values.begin()->second; }

size_t CountLeaves(const Shape* shape) {
  std::vector<const Shape*> leaves;
  AppendLeafShapes(shape, &leaves);
  return leaves.size();
}

}  // namespace

LoopParts::LoopParts(SymbolicDomain* domain, const Module& module, const Mesh& mesh,
                     const ProofOptions& options, std::string name)
    : domain_(domain),
      module_(module),
      mesh_(mesh),
      options_(options),
      name_(std::move(name)),
      transport_(MakeLocalTransport()) {}

std::vector<InstructionIndex> LoopParts::LoopsOf(ComputationIndex computation) const {
  std::vector<InstructionIndex> loops;
  const std::vector<Instruction>& instructions = module_.At(computation).instructions;
  for (size_t i = 0; i < instructions.size(); ++i) {
    if (instructions[i].opcode == Opcode::kWhile) loops.push_back(static_cast<InstructionIndex>(i));
  }
  return loops;
}

const Module& LoopParts::WithEntry(ComputationIndex computation) {
  const auto [part, is_new] = parts_.emplace(computation, Module{});
  if (is_new) {
    part->second = module_;
    part->second.entry = computation;
  }
  return part->second;
}

std::optional<LoopState> LoopParts::Run(ComputationIndex computation, const LoopState& arguments,
                                        const LoopResults& results, OtherLoops others) {
  Call call{results, others, -1, {}};
  return RunCall(computation, arguments, &call);
}

std::optional<LoopState> LoopParts::StateEntering(InstructionIndex loop,
                                                  ComputationIndex computation,
                                                  const LoopState& arguments,
                                                  const LoopResults& results) {
  Call call{results, OtherLoops::kRun, loop, {}};
  if (!RunCall(computation, arguments, &call)) return std::nullopt;
  auto state = Collect(call.entered);
  if (state && state->size() != CountLeaves(module_.At(computation).At(loop).shape)) {
    return std::nullopt;  // a handle travels through the loop
  }
  return state;
}

std::optional<Value> LoopParts::ResultOf(const Computation& computation, const Instruction& loop,
                                         DeviceId device, const Value& state, Call* call) {
  const std::vector<Instruction>& own = computation.instructions;
  const bool is_own = &loop >= own.data() && &loop < own.data() + own.size();
  const auto index = is_own ? static_cast<InstructionIndex>(&loop - own.data()) : -1;
  if (is_own && index == call->watched) call->entered[device] = state;
  const auto known = call->results.find(index);
  if (known != call->results.end()) {
    size_t leaf = 0;
    return BuildFromLeaves(loop.shape, [&](const Shape* array) {
      return Value::Extended(
          array, std::make_unique<SymbolicTensor>(known->second[leaf++].at(device)));
    });
  }
  // Up to a watched loop everything is run.
  const bool unknown =
      call->watched < 0 ? call->others == OtherLoops::kUnknown : index >= call->watched;
  if (!unknown) return std::nullopt;
  return domain_->Unknown(loop.shape, name_ + ", unknown " + std::to_string(unknowns_++));
}

std::optional<LoopState> LoopParts::RunCall(ComputationIndex computation,
                                            const LoopState& arguments, Call* call) {
  const Module& module = WithEntry(computation);
  const Computation& entry = module.Entry();
  std::vector<size_t> first = {0};  // leaf of each parameter
  for (const InstructionIndex p : entry.parameters) {
    first.push_back(first.back() + CountLeaves(entry.At(p).shape));
  }
  const auto input = [&](DeviceId device, int64_t parameter) -> Result<Value> {
    const auto p = static_cast<size_t>(parameter);
    size_t leaf = first[p];
    return BuildFromLeaves(entry.At(entry.parameters[p]).shape, [&](const Shape* array) {
      return Value::Extended(array,
                             std::make_unique<SymbolicTensor>(arguments[leaf++].at(device)));
    });
  };
  if (first.back() != arguments.size()) return std::nullopt;
  RunOptions run;
  run.domain = domain_;
  run.transport = transport_.get();
  run.max_steps = std::min(kMostInnerSteps, options_.most_loop_steps);
  run.loop = [&](DeviceId device, const Instruction& loop, const Value& state) {
    return ResultOf(entry, loop, device, state, call);
  };
  const Result<RunOutcome> outcome = RunModule(module, mesh_, input, run);
  if (!outcome || outcome->stall) return std::nullopt;
  auto leaves = Collect(outcome->outputs);
  if (!leaves || leaves->size() != CountLeaves(entry.Root().shape)) return std::nullopt;
  return leaves;
}

std::optional<LoopState> LoopParts::Collect(const std::map<DeviceId, Value>& values) {
  LoopState state;
  if (static_cast<int64_t>(values.size()) != mesh_.devices()) return std::nullopt;
  for (const auto& [device, value] : values) {
    std::vector<SymbolicTensor> leaves = domain_->LeavesOf(value);
    if (state.empty()) state.resize(leaves.size());
    if (state.size() != leaves.size()) return std::nullopt;
    for (size_t k = 0; k < leaves.size(); ++k) {
      state[k].insert_or_assign(device, std::move(leaves[k]));
    }
  }
  return state;
}

LoopState LoopParts::EntryArguments() {
  LoopState arguments;
  const auto parameters = static_cast<int64_t>(module_.Entry().parameters.size());
  for (int64_t p = 0; p < parameters; ++p) {
    std::map<DeviceId, Value> values;
    for (int64_t d = 0; d < mesh_.devices(); ++d) {
      values[DeviceId(d)] = EntryArgument(options_, mesh_, module_, DeviceId(d), p, domain_);
    }
    const auto leaves = Collect(values);
    arguments.insert(arguments.end(), leaves->begin(), leaves->end());
  }
  return arguments;
}

ByDevice LoopParts::Unknown(const Shape* shape, const std::string& name, bool same) {
  ByDevice values;
  for (int64_t d = 0; d < mesh_.devices(); ++d) {
    std::string full = name_ + ", " + name;
    if (!same) full += " of device " + mesh_.NameOf(DeviceId(d));
    const Value unknown = domain_->Unknown(shape, full);
    values.insert_or_assign(DeviceId(d), domain_->LeavesOf(unknown)[0]);
  }
  return values;
}

std::optional<SymbolicTensor> Elementwise(SymbolicDomain* domain, ScalarFn fn, ElementType type,
                                          const SymbolicTensor& a, const SymbolicTensor& b) {
  const SymbolicTensor* both[] = {&a, &b};
  auto cells = domain->maker().Zip(both);
  if (!cells) return std::nullopt;
  std::vector<SymbolicPiece> pieces;
  for (ZippedCell& cell : *cells) {
    Term term = domain->algebra().Scalar(fn, type, std::move(cell.terms));
    pieces.push_back({std::move(cell.region), std::move(term)});
  }
  return domain->maker().Simplified(std::move(pieces));
}

std::optional<ByDevice> Elementwise(SymbolicDomain* domain, ScalarFn fn, ElementType type,
                                    const ByDevice& a, const ByDevice& b) {
  ByDevice result;
  for (const auto& [device, tensor] : a) {
    auto made = Elementwise(domain, fn, type, tensor, b.at(device));
    if (!made) return std::nullopt;
    result.insert_or_assign(device, std::move(*made));
  }
  return result;
}

bool Same(SymbolicDomain* domain, const SymbolicTensor& a, const SymbolicTensor& b) {
  return !domain->maker().Compare(a, b).has_value();
}

bool Same(SymbolicDomain* domain, const ByDevice& a, const ByDevice& b) {
  return std::all_of(a.begin(), a.end(), [&](const auto& entry) {
    return Same(domain, entry.second, b.at(entry.first));
  });
}

bool SameOnAllDevices(SymbolicDomain* domain, const ByDevice& values) {
  return std::all_of(values.begin(), values.end(), [&](const auto& entry) {
    return Same(domain, entry.second, AnyOf(values));
  });
}

std::optional<bool> KnownTruth(const ByDevice& values) {
  std::optional<bool> truth;
  for (const auto& [device, tensor] : values) {
    const Term& term = tensor.pieces()[0].term;
    if (!Algebra::IsConstant(term)) return std::nullopt;
    const bool here = term.node->bytes[0] != std::byte{0};
    if (truth && *truth != here) return std::nullopt;
    truth = here;
  }
  return truth;
}

}  // namespace hv
