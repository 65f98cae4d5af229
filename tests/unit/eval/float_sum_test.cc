// Sums of floats against their definitions, bit for bit, for every way in which kept and reduced
// dimensions can lie, on any vectors and threads.
#include "eval/float_sum.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>
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
    {{5, 8}, {0}, {}},         {{130, 7}, {1}, {}},         {{64, 19}, {0}, {}},
    {{2, 1100, 3}, {1}, {}},   {{300, 40}, {0}, {0, 1}},    {{1, 9}, {0}, {}},
};

// In ascending order, chunks of 512.
double SumInOrder(double sum, const std::vector<double>& terms) {
  double chunk = 0;
  for (size_t t = 0; t < terms.size(); ++t) {
    chunk += terms[t];
    if (t % 512 == 511 || t + 1 == terms.size()) sum += std::exchange(chunk, 0.0);
  }
  return sum;
}

// By lanes, as eval/lane_sum.h says.
double SumByEightLanes(double sum, const std::vector<double>& terms) {
  for (size_t chunk = 0; chunk < terms.size(); chunk += 1024) {
    const size_t end = std::min(terms.size(), chunk + 1024);
    std::array<double, 8> lanes = {};
    for (size_t block = chunk; block < end; block += 64) {
      for (size_t l = 0; l < 8; ++l) {
        double eight = 0;
        for (size_t t = block + l; t < std::min(end, block + 64); t += 8) eight += terms[t];
        lanes[l] += eight;
      }
    }
    double total = 0;
    for (const double lane : lanes) total += lane;
    sum += total;
  }
  return sum;
}

template <class T>
T Number(uint32_t n) {
  if constexpr (sizeof(T) == 2) {
    return T{static_cast<uint16_t>((n % 3 << 14 & 0x8000) + 0x3C00 + n % 1000)};
  } else {
    return static_cast<T>(static_cast<int64_t>(n % 100003) - 50000) / T{7};
  }
}

template <class T>
class Sums {
 public:
  Sums(ElementType type, const Case& c) : c_(c) {
    Shape laid_out = *shapes_.Array(type, c.dims);
    laid_out.minor_to_major = c.minor_to_major;
    const Shape* operand = shapes_.Intern(laid_out);
    geometry_ = GeometryOfReduce(*operand, c.reduced);
    input_ = Value::NewNative(operand);
    uint32_t n = 1;
    for (T& v : input_.MutableAs<T>()) v = Number<T>(n = n * 1664525 + 1013904223);
    init_ = Value::NewNative(shapes_.Scalar(type));
    init_.MutableAs<T>()[0] = Number<T>(5);
  }

  template <class Definition>
  std::vector<double> Expected(Definition definition) const {
    std::vector<double> sums, terms;
    Odometer kept(geometry_.kept);
    for (int64_t r = 0; r < geometry_.results; ++r, kept.Next()) {
      terms.clear();
      Odometer term(geometry_.reduced);
      for (int64_t t = 0; t < geometry_.terms; ++t, term.Next()) {
        const auto at = static_cast<size_t>(kept.in() + term.in());
        terms.push_back(static_cast<double>(input_.As<T>()[at]));
      }
      sums.push_back(definition(static_cast<double>(init_.As<T>()[0]), terms));
    }
    return sums;
  }

  // Results in the type of `R`.
  template <class R>
  void Check(ElementType type, const std::vector<double>& expected) {
    const int64_t results = geometry_.results;
    for (const int threads : {1, 3}) {
      SetThreadCount(threads);
      const Value sums =
          SumFloats(geometry_, input_, init_, shapes_.Array(type, std::span(&results, 1)));
      for (size_t r = 0; r < expected.size(); ++r) {
        EXPECT_EQ(sums.As<R>()[r], static_cast<R>(expected[r]))
            << ToString(type) << " case " << &c_ - kCases << " result " << r;
      }
    }
    SetThreadCount(1);
  }

 private:
  const Case& c_;
  ShapeTable shapes_;
  ReduceGeometry geometry_;
  Value input_, init_;
};

template <class T>
void Check(ElementType type, const Case& c) {
  Sums<T> sums(type, c);
  sums.template Check<double>(ElementType::kF64, sums.Expected(SumInOrder));
  if (type != ElementType::kF64) {
    sums.template Check<float>(ElementType::kF32, sums.Expected(SumByEightLanes));
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

// Sums of -0 from -0, where term number `place` of each result is `value`.
std::vector<float> SumsWith(std::vector<int64_t> dims, int64_t reduced, float value, int64_t place) {
  ShapeTable shapes;
  const Shape* operand = shapes.Array(ElementType::kF32, dims);
  const std::array<int64_t, 1> along = {reduced};
  const ReduceGeometry g = GeometryOfReduce(*operand, along);
  Value input = Value::NewNative(operand);
  Odometer kept(g.kept);
  for (float& x : input.MutableAs<float>()) x = -0.0f;
  for (int64_t r = 0; r < g.results; ++r, kept.Next()) {
    const int64_t at = kept.in() + place * g.reduced[0].in_stride;
    input.MutableAs<float>()[static_cast<size_t>(at)] = value;
  }
  Value init = Value::NewNative(shapes.Scalar(ElementType::kF32));
  init.MutableAs<float>()[0] = -0.0f;
  const Value sums = SumFloats(g, input, init, shapes.Array(ElementType::kF32, {&g.results, 1}));
  return {sums.As<float>().begin(), sums.As<float>().end()};
}

TEST(FloatSum, SpecialValuesAreTheSameOnAnyVectors) {
  for (const Isa widest : {Isa::kBase, Isa::kAvx512}) {
    LimitIsa(widest);
    for (const bool rows : {true, false}) {
      for (int64_t terms = 2; terms < 200; terms += 3) {
        const auto sums = [&](float value, int64_t place) {
          return SumsWith(rows ? std::vector{int64_t{5}, terms} : std::vector{terms, int64_t{5}},
                          rows ? 1 : 0, value, place);
        };
        for (const float zero : sums(-0.0f, 1)) EXPECT_EQ(std::bit_cast<uint32_t>(zero), 0u);
        const float infinity = std::numeric_limits<float>::infinity();
        for (const float sum : sums(-infinity, terms - 1)) EXPECT_EQ(sum, -infinity);
        for (const float sum : sums(0x1p-149f, terms / 2)) EXPECT_EQ(sum, 0x1p-149f);
        for (const float sum : sums(-std::nanf("1"), terms - 1)) {
          EXPECT_EQ(std::bit_cast<uint32_t>(sum), 0x7FC00000u) << terms;
        }
      }
    }
  }
}

}  // namespace
}  // namespace hv
