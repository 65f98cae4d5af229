// sort against a stable sort by the comparator's own definition: types, directions, ties, signed
// zeros, NaNs, short and long rows, any dimension, one operand and several.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/parallel.h"
#include "tests/unit/eval/evaluate_text.h"

namespace hv::test {
namespace {

// Many equal elements, both zeros, and the ends of the type.
template <class T>
T Number(uint32_t n) {
  if constexpr (std::is_floating_point_v<T>) {
    constexpr T kSpecial[] = {T{0}, -T{0}, std::numeric_limits<T>::infinity(),
                              -std::numeric_limits<T>::infinity()};
    return n % 8 < 4 ? kSpecial[n % 4]
                     : static_cast<T>(static_cast<int>(n >> 8 & 511) - 255) / T{3};
  } else {
    return n % 16 == 0 ? std::numeric_limits<T>::min() : static_cast<T>(n >> 4);
  }
}

template <class T>
struct SortCase {
  const char* type;
  int64_t rows, length;
  bool minor;  // the sorted dimension is the last one
  const char* direction;
};

// The second operand holds the positions, so that ties show.
template <class T>
void Check(const SortCase<T>& s, bool with_positions, bool nan = false) {
  const std::string dims = s.minor ? std::to_string(s.rows) + "," + std::to_string(s.length)
                                   : std::to_string(s.length) + "," + std::to_string(s.rows);
  const std::string x = std::string(s.type) + "[" + dims + "]", p = "s32[" + dims + "]";
  const std::string scalar = std::string(s.type) + "[]";
  const std::string less =
      "less { a = " + scalar + " parameter(0)\n b = " + scalar + " parameter(1)\n" +
      (with_positions ? " c = s32[] parameter(2)\n d = s32[] parameter(3)\n" : "") +
      " ROOT r = pred[] compare(a, b), direction=" + s.direction + " }\n";
  const std::string tail = std::string(s.minor ? "{1}" : "{0}") + ", to_apply=less";
  const Module module =
      Parse(with_positions
                ? "  x = " + x + " parameter(0)\n  p = " + p + " parameter(1)\n  ROOT r = (" + x +
                      ", " + p + ") sort(x, p), dimensions=" + tail
                : "  x = " + x + " parameter(0)\n  ROOT r = " + x + " sort(x), dimensions=" + tail,
            less);
  const Computation& entry = module.Entry();
  Value keys = Value::NewNative(entry.At(entry.parameters[0]).shape);
  uint32_t n = 7;
  for (T& v : keys.MutableAs<T>()) v = Number<T>(n = n * 1664525 + 1013904223);
  if (nan) keys.MutableAs<T>()[5] = std::numeric_limits<T>::quiet_NaN();
  std::vector<Value> arguments = {keys};
  if (with_positions) {
    arguments.push_back(Value::NewNative(entry.At(entry.parameters[1]).shape));
    std::iota(arguments[1].MutableAs<int32_t>().begin(), arguments[1].MutableAs<int32_t>().end(),
              0);
  }
  const std::unique_ptr<Domain> domain = MakeNativeDomain();
  const Result<Value> sorted = Evaluate(*domain, module, arguments);
  ASSERT_TRUE(sorted.has_value());
  const Value values = with_positions ? sorted->elements()[0] : *sorted;
  const int64_t stride = s.minor ? 1 : s.rows;
  const bool ascending = std::string(s.direction) == "LT";
  for (int64_t row = 0; row < s.rows; ++row) {
    const int64_t first = s.minor ? row * s.length : row;
    const auto key = [&](int64_t i) {
      return keys.As<T>()[static_cast<size_t>(first + i * stride)];
    };
    std::vector<int64_t> order(static_cast<size_t>(s.length));
    std::iota(order.begin(), order.end(), 0);
    if (!nan) {
      std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        return ascending ? key(a) < key(b) : key(a) > key(b);
      });
    }
    std::vector<int64_t> got;
    for (int64_t i = 0; i < s.length; ++i) {
      const auto at = static_cast<size_t>(first + i * stride);
      const T expected = key(order[static_cast<size_t>(i)]);
      if (!nan) {
        ASSERT_EQ(std::memcmp(&values.As<T>()[at], &expected, sizeof(T)), 0)
            << s.type << " " << s.direction << " row " << row << " at " << i;
      }
      if (!with_positions) continue;
      got.push_back((sorted->elements()[1].As<int32_t>()[at] - first) / stride);
      if (!nan) {
        ASSERT_EQ(got.back(), order[static_cast<size_t>(i)]);
      }
    }
    if (!nan || !with_positions) continue;  // no order, but a permutation
    std::sort(got.begin(), got.end());
    EXPECT_EQ(got, order);
  }
}

