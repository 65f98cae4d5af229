// Sorts beside std::sort, windows beside the two scans of van Herk, and codes of the exact domains
// beside doubles.
#include <algorithm>

#include "bench/kernel_bench.h"

namespace hv {
namespace {

void MeasureSort(KernelTable* table, int64_t n) {
  const std::string f = "f32[" + std::to_string(n) + "]";
  const Kernel sort(
      "  x = " + f + " parameter(0)\n  ROOT r = " + f + " sort(x), dimensions={0}, to_apply=less",
      "less { a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
      " ROOT r = pred[] compare(a, b), direction=LT }\n");
  std::vector<float> out;
  table->Add(
      "sort_f32_" + std::to_string(n), [&] { sort.Run(); },
      [&] {
        out.assign(sort.Operand<float>(0), sort.Operand<float>(0) + n);
        std::sort(out.begin(), out.end());
      });
}

// Maxima of windows of w elements: the greater of a suffix and a prefix of blocks of w.
void MeasureWindow(KernelTable* table, int64_t n, int64_t w) {
  const Kernel window(
      "  x = f32[" + std::to_string(n) + "] parameter(0)\n  z = f32[] constant(0)\n" +
          "  ROOT r = f32[" + std::to_string(n - w + 1) +
          "] reduce-window(x, z), window={size=" + std::to_string(w) + "}, to_apply=max",
      kReducers);
  std::vector<float> prefix(static_cast<size_t>(n)), suffix(prefix.size()), out(prefix.size());
  table->Add(
      "reduce_window_maximum_" + std::to_string(w), [&] { window.Run(); },
      [&] {
        const float* x = window.Operand<float>(0);
        const auto count = static_cast<size_t>(n), block = static_cast<size_t>(w);
        for (size_t i = 0; i < count; ++i) {
          prefix[i] = i % block == 0 ? x[i] : std::max(prefix[i - 1], x[i]);
        }
        for (size_t i = count; i-- > 0;) {
          const bool last = i + 1 == count || (i + 1) % block == 0;
          suffix[i] = last ? x[i] : std::max(suffix[i + 1], x[i]);
        }
        for (size_t i = 0; i + block <= count; ++i) {
          out[i] = std::max(suffix[i], prefix[i + block - 1]);
        }
      });
}

}  // namespace

void MeasureOrders(KernelTable* table) {
  MeasureSort(table, 1000);
  MeasureSort(table, 1000000);
  MeasureWindow(table, 1000000, 16);
  MeasureWindow(table, 1000000, 1000);
}

void MeasureCodes(KernelTable* table) {
  const std::string sums =
      "  x = f64[1000000] parameter(0)\n  y = f64[1000000] parameter(1)\n"
      "  ROOT r = f64[1000000] add(x, y)";
  const std::string moves =
      "  x = f64[1000,1000] parameter(0)\n  ROOT r = f64[1000,1000] transpose(x), dimensions={1,0}";
  const std::string products =
      "  x = f64[128,128] parameter(0)\n  y = f64[128,128] parameter(1)\n"
      "  ROOT r = f64[128,128] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}";
  const auto compare = [table](const std::string& name, const std::string& body) {
    const Kernel native(body), field(body, "", MakeFieldDomain(1)),
        wrap(body, "", MakeWrapDomain(1));
    table->Add(
        name + "_field_beside_f64", [&] { field.Run(); }, [&] { native.Run(); });
    table->Add(
        name + "_wrap_beside_f64", [&] { wrap.Run(); }, [&] { native.Run(); });
  };
  compare("add", sums);
  compare("transpose", moves);
  compare("dot_128", products);
}

}  // namespace hv
