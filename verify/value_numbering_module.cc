// Walks one module in execution order and numbers what it meets.
#include <algorithm>
#include <utility>

#include "hlo/groups.h"
#include "sim/collective_plan.h"
#include "verify/symbolic_key.h"
#include "verify/value_numbering.h"

namespace hv {
namespace {

// Calls are written out; more than this is not.
constexpr int64_t kMostInstructions = 10'000'000;
constexpr int kDeepestCall = 500;

// The arrays of one instruction's value.
struct Bundle {
  std::vector<ValueId> leaves;
  const Instruction* start = nullptr;  // a start whose done has not come; leaves: what it brings
};

tl::unexpected<Error> NotNumbered(const std::string& what) {
  return Unsupported("not-numbered", what + " is not numbered");
}

void AppendBytes(const void* data, size_t size, std::string* key) {
  if (size != 0) key->append(static_cast<const char*>(data), size);
}

void AppendInts(std::span<const int64_t> ints, std::string* key) {
  const size_t count = ints.size();
  AppendBytes(&count, sizeof count, key);
  AppendBytes(ints.data(), count * sizeof(int64_t), key);
}

// A device list as written, in bytes: only lists that differ are expanded.
void AppendWritten(const DeviceList& list, std::string* key) {
  key->push_back(static_cast<char>(list.form));
  for (const auto& ids : list.lists) AppendInts(ids, key);
  for (const auto ints : {list.iota.dims, list.iota.reshape, list.iota.transpose}) {
    AppendInts(ints, key);
  }
  if (list.form == DeviceList::Form::kMesh || list.form == DeviceList::Form::kMaximalMesh) {
    AppendDeviceList(list, key);
  }
}

bool IsData(const Shape& shape) {
  return shape.IsArray() || shape.IsToken() ||
         (shape.IsTuple() && std::all_of(shape.elements.begin(), shape.elements.end(),
                                         [](const Shape* element) { return IsData(*element); }));
}

bool IsRandom(Opcode opcode) {
  return opcode == Opcode::kRng || opcode == Opcode::kRngGetAndUpdateState;
}

bool IsMessage(Opcode opcode) {
  return opcode == Opcode::kSend || opcode == Opcode::kRecv || opcode == Opcode::kSendDone ||
         opcode == Opcode::kRecvDone;
}

std::pair<size_t, size_t> ElementRange(const Shape& tuple, int64_t index) {
  size_t first = 0;
  for (int64_t i = 0; i < index; ++i) {
    first += DataLeaves(tuple.elements[static_cast<size_t>(i)]).size();
  }
  return {first, DataLeaves(tuple.elements[static_cast<size_t>(index)]).size()};
}

}  // namespace

class Numbering {
 public:
  Numbering(const Module& module, Side side, ValueGraph* graph)
      : module_(module), side_(side), graph_(*graph) {}

  Result<std::vector<ValueId>> Run() {
    std::vector<Bundle> arguments = Arguments(module_.Entry(), ValueKind::kParameter);
    ValueNode start;
    start.kind = ValueKind::kEffect;
    order_ = First(graph_.Intern(std::move(start), "effects", {nullptr}, side_, {}));
    HV_ASSIGN(Bundle root, Number(module_.Entry(), std::move(arguments)));
    root.leaves.push_back(order_);
    return std::move(root.leaves);
  }

 private:
  ValueId First(size_t node) const { return graph_.node(node).first; }

  Bundle ResultsOf(size_t n, size_t dropped = 0) const {
    Bundle bundle;
    const ValueNode& node = graph_.node(n);
    for (int32_t r = 0; r + static_cast<int32_t>(dropped) < node.results; ++r) {
      bundle.leaves.push_back(node.first + r);
    }
    return bundle;
  }

