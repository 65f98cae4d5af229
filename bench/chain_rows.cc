// Chains of elementwise instructions beside one loop by hand that keeps everything in registers,
// compiled for the vectors of this machine.
#include <cmath>

#include "bench/kernel_bench.h"
#include "eval/elementwise_program.h"
#include "eval/half_floats.h"

namespace hv {
namespace {

#define HV_BEST_LOOP [[gnu::target_clones("default", "avx2", "avx512f")]]

// ENTRY as one group. Its parameters are arrays of small positive numbers, kept by this object.
class Chain {
 public:
  Chain(const std::string& body, size_t parameters)
      : module_(ParseModule("bench.hlo", "HloModule bench\nENTRY e {\n" + body + "\n}\n").value()) {
    const Computation& entry = module_.Entry();
    std::vector<InstructionIndex> members;
    for (size_t i = 0; i < entry.instructions.size(); ++i) {
      const Instruction& instruction = entry.instructions[i];
      if (ElementwiseProgram::IsStep(entry, instruction)) {
        members.push_back(static_cast<InstructionIndex>(i));
      }
    }
    program_ = ElementwiseProgram::Compile(entry, members);
    HV_CHECK(program_.has_value(), "a chain is one group");
    for (const InstructionIndex o : program_->operands()) {
      const Instruction& operand = entry.At(o);
      Value value = operand.opcode == Opcode::kConstant ? Value::FromLiteral(*operand.literal)
                                                        : Numbers(operand.shape);
      operands_.push_back(std::move(value));
    }
    HV_CHECK(operands_.size() >= parameters, "parameters come first");
  }
  void Run() const {
    std::vector<Value> operands = operands_;
    program_->Run(operands);
  }
  const float* Operand(size_t k) const { return operands_[k].As<float>().data(); }

 private:
  static Value Numbers(const Shape* shape) {
    Value v = Value::NewNative(shape);
    uint32_t x = 1;
    for (float& f : v.MutableAs<float>()) {
      x = x * 1664525 + 1013904223;
      f = static_cast<float>(x >> 20) * 0x1p-12f;
    }
    return v;
  }

  Module module_;
  std::optional<ElementwiseProgram> program_;
  std::vector<Value> operands_;
};

HV_BEST_LOOP void EightByHand(const float* x, const float* y, float* out, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const float a = x[i] + y[i], b = a * 0.5f, c = b - x[i], d = c * c, e = d + 1.5f;
    const float f = e * y[i], g = f - a;
    out[i] = g * 0.25f;
  }
}
HV_BEST_LOOP void SelectByHand(const float* x, const float* y, float* out, size_t count) {
  for (size_t i = 0; i < count; ++i) out[i] = x[i] < y[i] ? x[i] + y[i] : x[i] - y[i];
}
HV_BEST_LOOP void Bf16ByHand(const float* x, uint16_t* out, size_t count) {
  for (size_t i = 0; i < count; ++i) out[i] = NarrowBf16(x[i]);
}
HV_BEST_LOOP void MultiplyByHand(const float* x, const float* y, float* out, size_t count) {
  for (size_t i = 0; i < count; ++i) out[i] = x[i] * y[i];
}
void TanhByHand(const float* x, float* out, size_t count) {
  for (size_t i = 0; i < count; ++i) out[i] = std::tanh(x[i]);
}

}  // namespace

void MeasureChains(KernelTable* table, const std::string& size, int64_t n) {
  const std::string f = "f32[" + std::to_string(n) + "]";
  const std::string xy = "  x = " + f + " parameter(0)  y = " + f + " parameter(1)\n";
  const auto constant = [&](const std::string& name, const std::string& value) {
    return "  " + name + "c = f32[] constant(" + value + ")  " + name + " = " + f + " broadcast(" +
           name + "c), dimensions={}\n";
  };
  const auto count = static_cast<size_t>(n);
  std::vector<float> out(count);
  std::vector<uint16_t> narrow(count);

  const Chain eight(xy + constant("h", "0.5") + constant("k", "1.5") + constant("q", "0.25") +
                        "  a = " + f + " add(x, y)  b = " + f + " multiply(a, h)\n  c = " + f +
                        " subtract(b, x)  d = " + f + " multiply(c, c)  e = " + f +
                        " add(d, k)\n  g = " + f + " multiply(e, y)  m = " + f +
                        " subtract(g, a)  ROOT r = " + f + " multiply(m, q)",
                    2);
  table->Add(
      "chain_of_8_f32_" + size, [&] { eight.Run(); },
      [&] { EightByHand(eight.Operand(0), eight.Operand(1), out.data(), count); });
  const std::string p = "pred[" + std::to_string(n) + "]";
  const Chain select(xy + "  p = " + p + " compare(x, y), direction=LT\n  a = " + f +
                         " add(x, y)  b = " + f + " subtract(x, y)  ROOT r = " + f +
                         " select(p, a, b)",
                     2);
  table->Add(
      "chain_select_f32_" + size, [&] { select.Run(); },
      [&] { SelectByHand(select.Operand(0), select.Operand(1), out.data(), count); });
  const Chain multiply(xy + "  ROOT r = " + f + " multiply(x, y)", 2);
  table->Add(
      "multiply_f32_" + size, [&] { multiply.Run(); },
      [&] { MultiplyByHand(multiply.Operand(0), multiply.Operand(1), out.data(), count); });
  const Chain bf16("  x = " + f + " parameter(0)\n  ROOT r = bf16[" + std::to_string(n) +
                       "] convert(x)",
                   1);
  table->Add(
      "convert_f32_bf16_" + size, [&] { bf16.Run(); },
      [&] { Bf16ByHand(bf16.Operand(0), narrow.data(), count); });
  const Chain tanh("  x = " + f + " parameter(0)\n  ROOT r = " + f + " tanh(x)", 1);
  table->Add(
      "tanh_f32_" + size, [&] { tanh.Run(); },
      [&] { TanhByHand(tanh.Operand(0), out.data(), count); });
}

}  // namespace hv
