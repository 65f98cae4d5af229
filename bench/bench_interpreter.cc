// Speed of one device's kernels as ratios to loops written by hand over the same arrays in this
// program (compiled with the same flags), and of dot to Eigen's GEMM. `small` arrays stay in the
// second-level cache, `large` ones do not fit any.
#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "base/check.h"
#include "eval/domain.h"
#include "hlo/parser.h"

namespace hv {
namespace {

struct Row {
  std::string name;
  double interpreter = 0, by_hand = 0;  // seconds
  double Ratio() const { return by_hand / interpreter; }
};

double Once(const std::function<void()>& work) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Best of alternating runs, so that both sides meet the same machine.
Row Compare(std::string name, const std::function<void()>& interpreter,
            const std::function<void()>& by_hand) {
  Row row{std::move(name), 1e30, 1e30};
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
      : module_(Parse(body, computations)), domain_(MakeNativeDomain()) {
    const Computation& entry = module_.Entry();
    for (const InstructionIndex o : entry.Root().operands) {
      const Instruction& operand = entry.At(o);
      Value value = operand.opcode == Opcode::kConstant ? Value::FromLiteral(*operand.literal)
                                                        : Random(operand.shape);
      operands_.push_back(std::move(value));
    }
  }
  void Run() const {
    const Computation& entry = module_.Entry();
    const KernelCall call{module_, entry, entry.Root(), entry.Root().shape};
    const Result<Value> value = EvaluateInstruction(*domain_, call, operands_, 0, 0);
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
      } else if (floats) {
        const uint16_t bf16 = static_cast<uint16_t>(0x3F80 + (r & 0x3F));
        std::memcpy(at, &bf16, sizeof(bf16));
      } else {
        std::memcpy(at, &r, static_cast<size_t>(v.element_bytes()));
      }
    }
    return v;
  }

  Module module_;
  std::unique_ptr<Domain> domain_;
  std::vector<Value> operands_;
};

const std::string kReducers =
    "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] add(a, b) }\n"
    "max { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] maximum(a, b) }\n"
    "iadd { a = s32[] parameter(0)\n b = s32[] parameter(1)\n ROOT r = s32[] add(a, b) }\n"
    "badd { a = bf16[] parameter(0)\n b = bf16[] parameter(1)\n ROOT r = bf16[] add(a, b) }\n";

