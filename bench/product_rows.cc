// Products beside Eigen's, which may fuse multiplication and addition where ours round both.
#include <fmt/format.h>

#include <tuple>

#include "bench/kernel_bench.h"
#include "eval/half_floats.h"

namespace hv {
namespace {

struct Size {
  int64_t m, n, k;
};

// x[m,k] and y[k,n], or their transposes as `order` (two bits) says.
Kernel Dot(const std::string& type, Size s, int order = 0) {
  const bool left = (order & 1) != 0, right = (order & 2) != 0;
  return Kernel(
      fmt::format("  x = {0}[{4},{5}] parameter(0)\n  y = {0}[{6},{7}] parameter(1)\n"
                  "  ROOT r = {0}[{1},{2}] dot(x, y), lhs_contracting_dims={{{8}}}, "
                  "rhs_contracting_dims={{{9}}}",
                  type, s.m, s.n, s.k, left ? s.k : s.m, left ? s.m : s.k, right ? s.n : s.k,
                  right ? s.k : s.n, left ? 0 : 1, right ? 1 : 0));
}

template <class T>
void AddDot(KernelTable* table, const std::string& name, const Kernel& dot, Size s) {
  std::vector<T> out(static_cast<size_t>(s.m * s.n));
  table->Add(
      fmt::format("{}_{}x{}x{}", name, s.m, s.n, s.k), [&] { dot.Run(); },
      [&] { EigenProduct(s.m, s.n, s.k, dot.Operand<T>(0), dot.Operand<T>(1), out.data()); });
}

// Through f32, as one would by hand.
void AddBf16(KernelTable* table, Size s) {
  const Kernel dot = Dot("bf16", s);
  std::vector<float> x(static_cast<size_t>(s.m * s.k)), y(static_cast<size_t>(s.k * s.n));
  std::vector<float> out(static_cast<size_t>(s.m * s.n));
  std::vector<uint16_t> narrow(out.size());
  table->Add(
      fmt::format("dot_bf16_{}x{}x{}", s.m, s.n, s.k), [&] { dot.Run(); },
      [&] {
        for (size_t i = 0; i < x.size(); ++i) x[i] = WidenBf16(dot.Operand<uint16_t>(0)[i]);
        for (size_t i = 0; i < y.size(); ++i) y[i] = WidenBf16(dot.Operand<uint16_t>(1)[i]);
        EigenProduct(s.m, s.n, s.k, x.data(), y.data(), out.data());
        for (size_t i = 0; i < out.size(); ++i) narrow[i] = NarrowBf16(out[i]);
      });
}

void AddS32(KernelTable* table, Size s) {
  const Kernel dot = Dot("s32", s);
  std::vector<int32_t> out(static_cast<size_t>(s.m * s.n));
  table->Add(
      fmt::format("dot_s32_{}x{}x{}", s.m, s.n, s.k), [&] { dot.Run(); },
      [&] {
        const int32_t *x = dot.Operand<int32_t>(0), *y = dot.Operand<int32_t>(1);
        for (int64_t i = 0; i < s.m; ++i) {
          int32_t* row = &out[static_cast<size_t>(i * s.n)];
          std::fill_n(row, s.n, 0);
          for (int64_t p = 0; p < s.k; ++p) {
            for (int64_t j = 0; j < s.n; ++j) row[j] += x[i * s.k + p] * y[p * s.n + j];
          }
        }
      });
}

// im2col and one product.
void AddConvolution(KernelTable* table) {
  constexpr int64_t kBatch = 8, kSide = 32, kIn = 16, kOut = 32, kDepth = 9 * kIn;
  const Kernel convolution(
      "  x = f32[8,32,32,16] parameter(0)\n  w = f32[3,3,16,32] parameter(1)\n"
      "  ROOT r = f32[8,32,32,32] convolution(x, w), window={size=3x3 pad=1_1x1_1}, "
      "dim_labels=b01f_01io->b01f");
  constexpr int64_t kRows = kBatch * kSide * kSide;
  std::vector<float> columns(kRows * kDepth), out(kRows * kOut);
  table->Add(
      "convolution_3x3_16_32", [&] { convolution.Run(); },
      [&] {
        float* to = columns.data();
        for (int64_t row = 0; row < kRows; ++row) {
          const int64_t b = row / (kSide * kSide), i = row / kSide % kSide, j = row % kSide;
          for (int64_t k = 0; k < 9; ++k, to += kIn) {
            const int64_t y = i + k / 3 - 1, x = j + k % 3 - 1;
            const bool inside = y >= 0 && y < kSide && x >= 0 && x < kSide;
            const float* from = convolution.Operand<float>(0) + ((b * kSide + y) * kSide + x) * kIn;
            if (inside) {
              std::copy_n(from, kIn, to);
            } else {
              std::fill_n(to, kIn, 0.0f);
            }
          }
        }
        EigenProduct(kRows, kOut, kDepth, columns.data(), convolution.Operand<float>(1),
                     out.data());
      });
}

}  // namespace

void MeasureProducts(KernelTable* table) {
  for (const Size s : {Size{32, 32, 32}, Size{64, 64, 64}, Size{256, 256, 256}, Size{512, 512, 512},
                       Size{1024, 1024, 1024}, Size{32, 128, 512}, Size{1024, 64, 256},
                       Size{1, 2048, 2048}, Size{2048, 1, 2048}}) {
    AddDot<float>(table, "dot_f32", Dot("f32", s), s);
  }
  const Size square{512, 512, 512};
  AddDot<float>(table, "dot_f32_left_transposed", Dot("f32", square, 1), square);
  AddDot<float>(table, "dot_f32_right_transposed", Dot("f32", square, 2), square);
  AddDot<float>(table, "dot_f32_both_transposed", Dot("f32", square, 3), square);
  AddDot<double>(table, "dot_f64", Dot("f64", square), square);
  AddBf16(table, square);
  AddS32(table, {256, 256, 256});
  AddConvolution(table);
}

}  // namespace hv
