// What the interpreter's benches share: a kernel under test, and a table of its time beside that of
// a loop written by hand over the same arrays.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "eval/code_domain.h"
#include "eval/domain.h"
#include "hlo/parser.h"

namespace hv {

struct Measurement {
  std::string name;
  double interpreter = 0, by_hand = 0;  // seconds
  double Ratio() const { return by_hand / interpreter; }
};

inline double Once(const std::function<void()>& work) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Best of alternating runs, so that both sides meet the same machine.
inline Measurement Compare(std::string name, const std::function<void()>& interpreter,
                           const std::function<void()>& by_hand) {
  Measurement row{std::move(name), 1e30, 1e30};
  double total = 0;
  for (int run = 0; run < 5 || total < 0.15; ++run) {
    const double a = Once(interpreter), b = Once(by_hand);
    row.interpreter = std::min(row.interpreter, a);
    row.by_hand = std::min(row.by_hand, b);
    total += a + b;
  }
  return row;
}

// The root of an ENTRY whose other instructions are parameters or scalar constants.
class Kernel {
 public:
  explicit Kernel(const std::string& body, const std::string& computations = "")
      : Kernel(body, computations, MakeNativeDomain()) {}
  // On codes of a domain that has them.
  Kernel(const std::string& body, const std::string& computations, std::unique_ptr<Domain> domain)
      : module_(Parse(body, computations)), domain_(std::move(domain)) {
    const Computation& entry = module_.Entry();
    for (const InstructionIndex o : entry.Root().operands) {
      const Instruction& operand = entry.At(o);
      Value value = operand.opcode == Opcode::kConstant ? Value::FromLiteral(*operand.literal)
                                                        : Random(operand.shape);
      const auto* codes = dynamic_cast<const CodeDomain*>(domain_.get());
      operands_.push_back(codes != nullptr ? codes->Lift(value) : std::move(value));
    }
    prepared_ = domain_->Prepare(Call());
  }
  // As a loop runs it: made ready once.
  void Run() const {
    std::vector<Value> operands = operands_;
    if (prepared_ != nullptr) {
      prepared_->Run(operands);
      return;
    }
    const Result<Value> value = EvaluateInstruction(*domain_, Call(), std::move(operands), 0, 0);
    HV_CHECK(value.has_value(), value ? "" : value.error().Message());
  }
  void RunFold(size_t times) const {
    const std::vector<Value> values(times, operands_[0]);
    const ComputationIndex reducer = module_.Entry().Root().Computation(Attr::kToApply);
    HV_CHECK(domain_->Fold(module_, reducer, values, false).has_value(), "fold");
  }
  template <class T>
  const T* Operand(size_t k) const {
    return operands_[k].As<T>().data();
  }

 private:
  KernelCall Call() const {
    const Computation& entry = module_.Entry();
    return {module_, entry, entry.Root(), entry.Root().shape};
  }
  static Module Parse(const std::string& body, const std::string& computations) {
    Result<Module> module = ParseModule(
        "bench.hlo", "HloModule bench\n" + computations + "\nENTRY e {\n" + body + "\n}\n");
    HV_CHECK(module.has_value(), module ? "" : FormatError(module.error()));
    return std::move(*module);
  }
  // Small positive numbers of any type.
  static Value Random(const Shape* shape) {
    Value v = Value::NewNative(shape);
    uint32_t x = 12345;
    const auto next = [&x] { return x = x * 1664525 + 1013904223; };
    const auto floats = IsFloat(shape->type);
    for (int64_t i = 0; i < shape->element_count; ++i) {
      const uint32_t r = next() >> 20;
      std::byte* at = v.MutableBytes().data() + i * v.element_bytes();
      if (IsPred(shape->type)) {
        *at = static_cast<std::byte>(r & 1);
      } else if (floats && v.element_bytes() == 4) {
        const float f = static_cast<float>(r) * 0x1p-10f + 0.01f;
        std::memcpy(at, &f, sizeof(f));
      } else if (floats && v.element_bytes() == 8) {
        const double d = static_cast<double>(r) * 0x1p-10 + 0.01;
        std::memcpy(at, &d, sizeof(d));
      } else if (floats) {
        const uint16_t bf16 = static_cast<uint16_t>(0x3F80 + (r & 0x3F));
        std::memcpy(at, &bf16, sizeof(bf16));
      } else {
        const uint64_t wide = r;
        std::memcpy(at, &wide, static_cast<size_t>(v.element_bytes()));
      }
    }
    return v;
  }

  Module module_;
  std::unique_ptr<Domain> domain_;
  std::vector<Value> operands_;
  std::unique_ptr<PreparedKernel> prepared_;  // null: nothing to make ready
};

inline const std::string kReducers =
    "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] add(a, b) }\n"
    "max { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] maximum(a, b) }\n"
    "iadd { a = s32[] parameter(0)\n b = s32[] parameter(1)\n ROOT r = s32[] add(a, b) }\n"
    "badd { a = bf16[] parameter(0)\n b = bf16[] parameter(1)\n ROOT r = bf16[] add(a, b) }\n";

// Rows in the order in which they were measured.
class KernelTable {
 public:
  const std::vector<Measurement>& rows() const { return rows_; }
  void Add(const std::string& name, const std::function<void()>& interpreter,
           const std::function<void()>& by_hand) {
    rows_.push_back(Compare(name, interpreter, by_hand));
  }

 private:
  std::vector<Measurement> rows_;
};

// Dense kernels: reductions, movement, products, sorts, windows, codes; `n` by `n` matrices.
void MeasureReductions(KernelTable* table, const std::string& size, int64_t n);
void MeasureMovement(KernelTable* table, const std::string& size, int64_t n);
void MeasureRows(KernelTable* table, const std::string& size, int64_t n);
void MeasureProducts(KernelTable* table);
void MeasureOrders(KernelTable* table);
void MeasureCodes(KernelTable* table);

// Groups of elementwise instructions on `n` elements.
void MeasureChains(KernelTable* table, const std::string& size, int64_t n);

// Eigen's product of row-major matrices, compiled for the machine that builds the benches.
void EigenProduct(int64_t m, int64_t n, int64_t k, const float* a, const float* b, float* c);
void EigenProduct(int64_t m, int64_t n, int64_t k, const double* a, const double* b, double* c);

}  // namespace hv
