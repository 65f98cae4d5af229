// Sums of floats against the definition, bit for bit: f64, chunks of 512 terms, for every way in
// which kept and reduced dimensions can lie.
#include "eval/float_sum.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "base/parallel.h"
#include "eval/half_floats.h"
#include "eval/odometer.h"
#include "eval/vector_isa.h"
#include "hlo/shape.h"

namespace hv {
namespace {

struct Case {
  std::vector<int64_t> dims, reduced, minor_to_major;
};

const Case kCases[] = {
    {{1300}, {0}, {}},         {{3, 5000}, {1}, {}},        {{37, 1030}, {1}, {}},
    {{1030, 37}, {0}, {}},     {{9, 600, 11}, {1}, {}},     {{5, 70, 23}, {0, 2}, {}},
    {{600, 3, 5}, {0, 2}, {}}, {{7, 90, 1100}, {0, 1}, {}}, {{40, 60}, {0, 1}, {0, 1}},
    {{13, 1200, 2}, {1}, {}},  {{4, 6, 8}, {}, {}},         {{70, 9, 50}, {0, 2}, {0, 1, 2}},
};

template <class T>
T Number(uint32_t n) {
  if constexpr (sizeof(T) == 2) {
    return T{static_cast<uint16_t>((n % 3 << 14 & 0x8000) + 0x3C00 + n % 1000)};
  } else {
    return static_cast<T>(static_cast<int64_t>(n % 100003) - 50000) / T{7};
  }
}

template <class T>
void Check(ElementType type, const Case& c) {
  ShapeTable shapes;
  Shape laid_out = *shapes.Array(type, c.dims);
  laid_out.minor_to_major = c.minor_to_major;
  const Shape* operand = shapes.Intern(laid_out);
  const ReduceGeometry g = GeometryOfReduce(*operand, c.reduced);
  const int64_t results = g.results;
  const Shape* shape = shapes.Array(type, std::span(&results, 1));
  Value input = Value::NewNative(operand);
  uint32_t n = 1;
  for (T& v : input.MutableAs<T>()) v = Number<T>(n = n * 1664525 + 1013904223);
  Value init = Value::NewNative(shapes.Scalar(type));
  init.MutableAs<T>()[0] = Number<T>(5);

  const Shape* wide = shapes.Array(ElementType::kF64, std::span(&results, 1));
  const auto terms = input.As<T>();
  Odometer kept(g.kept);
  std::vector<double> expected;
  for (int64_t r = 0; r < results; ++r, kept.Next()) {
    double sum = static_cast<double>(init.As<T>()[0]), chunk = 0;
    Odometer term(g.reduced);
    for (int64_t t = 0; t < g.terms; ++t, term.Next()) {
      chunk += static_cast<double>(terms[static_cast<size_t>(kept.in() + term.in())]);
      if (t % 512 == 511 || t + 1 == g.terms) sum += std::exchange(chunk, 0.0);
    }
    expected.push_back(sum);
  }
  for (const int threads : {1, 3}) {
    SetThreadCount(threads);
    const Value sums = SumFloats(g, input, init, wide);
    for (int64_t r = 0; r < results; ++r) {
      EXPECT_EQ(sums.As<double>()[static_cast<size_t>(r)], expected[static_cast<size_t>(r)])
          << ToString(type) << " case " << &c - kCases << " result " << r;
    }
  }
  SetThreadCount(1);
  // In the operand's type: rounded once.
  const Value rounded = SumFloats(g, input, init, shape);
  if constexpr (sizeof(T) >= 4) {
    for (int64_t r = 0; r < results; ++r) {
      EXPECT_EQ(rounded.As<T>()[static_cast<size_t>(r)],
                static_cast<T>(expected[static_cast<size_t>(r)]));
    }
  }
}

TEST(FloatSum, IsTheDefinitionOnAnyVectors) {
  for (const Isa widest : {Isa::kBase, Isa::kAvx2, Isa::kAvx512}) {
    LimitIsa(widest);
    for (const Case& c : kCases) {
      Check<float>(ElementType::kF32, c);
      Check<double>(ElementType::kF64, c);
      Check<Bf16>(ElementType::kBF16, c);
      Check<F16>(ElementType::kF16, c);
    }
  }
}

}  // namespace
}  // namespace hv
