// Windows folded by doubling against the same windows visited position by position, bit for bit.
#include "eval/window.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>

#include "hlo/parser.h"

namespace hv {
namespace {

// The same reducer, which says nothing about grouping.
class Ordered : public Combiner {
 public:
  explicit Ordered(Combiner* combiner) : combiner_(combiner) {}
  Status Combine(std::span<std::byte* const> accumulators, std::span<const std::byte* const> values,
                 size_t count) override {
    return combiner_->Combine(accumulators, values, count);
  }

 private:
  Combiner* combiner_;
};

struct WindowCase {
  std::vector<int64_t> input, output;
  std::vector<WindowDim> window;
};

WindowDim Dim(int64_t size, int64_t stride = 1, int64_t low = 0, int64_t high = 0) {
  WindowDim w;
  w.size = size;
  w.stride = stride;
  w.low = low;
  w.high = high;
  return w;
}

const WindowCase kCases[] = {
    {{100}, {93}, {Dim(8)}},
    {{100}, {100}, {Dim(100, 1, 99)}},
    {{50}, {50}, {Dim(37, 1, 18, 18)}},
    {{3, 40, 5}, {3, 40, 5}, {Dim(1), Dim(13, 1, 12), Dim(1)}},
    {{9, 30, 21}, {7, 14, 10}, {Dim(3), Dim(3, 2), Dim(3, 2)}},
    {{20, 20}, {10, 5}, {Dim(5, 2, 2, 2), Dim(7, 4, 3, 3)}},
    {{30, 8}, {11, 8}, {Dim(15, 1, -2, -3), Dim(1)}},
    // So many windows that they are folded some at a time.
    {{70001}, {69996}, {Dim(16, 1, 7, 3)}},
    {{40000}, {13330}, {Dim(30, 3, 9, 9)}},
    {{40000}, {39978}, {Dim(16, 1, -5, -2)}},
    {{30000, 3}, {29971, 3}, {Dim(30), Dim(1)}},
};

template <class T>
T Number(uint32_t n) {
  if constexpr (std::is_floating_point_v<T>) {
    if (n % 61 == 0) return std::numeric_limits<T>::quiet_NaN();
    if (n % 7 == 0) return n % 2 == 0 ? T{0} : -T{0};
    return static_cast<T>(n % 19) - T{9};
  } else {
    return static_cast<T>(n);
  }
}

template <class T>
void Check(ElementType type, const std::string& reducer) {
  const std::string scalar = std::string(ToString(type)) + "[]";
  const Result<Module> module = ParseModule(
      "w.hlo", "HloModule m\nf { a = " + scalar + " parameter(0)\n b = " + scalar +
                   " parameter(1)\n ROOT r = " + scalar + " " + reducer +
                   "(a, b) }\nENTRY e { p = " + scalar + " parameter(0)\n ROOT q = " + scalar +
                   " reduce(p, p), dimensions={}, to_apply=f }\n");
  ASSERT_TRUE(module.has_value()) << FormatError(module.error());
  const ComputationIndex f = module->Entry().Root().Computation(Attr::kToApply);
  const auto combiner = MakeNativeCombiner(*module, f, {&type, 1});
  ASSERT_TRUE(combiner.has_value());
  ASSERT_TRUE((*combiner)->MayRegroup());
  Ordered ordered(combiner->get());
  ShapeTable shapes;
  for (const WindowCase& c : kCases) {
    Value input = Value::NewNative(shapes.Array(type, c.input));
    uint32_t n = 3;
    for (T& v : input.MutableAs<T>()) v = Number<T>((n = n * 1664525 + 1013904223) >> 8);
    Value init = Value::NewNative(shapes.Scalar(type));
    init.MutableAs<T>()[0] = T{0};
    const Shape* shape = shapes.Array(type, c.output);
    const auto got = ReduceWindowWith(c.window, {&input, 1}, {&init, 1}, {&shape, 1}, **combiner);
    const auto expected = ReduceWindowWith(c.window, {&input, 1}, {&init, 1}, {&shape, 1}, ordered);
    ASSERT_TRUE(got.has_value() && expected.has_value());
    EXPECT_TRUE(SameBits((*got)[0], (*expected)[0])) << reducer << " case " << &c - kCases;
  }
}

TEST(Window, DoublingGivesTheBitsOfThePositionsInOrder) {
  for (const char* reducer : {"maximum", "minimum"}) {
    Check<float>(ElementType::kF32, reducer);
    Check<double>(ElementType::kF64, reducer);
    Check<int32_t>(ElementType::kS32, reducer);
  }
  Check<int32_t>(ElementType::kS32, "add");
  Check<uint8_t>(ElementType::kU8, "add");
  Check<uint64_t>(ElementType::kU64, "multiply");
}

}  // namespace
}  // namespace hv
