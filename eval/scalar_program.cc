// Compiles scalar computations and runs them block by block.
#include "eval/scalar_program.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

#include "base/check.h"

namespace hv {
namespace {

constexpr size_t kBlock = 512;

using Registers = std::vector<int>;  // of one instruction: the leaves of its value

}  // namespace

class ScalarProgram::Compiler {
 public:
  Compiler(const Module& module, ScalarProgram* program) : module_(module), program_(program) {}

  // Inlines a computation on the given arguments; the registers of its root.
  Result<Registers> Inline(ComputationIndex index, const std::vector<Registers>& arguments) {
    return Inline(index, arguments, module_.At(index).root);
  }
  Result<Registers> Inline(ComputationIndex index, const std::vector<Registers>& arguments,
                           InstructionIndex result) {
    const Computation& computation = module_.At(index);
    std::vector<Registers> values(computation.instructions.size());
    for (size_t i = 0; i < values.size(); ++i) {
      HV_ASSIGN(values[i], Lower(computation.instructions[i], values, arguments));
    }
    return values[static_cast<size_t>(result)];
  }

  // Results that are parameters get registers of their own: another result may overwrite them.
  void CopyParameters(size_t parameters, Registers* results) {
    for (int& r : *results) {
      if (static_cast<size_t>(r) >= parameters) continue;
      const ElementType type = program_->register_types_[static_cast<size_t>(r)];
      Step step{*ScalarOp::Convert(type, type), 1, {r}, NewRegister(type)};
      Storage(step.result);
      program_->steps_.push_back(step);
      r = step.result;
    }
  }

  int NewRegister(ElementType type) {
    program_->register_types_.push_back(type);
    program_->registers_.emplace_back();
    return static_cast<int>(program_->register_types_.size()) - 1;
  }

 private:
  Result<Registers> Lower(const Instruction& instruction, const std::vector<Registers>& values,
                          const std::vector<Registers>& arguments) {
    std::vector<Registers> operands;
    for (const InstructionIndex o : instruction.operands) {
      operands.push_back(values[static_cast<size_t>(o)]);
    }
    switch (instruction.opcode) {
      case Opcode::kParameter:
        return arguments[static_cast<size_t>(instruction.parameter_number)];
      case Opcode::kConstant:
        return Constant(instruction);
      case Opcode::kGetTupleElement:
        return Element(instruction, operands[0]);
      case Opcode::kCall:
        return Inline(instruction.Computation(Attr::kToApply), operands);
      case Opcode::kMap:
        return Inline(instruction.Computation(Attr::kToApply), operands);
      case Opcode::kFusion:
        return Inline(instruction.Computation(Attr::kCalls), operands);
      default:
        return LowerByKind(instruction, operands);
    }
  }

  Result<Registers> LowerByKind(const Instruction& instruction,
                                const std::vector<Registers>& operands) {
    const OpDef& definition = Definition(instruction);
    if (definition.kernel == KernelKind::kScalar) return Scalar(instruction, operands);
    const bool view = definition.kernel == KernelKind::kView && operands.size() == 1;
    // A bitcast may read another type.
    if (view &&
        program_->register_types_[static_cast<size_t>(operands[0][0])] != instruction.shape->type) {
      return Scalar(instruction, operands);
    }
    const bool scalar_view = view && instruction.shape->IsScalar();
    if (definition.kernel == KernelKind::kAlias || scalar_view) {
      Registers all;
      for (const Registers& o : operands) all.insert(all.end(), o.begin(), o.end());
      if (instruction.opcode == Opcode::kTuple || operands.size() == 1) return all;
    }
    return Unsupported("unsupported-op",
                       std::string(ToString(instruction.opcode)) + " inside a scalar computation");
  }

  Result<Registers> Scalar(const Instruction& instruction, const std::vector<Registers>& operands) {
    if (!instruction.shape->IsScalar() || operands.size() > 3) {
      return Unsupported("unsupported-op", std::string(ToString(instruction.opcode)) +
                                               " of arrays inside a scalar computation");
    }
    Step step;
    step.arity = static_cast<int>(operands.size());
    ElementType types[3] = {};
    for (size_t i = 0; i < operands.size(); ++i) {
      step.operands[i] = operands[i][0];
      types[i] = program_->register_types_[static_cast<size_t>(step.operands[i])];
    }
    HV_ASSIGN(step.op,
              ScalarOp::Make(instruction, instruction.shape->type, {types, operands.size()}));
    step.result = NewRegister(instruction.shape->type);
    Storage(step.result);
    program_->steps_.push_back(step);
    return Registers{step.result};
  }