template <class T>
void CheckAll(const char* type) {
  for (const char* direction : {"LT", "GT"}) {
    for (const bool positions : {false, true}) {
      Check(SortCase<T>{type, 3, 5, true, direction}, positions);
      Check(SortCase<T>{type, 2, 3000, true, direction}, positions);
      Check(SortCase<T>{type, 4, 700, false, direction}, positions);
    }
  }
}

TEST(Sort, IsStableAndOrdered) {
  for (const int threads : {1, 2}) {
    SetThreadCount(threads);
    CheckAll<float>("f32");
    CheckAll<double>("f64");
    CheckAll<int8_t>("s8");
    CheckAll<uint8_t>("u8");
    CheckAll<int16_t>("s16");
    CheckAll<int32_t>("s32");
    CheckAll<uint32_t>("u32");
    CheckAll<int64_t>("s64");
    CheckAll<uint64_t>("u64");
  }
  SetThreadCount(1);
}

// Comparators as front ends write them: zeros and NaNs made one, then the total order. Positions
// show that what is equal so keeps its order, -0 and NaNs of either sign too.
TEST(Sort, ByAFunctionOfTheElements) {
  const std::string side =
      " z{0} = f32[] constant(0)\n n{0} = f32[] constant(nan)\n"
      " e{0} = pred[] compare({0}, z{0}), direction=EQ\n s{0} = f32[] select(e{0}, z{0}, {0})\n"
      " u{0} = pred[] compare({0}, {0}), direction=NE\n t{0} = f32[] select(u{0}, n{0}, s{0})\n";
  const auto with = [](std::string text, const std::string& name) {
    for (size_t at; (at = text.find("{0}")) != std::string::npos;) text.replace(at, 3, name);
    return text;
  };
  const std::string less =
      "less { a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
      " c = s32[] parameter(2)\n d = s32[] parameter(3)\n" +
      with(side, "a") + with(side, "b") +
      " ROOT r = pred[] compare(ta, tb), direction=LT, type=TOTALORDER }\n";
  EXPECT_EQ(EvaluateText("  x = f32[9] constant({3, nan, 0, -0, -nan, -1, 0, -inf, nan})\n"
                         "  p = s32[9] iota(), iota_dimension=0\n"
                         "  s = (f32[9], s32[9]) sort(x, p), dimensions={0}, to_apply=less\n"
                         "  ROOT r = s32[9] get-tuple-element(s), index=1",
                         less),
            "{7, 5, 2, 3, 6, 0, 1, 4, 8}");
  EXPECT_EQ(EvaluateText("  x = s32[5] constant({3, -1, 2, -3, 1})\n"
                         "  ROOT s = s32[5] sort(x), dimensions={0}, to_apply=greater",
                         "greater { a = s32[] parameter(0)\n b = s32[] parameter(1)\n"
                         " x = s32[] abs(a)\n y = s32[] abs(b)\n"
                         " ROOT r = pred[] compare(y, x), direction=LT }\n"),
            "{3, -3, 2, -1, 1}");
}

TEST(Sort, ComparisonsWithNaNLoseNothing) {
  Check(SortCase<float>{"f32", 1, 900, true, "LT"}, true, true);
  Check(SortCase<double>{"f64", 1, 900, true, "GT"}, true, true);
}

}  // namespace
}  // namespace hv::test
