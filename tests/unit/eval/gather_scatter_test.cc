// Gather and scatter of many windows of every width against loops written out, on any vectors and
// threads.
#include "eval/gather_scatter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "eval/vector_isa.h"
#include "tests/unit/eval/evaluate_text.h"

namespace hv {
namespace {

constexpr int64_t kRows = 90, kWindows = 3 * 71;

// Row numbers, some of them outside.
Value Indices(const Shape* shape) {
  Value indices = Value::NewNative(shape);
  int64_t n = 17;
  for (int32_t& i : indices.MutableAs<int32_t>()) {
    n = (n * 61 + 7) % 1009;
    i = static_cast<int32_t>(n % (kRows + 9) - 4);
  }
  return indices;
}

Value Bytes(const Shape* shape, uint32_t seed) {
  Value value = Value::NewNative(shape);
  for (std::byte& b : value.MutableBytes()) {
    b = static_cast<std::byte>((seed = seed * 1664525 + 1013904223) >> 26);
  }
  return value;
}

class Rows {
 public:
  Rows(const std::string& type, int64_t columns, const std::string& root,
       const std::string& computations)
      : module_(test::Parse(Body(type, std::to_string(columns)) + root, computations)),
        columns_(columns) {
    const Computation& entry = module_.Entry();
    for (const Instruction& parameter : entry.instructions) {
      if (parameter.opcode != Opcode::kParameter) continue;
      arguments_.push_back(parameter.parameter_number == 1 ? Indices(parameter.shape)
                                                           : Bytes(parameter.shape, 5));
    }
  }
  Value Run() {
    Result<Value> value = test::Evaluate(*domain_, module_, arguments_);
    HV_CHECK(value.has_value(), value ? "" : value.error().Message());
    return *value;
  }
  size_t row_bytes() const {
    return static_cast<size_t>(columns_ * arguments_[0].element_bytes());
  }
  const Value& argument(size_t k) const { return arguments_[k]; }

 private:
  static std::string Body(const std::string& type, const std::string& columns) {
    const std::string rows = std::to_string(kRows);
    return "  x = " + type + "[" + rows + "," + columns + "] parameter(0)\n" +
           "  i = s32[3,71] parameter(1)\n" + "  u = " + type + "[3,71," + columns +
           "] parameter(2)\n";
  }

  Module module_;
  int64_t columns_;
  std::vector<Value> arguments_;
  std::unique_ptr<Domain> domain_ = MakeNativeDomain();
};

template <class F>
void OnAnyMachine(F check) {
  for (const Isa widest : {Isa::kBase, Isa::kAvx2, Isa::kAvx512}) {
    for (const int threads : {1, 3}) {
      LimitIsa(widest);
      SetThreadCount(threads);
      check();
    }
  }
  SetThreadCount(1);
}

TEST(GatherScatter, RowsOfEveryWidthAreGathered) {
  for (const char* type : {"u8", "bf16", "f32", "f64", "c128"}) {
    for (const int64_t columns : {1, 2, 3, 8, 16, 37, 300}) {
      const std::string n = std::to_string(columns);
      Rows rows(type, columns,
                "  ROOT r = " + std::string(type) + "[3,71," + n +
                    "] gather(x, i), offset_dims={2}, collapsed_slice_dims={0}, "
                    "start_index_map={0}, index_vector_dim=2, slice_sizes={1," + n + "}",
                "");
      OnAnyMachine([&] {
        const Value result = rows.Run();
        for (size_t w = 0; w < kWindows; ++w) {
          const int64_t row = std::clamp<int64_t>(rows.argument(1).As<int32_t>()[w], 0, kRows - 1);
          const size_t at = static_cast<size_t>(row) * rows.row_bytes();
          EXPECT_EQ(std::memcmp(result.bytes().data() + w * rows.row_bytes(),
                                rows.argument(0).bytes().data() + at, rows.row_bytes()),
                    0)
              << type << columns << " window " << w;
        }
      });
    }
  }
}

// Columns [0, 4) of two rows: two stretches a window.
TEST(GatherScatter, WindowsOfSeveralStretchesAreGathered) {
  Rows rows("f32", 9,
            "  ROOT r = f32[3,71,2,4] gather(x, i), offset_dims={2,3}, collapsed_slice_dims={}, "
            "start_index_map={0}, index_vector_dim=2, slice_sizes={2,4}",
            "");
  OnAnyMachine([&] {
    const Value result = rows.Run();
    for (int64_t w = 0; w < kWindows; ++w) {
      const auto index = rows.argument(1).As<int32_t>()[static_cast<size_t>(w)];
      const int64_t row = std::clamp<int64_t>(index, 0, kRows - 2);
      for (int64_t k = 0; k < 8; ++k) {
        const auto from = static_cast<size_t>((row + k / 4) * 9 + k % 4);
        EXPECT_EQ(result.As<uint32_t>()[static_cast<size_t>(8 * w + k)],
                  rows.argument(0).As<uint32_t>()[from]);
      }
    }
  });
}

template <class T>
void CheckScatter(const std::string& type, const std::string& fn, T (*apply)(T, T)) {
  for (const int64_t columns : {1, 5, 16, 21, 64}) {
    const std::string shape =
        type + "[" + std::to_string(kRows) + "," + std::to_string(columns) + "]";
    Rows rows(type, columns,
              "  ROOT r = " + shape +
                  " scatter(x, i, u), update_window_dims={2}, inserted_window_dims={0}, "
                  "scatter_dims_to_operand_dims={0}, index_vector_dim=2, to_apply=f",
              "f { a = " + type + "[] parameter(0)\n b = " + type + "[] parameter(1)\n ROOT r = " +
                  type + "[] " + fn + "(a, b) }\n");
    const auto x = rows.argument(0).As<T>(), u = rows.argument(2).As<T>();
    std::vector<T> expected(x.begin(), x.end());
    for (int64_t w = 0; w < kWindows; ++w) {
      const int64_t row = rows.argument(1).As<int32_t>()[static_cast<size_t>(w)];
      if (row < 0 || row >= kRows) continue;
      for (int64_t k = 0; k < columns; ++k) {
        T& to = expected[static_cast<size_t>(row * columns + k)];
        to = apply(to, u[static_cast<size_t>(w * columns + k)]);
      }
    }
    OnAnyMachine([&] {
      const Value result = rows.Run();
      EXPECT_EQ(std::memcmp(result.bytes().data(), expected.data(), result.bytes().size()), 0)
          << type << " " << fn << " " << columns;
    });
  }
}

TEST(GatherScatter, RowsAreAddedInOrderAndThoseOutsideSkipped) {
  CheckScatter<float>("f32", "add", [](float a, float b) { return a + b; });
  CheckScatter<double>("f64", "add", [](double a, double b) { return a + b; });
  CheckScatter<uint8_t>("u8", "add",
                        [](uint8_t a, uint8_t b) { return static_cast<uint8_t>(a + b); });
  CheckScatter<uint64_t>("u64", "add", [](uint64_t a, uint64_t b) { return a + b; });
  CheckScatter<int32_t>("s32", "maximum", [](int32_t a, int32_t b) { return std::max(a, b); });
  CheckScatter<uint16_t>("u16", "subtract",
                         [](uint16_t a, uint16_t b) { return static_cast<uint16_t>(a - b); });
}

}  // namespace
}  // namespace hv
