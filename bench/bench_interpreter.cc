// Speed of one device's kernels as ratios to loops written by hand over the same arrays in this
// program (compiled with the same flags), and of dot to Eigen's GEMM. `small` arrays stay in the
// second-level cache, `large` ones do not fit any.
#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "bench/kernel_bench.h"
#include "bench/step_figures.h"

namespace hv {
namespace {

float Widen(uint16_t h) { return std::bit_cast<float>(uint32_t{h} << 16); }
uint16_t Narrow(float f) {
  const uint32_t bits = std::bit_cast<uint32_t>(f);
  return static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

class Bench {
 public:
  explicit Bench(KernelTable* table) : table_(table) {}

  void Elementwise(const std::string& size, int64_t n) {
    const std::string f = "f32[" + std::to_string(n) + "]", b = "bf16[" + std::to_string(n) + "]";
    const std::string i = "s32[" + std::to_string(n) + "]", p = "pred[" + std::to_string(n) + "]";
    const auto binary = [](const std::string& type, const std::string& root) {
      return "  x = " + type + " parameter(0)\n  y = " + type + " parameter(1)\n  ROOT r = " + root;
    };
    std::vector<float> out(static_cast<size_t>(n));
    std::vector<uint16_t> out16(static_cast<size_t>(n));
    std::vector<uint8_t> out8(static_cast<size_t>(n));
    const auto count = static_cast<size_t>(n);

    const Kernel add(binary(f, f + " add(x, y)"));
    Add(
        "add_f32_" + size, [&] { add.Run(); },
        [&] {
          const float *x = add.Operand<float>(0), *y = add.Operand<float>(1);
          for (size_t k = 0; k < count; ++k) out[k] = x[k] + y[k];
        });
    const Kernel max(binary(f, f + " maximum(x, y)"));
    Add(
        "maximum_f32_" + size, [&] { max.Run(); },
        [&] {
          const float *x = max.Operand<float>(0), *y = max.Operand<float>(1);
          for (size_t k = 0; k < count; ++k) out[k] = x[k] < y[k] || y[k] != y[k] ? y[k] : x[k];
        });
    const Kernel multiply(binary(b, b + " multiply(x, y)"));
    Add(
        "multiply_bf16_" + size, [&] { multiply.Run(); },
        [&] {
          const uint16_t *x = multiply.Operand<uint16_t>(0), *y = multiply.Operand<uint16_t>(1);
          for (size_t k = 0; k < count; ++k) out16[k] = Narrow(Widen(x[k]) * Widen(y[k]));
        });
    const Kernel compare(binary(f, p + " compare(x, y), direction=LT"));
    Add(
        "compare_f32_" + size, [&] { compare.Run(); },
        [&] {
          const float *x = compare.Operand<float>(0), *y = compare.Operand<float>(1);
          for (size_t k = 0; k < count; ++k) out8[k] = x[k] < y[k];
        });
    const Kernel select("  c = " + p + " parameter(0)\n  x = " + f + " parameter(1)\n  y = " + f +
                        " parameter(2)\n  ROOT r = " + f + " select(c, x, y)");
    Add(
        "select_f32_" + size, [&] { select.Run(); },
        [&] {
          const uint8_t* c = select.Operand<uint8_t>(0);
          const float *x = select.Operand<float>(1), *y = select.Operand<float>(2);
          for (size_t k = 0; k < count; ++k) out[k] = c[k] != 0 ? x[k] : y[k];
        });
    const Kernel convert("  x = " + i + " parameter(0)\n  ROOT r = " + f + " convert(x)");
    Add(
        "convert_s32_f32_" + size, [&] { convert.Run(); },
        [&] {
          const int32_t* x = convert.Operand<int32_t>(0);
          for (size_t k = 0; k < count; ++k) out[k] = static_cast<float>(x[k]);
        });
    const Kernel exp("  x = " + f + " parameter(0)\n  ROOT r = " + f + " exponential(x)");
    Add(
        "exponential_f32_" + size, [&] { exp.Run(); },
        [&] {
          const float* x = exp.Operand<float>(0);
          for (size_t k = 0; k < count; ++k) out[k] = std::exp(x[k]);
        });
  }

  void Folds(const std::string& size, int64_t n) {
    const auto kernel = [&](const std::string& type, const std::string& reducer) {
      const std::string shape = type + "[" + std::to_string(n) + "]";
      return Kernel("  x = " + shape + " parameter(0)\n  ROOT r = " + shape +
                        " all-reduce(x), replica_groups={}, to_apply=" + reducer,
                    kReducers);
    };
    constexpr size_t kMembers = 8;
    const auto count = static_cast<size_t>(n);
    std::vector<float> out(count);
    std::vector<uint16_t> out16(count);
    const Kernel f32 = kernel("f32", "add");
    Add(
        "fold_8_add_f32_" + size, [&] { f32.RunFold(kMembers); },
        [&] {
          const float* x = f32.Operand<float>(0);
          std::copy_n(x, count, out.data());
          for (size_t m = 1; m < kMembers; ++m) {
            for (size_t k = 0; k < count; ++k) out[k] += x[k];
          }
        });
    const Kernel bf16 = kernel("bf16", "badd");
    Add(
        "fold_8_add_bf16_" + size, [&] { bf16.RunFold(kMembers); },
        [&] {
          const uint16_t* x = bf16.Operand<uint16_t>(0);
          std::copy_n(x, count, out16.data());
          for (size_t m = 1; m < kMembers; ++m) {
            for (size_t k = 0; k < count; ++k) out16[k] = Narrow(Widen(out16[k]) + Widen(x[k]));
          }
        });
  }

 private:
  void Add(const std::string& name, const std::function<void()>& interpreter,
           const std::function<void()>& by_hand) {
    table_->Add(name, interpreter, by_hand);
  }
  KernelTable* table_;
};

void Print(const std::vector<StepFigure>& figures, const std::vector<Measurement>& rows,
           bool json) {
  std::string document;
  if (!json) fmt::print("{:<46}{:>14}{:>14}\n", "simulator", "measured", "bar");
  for (const StepFigure& figure : figures) {
    if (!json) {
      fmt::print("{:<46}{:>14.4g}{:>14.4g}\n", figure.name, figure.value, figure.bar);
    }
    document += fmt::format("{}\"{}\": {:.4g}", document.empty() ? "" : ", ", figure.name,
                            figure.value);
  }
  if (!json)
    fmt::print("\n{:<32}{:>14}{:>14}{:>8}\n", "kernel", "interpreter us", "by hand us", "ratio");
  for (const Measurement& row : rows) {
    if (!json) {
      fmt::print("{:<32}{:>14.1f}{:>14.1f}{:>8.2f}\n", row.name, row.interpreter * 1e6,
                 row.by_hand * 1e6, row.Ratio());
    }
    document +=
        fmt::format("{}\"{}_ratio\": {:.3f}", document.empty() ? "" : ", ", row.name, row.Ratio());
  }
  if (json) fmt::print("{{{}}}\n", document);
}

}  // namespace
}  // namespace hv

int main(int argc, char** argv) {
  const bool json = argc > 1 && std::string(argv[1]) == "--json";
  if (argc > 2 || (argc == 2 && !json)) {
    fmt::print(stderr, "usage: bench_interpreter [--json]\n");
    return 2;
  }
  const std::vector<hv::StepFigure> figures = hv::MeasureSteps();
  hv::KernelTable table;
  hv::Bench bench(&table);
  for (const auto& [size, n] : {std::pair{"small", 64}, std::pair{"large", 2048}}) {
    bench.Elementwise(size, int64_t{n} * n * 4);
    hv::MeasureChains(&table, size, int64_t{n} * n * 4);
    hv::MeasureReductions(&table, size, 2 * n);
    bench.Folds(size, int64_t{n} * n);
    hv::MeasureMovement(&table, size, 2 * n);
    hv::MeasureRows(&table, size, 2 * n);
  }
  hv::MeasureProducts(&table);
  hv::MeasureOrders(&table);
  hv::MeasureCodes(&table);
  hv::Print(figures, table.rows(), json);
  return 0;
}