  std::vector<Bundle> Arguments(const Computation& computation, ValueKind kind) {
    std::vector<Bundle> arguments;
    for (size_t p = 0; p < computation.parameters.size(); ++p) {
      const Instruction& parameter = computation.At(computation.parameters[p]);
      std::string key =
          (kind == ValueKind::kParameter ? "parameter " : "argument ") + std::to_string(p) + " ";
      AppendShape(*parameter.shape, false, &key);
      ValueNode node;
      node.kind = kind;
      node.shape = parameter.shape;
      arguments.push_back(ResultsOf(graph_.Intern(std::move(node), key, DataLeaves(parameter.shape),
                                                  side_, {&computation, &parameter})));
    }
    return arguments;
  }

  // What a computation yields given its arguments.
  Result<Bundle> Number(const Computation& computation, std::vector<Bundle> arguments) {
    std::vector<Bundle> values(computation.instructions.size());
    met_ += static_cast<int64_t>(values.size());
    if (met_ > kMostInstructions || depth_ >= kDeepestCall) return NotNumbered("a deep call graph");
    ++depth_;
    for (size_t i = 0; i < values.size(); ++i) {
      const Instruction& instruction = computation.instructions[i];
      if (instruction.opcode == Opcode::kParameter) {
        values[i] = arguments[static_cast<size_t>(instruction.parameter_number)];
        continue;
      }
      std::vector<Bundle> operands;
      for (const InstructionIndex o : instruction.operands) {
        operands.push_back(values[static_cast<size_t>(o)]);
      }
      HV_ASSIGN(values[i], NumberInstruction(computation, instruction, std::move(operands)));
    }
    --depth_;
    return values[static_cast<size_t>(computation.root)];
  }

  Result<Bundle> NumberInstruction(const Computation& computation, const Instruction& instruction,
                                   std::vector<Bundle> operands) {
    const Opcode opcode = instruction.opcode;
    const bool finishes = Definition(opcode).kernel == KernelKind::kDone ||
                          opcode == Opcode::kCopyDone || opcode == Opcode::kAsyncUpdate;
    for (const Bundle& operand : operands) {
      if (operand.start != nullptr && !finishes) return NotNumbered("the use of a start");
    }
    if (IsMessage(opcode)) return NotNumbered(std::string(ToString(opcode)));
    switch (opcode) {
      case Opcode::kTuple:
        return Joined(operands);
      case Opcode::kGetTupleElement: {
        const Shape& tuple = *computation.At(instruction.operands[0]).shape;
        const auto [first, count] = ElementRange(tuple, instruction.Int(Attr::kIndex, 0));
        const auto begin = operands[0].leaves.begin() + static_cast<ptrdiff_t>(first);
        return Bundle{{begin, begin + static_cast<ptrdiff_t>(count)}};
      }
      case Opcode::kCopy:
        if (computation.At(instruction.operands[0]).shape->type != instruction.shape->type) break;
        return std::move(operands[0]);
      case Opcode::kAddDependency:
      case Opcode::kDomain:
      case Opcode::kOptBarrier:
        return std::move(operands[0]);
      case Opcode::kAfterAll:
        return Bundle{};
      case Opcode::kCall:
        return Number(module_.At(instruction.Computation(Attr::kToApply)), std::move(operands));
      case Opcode::kFusion:
        return Number(module_.At(instruction.Computation(Attr::kCalls)), std::move(operands));
      case Opcode::kWhile:
      case Opcode::kConditional:
        return NumberRegion(computation, instruction, Joined(operands));
      default:
        break;
    }
    if (finishes) return Finish(computation, instruction, std::move(operands));
    if (IsStart(opcode)) return Start(instruction, std::move(operands));
    return NumberOp(computation, instruction, *instruction.shape, Joined(operands));
  }

  static bool IsStart(Opcode opcode) {
    return opcode == Opcode::kCopyStart || opcode == Opcode::kAsyncStart ||
           PlainOpcode(opcode) != opcode;
  }

  static Bundle Joined(const std::vector<Bundle>& operands) {
    Bundle all;
    for (const Bundle& o : operands) {
      all.leaves.insert(all.leaves.end(), o.leaves.begin(), o.leaves.end());
    }
    return all;
  }