  Result<Registers> Constant(const Instruction& instruction) {
    const Literal& literal = *instruction.literal;
    if (literal.elided || !literal.shape->IsScalar()) {
      return Unsupported("unsupported-op", "constant that is elided or no scalar");
    }
    const int r = NewRegister(literal.shape->type);
    std::vector<std::byte>& storage = Storage(r);
    const size_t bytes = literal.bytes.size();
    for (size_t i = 0; i < kBlock; ++i) {
      std::memcpy(storage.data() + i * bytes, literal.bytes.data(), bytes);
    }
    return Registers{r};
  }

  // The leaves of element `index` among the leaves of a tuple: scalars only, one each.
  Result<Registers> Element(const Instruction& instruction, const Registers& tuple) {
    const auto index = static_cast<size_t>(instruction.Int(Attr::kIndex, 0));
    if (index >= tuple.size()) return Unsupported("unsupported-op", "nested tuple of scalars");
    return Registers{tuple[index]};
  }

  std::vector<std::byte>& Storage(int r) {
    const auto index = static_cast<size_t>(r);
    const auto bytes = static_cast<size_t>(HostBytes(program_->register_types_[index]));
    program_->registers_[index].resize(kBlock * bytes);
    return program_->registers_[index];
  }

  const Module& module_;
  ScalarProgram* program_;
};

Result<ScalarProgram> ScalarProgram::Compile(const Module& module, ComputationIndex computation) {
  return Compile(module, computation, module.At(computation).root);
}

Result<ScalarProgram> ScalarProgram::Compile(const Module& module, ComputationIndex computation,
                                             InstructionIndex result) {
  ScalarProgram program;
  Compiler compiler(module, &program);
  const Computation& body = module.At(computation);
  std::vector<Registers> arguments;
  for (const InstructionIndex p : body.parameters) {
    const Shape& shape = *body.At(p).shape;
    if (!shape.IsScalar()) {
      return Unsupported("unsupported-op", "computation over arrays where scalars are needed");
    }
    program.parameter_types_.push_back(shape.type);
    arguments.push_back({compiler.NewRegister(shape.type)});
  }
  HV_ASSIGN(program.results_, compiler.Inline(computation, arguments, result));
  if (program.results_.size() > 1) compiler.CopyParameters(arguments.size(), &program.results_);
  for (const int r : program.results_) {
    program.result_types_.push_back(program.register_types_[static_cast<size_t>(r)]);
  }
  program.current_.resize(program.registers_.size());
  return program;
}

void ScalarProgram::RunBlock(size_t count) {
  for (const Step& step : steps_) {
    const std::byte* operands[3] = {};
    for (int k = 0; k < step.arity; ++k) {
      operands[k] = current_[static_cast<size_t>(step.operands[k])];
    }
    step.op.Run({operands, static_cast<size_t>(step.arity)},
                registers_[static_cast<size_t>(step.result)].data(), count);
  }
}

void ScalarProgram::Run(std::span<const std::byte* const> in, std::span<std::byte* const> out,
                        size_t count) {
  HV_CHECK(in.size() == parameter_types_.size() && out.size() == results_.size(),
           "arguments of a scalar computation");
  for (size_t r = in.size(); r < registers_.size(); ++r) current_[r] = registers_[r].data();
  for (size_t done = 0; done < count; done += kBlock) {
    const size_t now = std::min(kBlock, count - done);
    for (size_t k = 0; k < in.size(); ++k) {
      current_[k] = in[k] + done * static_cast<size_t>(HostBytes(parameter_types_[k]));
    }
    RunBlock(now);
    for (size_t k = 0; k < out.size(); ++k) {
      const auto width = static_cast<size_t>(HostBytes(result_types_[k]));
      const std::byte* from = current_[static_cast<size_t>(results_[k])];
      std::memmove(out[k] + done * width, from, now * width);
    }
  }
}

}  // namespace hv