float Widen(uint16_t h) { return std::bit_cast<float>(uint32_t{h} << 16); }
uint16_t Narrow(float f) {
  const uint32_t bits = std::bit_cast<uint32_t>(f);
  return static_cast<uint16_t>((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

class Bench {
 public:
  const std::vector<Row>& rows() const { return rows_; }

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

  void Reductions(const std::string& size, int64_t n) {
    const std::string nn = "[" + std::to_string(n) + "," + std::to_string(n) + "]";
    const std::string v = "[" + std::to_string(n) + "]";
    const auto reduce = [&](const std::string& type, const std::string& dims,
                            const std::string& reducer) {
      const std::string result = dims == "0,1" ? "[]" : v;
      return Kernel("  x = " + type + nn + " parameter(0)\n  z = " + type +
                        "[] constant(0)\n  ROOT r = " + type + result +
                        " reduce(x, z), dimensions={" + dims + "}, to_apply=" + reducer,
                    kReducers);
    };
    const auto count = static_cast<size_t>(n);
    std::vector<float> out(count);
    std::vector<double> sums(count);

    const Kernel rows = reduce("f32", "1", "add");
    Add(
        "reduce_add_rows_f32_" + size, [&] { rows.Run(); },
        [&] {
          const float* x = rows.Operand<float>(0);
          for (size_t r = 0; r < count; ++r) {
            double sum = 0;
            for (size_t k = 0; k < count; ++k) sum += static_cast<double>(x[r * count + k]);
            out[r] = static_cast<float>(sum);
          }
        });
    const Kernel columns = reduce("f32", "0", "add");
    Add(
        "reduce_add_columns_f32_" + size, [&] { columns.Run(); },
        [&] {
          const float* x = columns.Operand<float>(0);
          std::fill(sums.begin(), sums.end(), 0.0);
          for (size_t r = 0; r < count; ++r) {
            for (size_t k = 0; k < count; ++k) sums[k] += static_cast<double>(x[r * count + k]);
          }
          for (size_t k = 0; k < count; ++k) out[k] = static_cast<float>(sums[k]);
        });
    const Kernel max = reduce("f32", "1", "max");
    Add(
        "reduce_maximum_rows_f32_" + size, [&] { max.Run(); },
        [&] {
          const float* x = max.Operand<float>(0);
          for (size_t r = 0; r < count; ++r) {
            float most = 0;
            for (size_t k = 0; k < count; ++k) {
              const float y = x[r * count + k];
              most = most < y || y != y ? y : most;
            }
            out[r] = most;
          }
        });
    const Kernel all = reduce("s32", "0,1", "iadd");
    volatile int32_t sink = 0;
    Add(
        "reduce_add_all_s32_" + size, [&] { all.Run(); },
        [&] {
          const int32_t* x = all.Operand<int32_t>(0);
          int32_t sum = 0;
          for (size_t k = 0; k < count * count; ++k) sum += x[k];
          sink = sum;
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

  void Movement(const std::string& size, int64_t n) {
    const std::string nn = "f32[" + std::to_string(n) + "," + std::to_string(n) + "]";
    const std::string x = "  x = " + nn + " parameter(0)\n  ROOT r = ";
    const auto count = static_cast<size_t>(n);
    std::vector<float> out(count * count * 2);

    const Kernel transpose(x + nn + " transpose(x), dimensions={1,0}");
    Add(
        "transpose_f32_" + size, [&] { transpose.Run(); },
        [&] {
          const float* from = transpose.Operand<float>(0);
          for (size_t i = 0; i < count; ++i) {
            for (size_t j = 0; j < count; ++j) out[i * count + j] = from[j * count + i];
          }
        });
    const std::string half = std::to_string(n / 2);
    const Kernel slice(x + "f32[" + half + "," + half + "] slice(x), slice={[1:" +
                       std::to_string(n / 2 + 1) + "], [3:" + std::to_string(n / 2 + 3) + "]}");
    Add(
        "slice_f32_" + size, [&] { slice.Run(); },
        [&] {
          const float* from = slice.Operand<float>(0);
          for (size_t i = 0; i < count / 2; ++i) {
            std::memcpy(&out[i * (count / 2)], from + (i + 1) * count + 3,
                        count / 2 * sizeof(float));
          }
        });
    const Kernel concatenate("  x = " + nn + " parameter(0)\n  y = " + nn +
                             " parameter(1)\n  ROOT r = f32[" + std::to_string(n) + "," +
                             std::to_string(2 * n) + "] concatenate(x, y), dimensions={1}");
    Add(
        "concatenate_f32_" + size, [&] { concatenate.Run(); },
        [&] {
          for (size_t i = 0; i < count; ++i) {
            for (size_t k = 0; k < 2; ++k) {
              std::memcpy(&out[(2 * i + k) * count], concatenate.Operand<float>(k) + i * count,
                          count * sizeof(float));
            }
          }
        });
    const Kernel broadcast("  x = f32[" + std::to_string(n) + "] parameter(0)\n  ROOT r = " + nn +
                           " broadcast(x), dimensions={0}");
    Add(
        "broadcast_f32_" + size, [&] { broadcast.Run(); },
        [&] {
          const float* from = broadcast.Operand<float>(0);
          for (size_t i = 0; i < count; ++i) std::fill_n(&out[i * count], count, from[i]);
        });
    const std::string rows = std::to_string(n);
    const Kernel gather("  x = " + nn + " parameter(0)\n  i = s32[" + rows +
                        "] parameter(1)\n  ROOT r = " + nn +
                        " gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, "
                        "start_index_map={0}, index_vector_dim=1, slice_sizes={1," +
                        rows + "}");
    Add(
        "gather_rows_f32_" + size, [&] { gather.Run(); },
        [&] {
          const float* from = gather.Operand<float>(0);
          const int32_t* index = gather.Operand<int32_t>(1);
          for (size_t i = 0; i < count; ++i) {
            const auto row = static_cast<size_t>(std::clamp<int64_t>(index[i], 0, n - 1));
            std::memcpy(&out[i * count], from + row * count, count * sizeof(float));
          }
        });
  }

  void Dots() {
    for (const auto& [m, n, k] :
         {std::tuple{32, 32, 32}, std::tuple{64, 64, 64}, std::tuple{256, 256, 256},
          std::tuple{512, 512, 512}, std::tuple{32, 128, 512}, std::tuple{1024, 64, 256}}) {
      const Kernel dot(
          fmt::format("  x = f32[{0},{2}] parameter(0)\n  y = f32[{2},{1}] parameter(1)\n"
                      "  ROOT r = f32[{0},{1}] dot(x, y), lhs_contracting_dims={{1}}, "
                      "rhs_contracting_dims={{0}}",
                      m, n, k));
      using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
      const Eigen::Map<const Matrix> x(dot.Operand<float>(0), m, k), y(dot.Operand<float>(1), k, n);
      Matrix out(m, n);
      Add(
          fmt::format("dot_f32_{}x{}x{}", m, n, k), [&] { dot.Run(); },
          [&] { out.noalias() = x * y; });
    }
  }

 private:
  void Add(const std::string& name, const std::function<void()>& interpreter,
           const std::function<void()>& by_hand) {
    rows_.push_back(Compare(name, interpreter, by_hand));
  }
  std::vector<Row> rows_;
};

void Print(const std::vector<Row>& rows, bool json) {
  if (!json)
    fmt::print("{:<32}{:>14}{:>14}{:>8}\n", "kernel", "interpreter us", "by hand us", "ratio");
  std::string document;
  for (const Row& row : rows) {
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
  hv::Bench bench;
  for (const auto& [size, n] : {std::pair{"small", 64}, std::pair{"large", 2048}}) {
    bench.Elementwise(size, int64_t{n} * n * 4);
    bench.Reductions(size, 2 * n);
    bench.Folds(size, int64_t{n} * n);
    bench.Movement(size, 2 * n);
  }
  bench.Dots();
  hv::Print(bench.rows(), json);
  return 0;
}