  Result<Bundle> Start(const Instruction& instruction, std::vector<Bundle> operands) {
    Bundle bundle;
    if (instruction.opcode == Opcode::kAsyncStart) {
      const Computation& callee = module_.At(instruction.Computation(Attr::kCalls));
      if (callee.parameters.size() != operands.size()) return NotNumbered("late binding");
      HV_ASSIGN(bundle, Number(callee, std::move(operands)));
    } else {
      bundle = Joined(operands);
    }
    bundle.start = &instruction;
    return bundle;
  }

  Result<Bundle> Finish(const Computation& computation, const Instruction& instruction,
                        std::vector<Bundle> operands) {
    Bundle bundle = std::move(operands[0]);
    if (bundle.start == nullptr || operands.size() != 1) return NotNumbered("a done without start");
    if (instruction.opcode == Opcode::kAsyncUpdate) return bundle;
    const Instruction& start = *std::exchange(bundle.start, nullptr);
    if (start.opcode == Opcode::kCopyStart || start.opcode == Opcode::kAsyncStart) return bundle;
    return NumberOp(computation, start, *instruction.shape, std::move(bundle));
  }

  // A loop or conditional: its computations are operands.
  Result<Bundle> NumberRegion(const Computation& computation, const Instruction& instruction,
                              Bundle operands) {
    ValueNode node;
    node.shape = instruction.shape;
    std::vector<ComputationIndex> callees;
    if (instruction.opcode == Opcode::kWhile) {
      callees = {instruction.Computation(Attr::kCondition), instruction.Computation(Attr::kBody)};
    } else {
      callees = CalledComputations(instruction);
    }
    for (const ComputationIndex callee : callees) {
      HV_ASSIGN(const Function function, FunctionOf(callee));
      operands.leaves.push_back(function.value);
      node.may_wait |= function.may_wait;
    }
    node.operands = std::move(operands.leaves);
    std::string key(ToString(instruction.opcode));
    AppendShape(*instruction.shape, false, &key);
    return ResultsOf(graph_.Intern(std::move(node), key, DataLeaves(instruction.shape), side_,
                                   {&computation, &instruction}));
  }

  struct Function {
    ValueId value = -1;
    bool may_wait = false;
  };

  Result<Function> FunctionOf(ComputationIndex index) {
    if (const auto known = functions_.find(index); known != functions_.end()) return known->second;
    const Computation& computation = module_.At(index);
    const ValueId order = order_;
    const bool waited = std::exchange(may_wait_, false);
    HV_ASSIGN(Bundle root, Number(computation, Arguments(computation, ValueKind::kArgument)));
    if (order != order_) return NotNumbered("an effect inside a loop or conditional");
    ValueNode node;
    node.kind = ValueKind::kFunction;
    node.operands = std::move(root.leaves);
    node.may_wait = may_wait_;
    std::string key = "function";
    for (const InstructionIndex p : computation.parameters) {
      AppendShape(*computation.At(p).shape, false, &key);
    }
    const size_t n =
        graph_.Intern(std::move(node), key, {nullptr}, side_, {&computation, &computation.Root()});
    may_wait_ = waited || may_wait_;
    return functions_[index] = Function{First(n), graph_.node(n).may_wait};
  }

  Result<Bundle> NumberOp(const Computation& computation, const Instruction& instruction,
                          const Shape& shape, Bundle operands) {
    if (!IsData(shape)) return NotNumbered("a buffer");
    ValueNode node;
    node.shape = &shape;
    const OpDef& op = Definition(instruction);
    std::vector<const Shape*> results = DataLeaves(&shape);
    HV_ASSIGN(const std::string key, KeyOf(computation, instruction, shape, &node));
    node.control = op.kernel != KernelKind::kCollective;
    for (const ValueId o : operands.leaves) node.control &= graph_.DefinitionOf(o).control;
    const bool effect = HasSideEffect(instruction) || IsRandom(instruction.opcode);
    if (effect) {
      node.kind = ValueKind::kEffect;
      node.control = false;
      operands.leaves.insert(operands.leaves.begin(), order_);
      results.push_back(nullptr);
    }
    node.operands = std::move(operands.leaves);
    const size_t n = graph_.Intern(std::move(node), key, std::move(results), side_,
                                   {&computation, &instruction});
    if (effect) order_ = First(n) + graph_.node(n).results - 1;
    return ResultsOf(n, effect ? 1 : 0);
  }

