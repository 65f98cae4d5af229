// Reductions and movement beside loops written by hand; a transposition beside memcpy.
#include "bench/kernel_bench.h"

namespace hv {
void MeasureReductions(KernelTable* table, const std::string& size, int64_t n) {
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
  table->Add(
      "reduce_add_rows_f32_" + size, [&] { rows.Run(); },
      [&] {
        const float* x = rows.Operand<float>(0);
        for (size_t r = 0; r < count; ++r) {
          double sum = 0;
          for (size_t k = 0; k < count; ++k) sum += static_cast<double>(x[r * count + k]);
          out[r] = static_cast<float>(sum);
        }
      });
  // What no sum can beat: the terms are only read.
  volatile uint32_t read = 0;
  table->Add(
      "reduce_add_rows_f32_reading_" + size, [&] { rows.Run(); },
      [&] {
        const auto* words = rows.Operand<uint32_t>(0);
        uint32_t any = 0;
        for (size_t k = 0; k < count * count; ++k) any |= words[k];
        read = any;
      });
  const Kernel columns = reduce("f32", "0", "add");
  table->Add(
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
  table->Add(
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
  table->Add(
      "reduce_add_all_s32_" + size, [&] { all.Run(); },
      [&] {
        const int32_t* x = all.Operand<int32_t>(0);
        int32_t sum = 0;
        for (size_t k = 0; k < count * count; ++k) sum += x[k];
        sink = sum;
      });
}

void MeasureMovement(KernelTable* table, const std::string& size, int64_t n) {
  const std::string nn = "f32[" + std::to_string(n) + "," + std::to_string(n) + "]";
  const std::string x = "  x = " + nn + " parameter(0)\n  ROOT r = ";
  const auto count = static_cast<size_t>(n);
  std::vector<float> out(count * count * 2);

  const Kernel transpose(x + nn + " transpose(x), dimensions={1,0}");
  table->Add(
      "transpose_f32_" + size, [&] { transpose.Run(); },
      [&] { std::memcpy(out.data(), transpose.Operand<float>(0), count * count * sizeof(float)); });
  const std::string half = std::to_string(n / 2);
  const Kernel slice(x + "f32[" + half + "," + half + "] slice(x), slice={[1:" +
                     std::to_string(n / 2 + 1) + "], [3:" + std::to_string(n / 2 + 3) + "]}");
  table->Add(
      "slice_f32_" + size, [&] { slice.Run(); },
      [&] {
        const float* from = slice.Operand<float>(0);
        for (size_t i = 0; i < count / 2; ++i) {
          std::memcpy(&out[i * (count / 2)], from + (i + 1) * count + 3, count / 2 * sizeof(float));
        }
      });
  const Kernel concatenate("  x = " + nn + " parameter(0)\n  y = " + nn +
                           " parameter(1)\n  ROOT r = f32[" + std::to_string(n) + "," +
                           std::to_string(2 * n) + "] concatenate(x, y), dimensions={1}");
  table->Add(
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
  table->Add(
      "broadcast_f32_" + size, [&] { broadcast.Run(); },
      [&] {
        const float* from = broadcast.Operand<float>(0);
        for (size_t i = 0; i < count; ++i) std::fill_n(&out[i * count], count, from[i]);
      });
}
void MeasureRows(KernelTable* table, const std::string& size, int64_t n) {
  const std::string nn = "f32[" + std::to_string(n) + "," + std::to_string(n) + "]";
  const auto count = static_cast<size_t>(n);
  std::vector<float> out(count * count);
  const std::string rows = std::to_string(n);
  const Kernel gather("  x = " + nn + " parameter(0)\n  i = s32[" + rows +
                      "] parameter(1)\n  ROOT r = " + nn +
                      " gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, "
                      "start_index_map={0}, index_vector_dim=1, slice_sizes={1," +
                      rows + "}");
  table->Add(
      "gather_rows_f32_" + size, [&] { gather.Run(); },
      [&] {
        const float* from = gather.Operand<float>(0);
        const int32_t* index = gather.Operand<int32_t>(1);
        for (size_t i = 0; i < count; ++i) {
          const auto row = static_cast<size_t>(std::clamp<int64_t>(index[i], 0, n - 1));
          std::memcpy(&out[i * count], from + row * count, count * sizeof(float));
        }
      });

  const Kernel scatter("  x = " + nn + " parameter(0)\n  i = s32[" + rows +
                           "] parameter(1)\n  u = " + nn + " parameter(2)\n  ROOT r = " + nn +
                           " scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0}, "
                           "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
                       kReducers);
  table->Add(
      "scatter_add_rows_f32_" + size, [&] { scatter.Run(); },
      [&] {
        std::memcpy(out.data(), scatter.Operand<float>(0), count * count * sizeof(float));
        const int32_t* index = scatter.Operand<int32_t>(1);
        for (size_t i = 0; i < count; ++i) {
          if (index[i] >= n) continue;
          float* to = &out[static_cast<size_t>(index[i]) * count];
          const float* from = scatter.Operand<float>(2) + i * count;
          for (size_t k = 0; k < count; ++k) to[k] += from[k];
        }
      });
}

}  // namespace hv