  // All but the operands that decides what an instruction yields.
  Result<std::string> KeyOf(const Computation& computation, const Instruction& instruction,
                            const Shape& shape, ValueNode* node) {
    std::string key(ToString(PlainOpcode(instruction.opcode)));
    switch (instruction.opcode) {
      case Opcode::kConstant:
        AppendConstant(instruction, &key);
        return key;
      case Opcode::kBitcast:  // the one op that looks at layouts
        AppendShape(*computation.At(instruction.operands[0]).shape, true, &key);
        AppendShape(shape, true, &key);
        return key;
      default:
        break;
    }
    if (IsCollective(instruction.opcode)) {
      may_wait_ = true;
      HV_RETURN_IF_ERROR(AppendGroups(instruction, node, &key));
    }
    AppendShape(shape, false, &key);
    AppendOwnAttributes(module_, instruction, &key);
    return key;
  }

  static void AppendConstant(const Instruction& instruction, std::string* key) {
    AppendShape(*instruction.shape, false, key);
    const Literal& literal = *instruction.literal;
    key->push_back(literal.elided ? '?' : '=');
    if (literal.elided) {
      key->append(instruction.name);
    } else if (literal.elements.empty()) {
      AppendBytes(literal.bytes.data(), literal.bytes.size(), key);
    } else {
      AppendLiteral(literal, key);
    }
  }

  Status AppendGroups(const Instruction& instruction, ValueNode* node, std::string* key) {
    std::string written(ToString(GroupModeOf(instruction)));
    const bool pairs = HasPairs(PlainOpcode(instruction.opcode));
    if (pairs) {
      const auto list = instruction.List<SourceTarget>(Attr::kSourceTargetPairs);
      AppendBytes(list.data(), list.size_bytes(), &written);
    } else if (const auto* list = instruction.Object<DeviceList>(Attr::kReplicaGroups)) {
      AppendWritten(*list, &written);
    }
    written.push_back(pairs ? 'p' : 'g');
    std::shared_ptr<const Grouping>& grouping = groupings_[written];
    if (grouping == nullptr) grouping = graph_.groupings_.Of(instruction);
    std::string& effective = effective_[grouping.get()];
    if (effective.empty()) {
      HV_ASSIGN(effective, Effective(instruction, *grouping, pairs));
    }
    node->grouping = grouping;
    key->append(effective);
    return {};
  }

  // Mode and members in order, in bytes.
  static Result<std::string> Effective(const Instruction& instruction, const Grouping& grouping,
                                       bool pairs) {
    std::string bytes(ToString(GroupModeOf(instruction)));
    if (pairs) {
      AppendInts(grouping.source_of, &bytes);
      return bytes;
    }
    const bool all = PlainOpcode(instruction.opcode) != Opcode::kCollectiveBroadcast;
    for (const int32_t group : grouping.group_of) {
      if (all && group < 0) return NotNumbered("a collective that leaves out a device");
    }
    for (const auto& group : grouping.groups) {
      const size_t members = group.size();
      AppendBytes(&members, sizeof members, &bytes);
      AppendBytes(group.data(), members * sizeof(group[0]), &bytes);
    }
    return bytes;
  }

  const Module& module_;
  const Side side_;
  ValueGraph& graph_;
  ValueId order_ = -1;     // of the effects so far
  bool may_wait_ = false;  // has a collective been met in the function under way?
  int64_t met_ = 0;        // instructions, each as often as it is called
  int depth_ = 0;          // of calls
  std::map<ComputationIndex, Function> functions_;
  std::unordered_map<std::string, std::shared_ptr<const Grouping>> groupings_;  // as written
  std::unordered_map<const Grouping*, std::string> effective_;
};

Result<std::vector<ValueId>> ValueGraph::Add(const Module& module, Side side) {
  return Numbering(module, side, this).Run();
}

}  // namespace hv
