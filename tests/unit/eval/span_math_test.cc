// The loops for wider vectors give the bits of the plain ones, and what an element yields does not
// depend on where it stands or on its neighbours.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "eval/span_kernel.h"
#include "eval/vector_isa.h"

namespace hv {
namespace {

using Floats = std::vector<float>;

Floats Apply(SpanKernel kernel, const Floats& x, const Floats& y, const Floats& z) {
  Floats out(x.size());
  SpanArgs a;
  a.in[0] = x.data();
  a.in[1] = y.data();
  a.in[2] = z.data();
  a.in[3] = x.data();
  a.out = out.data();
  a.count = x.size();
  kernel(a);
  return out;
}

bool SameFloats(const Floats& a, const Floats& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    const bool both_nan = a[i] != a[i] && b[i] != b[i];
    if (!both_nan && std::bit_cast<uint32_t>(a[i]) != std::bit_cast<uint32_t>(b[i])) return false;
  }
  return true;
}

// Patterns of all kinds, the special ones, and many of usual size; an odd number.
Floats Samples(uint32_t step) {
  Floats values = {0.0f, -0.0f, 1.0f, -1.0f, std::numeric_limits<float>::infinity(),
                   -std::numeric_limits<float>::infinity(), 87.0f, 87.0001f, -104.0f, 89.0f};
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += step) {
    values.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  }
  for (float x = 0x1p-9f; x < 100; x *= 1.0057f) values.insert(values.end(), {x, -x});
  if (values.size() % 2 == 0) values.push_back(0.5f);
  return values;
}

template <class Find>
void ExpectSameOnAllWidths(Find find) {
  const Floats x = Samples(5'000'011);
  Floats y(x.rbegin(), x.rend()), z(x.begin() + 7, x.end());
  z.resize(x.size(), 2.0f);
  LimitIsa(Isa::kBase);
  const Floats plain = Apply(find(), x, y, z);
  for (const Isa isa : {Isa::kAvx2, Isa::kAvx512}) {
    LimitIsa(isa);
    EXPECT_TRUE(SameFloats(Apply(find(), x, y, z), plain)) << static_cast<int>(isa);
  }
}

constexpr ScalarFn kFunctions[] = {
    ScalarFn::kAbs,      ScalarFn::kAdd,     ScalarFn::kCbrt,     ScalarFn::kCeil,
    ScalarFn::kClamp,    ScalarFn::kCos,     ScalarFn::kDivide,   ScalarFn::kErf,
    ScalarFn::kExp,      ScalarFn::kExpm1,   ScalarFn::kFloor,    ScalarFn::kLog,
    ScalarFn::kLog1p,    ScalarFn::kLogistic, ScalarFn::kMaximum, ScalarFn::kMinimum,
    ScalarFn::kMultiply, ScalarFn::kNegate,  ScalarFn::kPower,    ScalarFn::kRsqrt,
    ScalarFn::kSign,     ScalarFn::kSin,     ScalarFn::kSqrt,     ScalarFn::kSubtract,
    ScalarFn::kTanh};

TEST(SpanMath, EveryWidthGivesTheSameBits) {
  for (const ScalarFn fn : kFunctions) {
    SCOPED_TRACE(static_cast<int>(fn));
    ExpectSameOnAllWidths([fn] { return FindSpanKernel(fn, ComputeType::kF32); });
  }
}

TEST(SpanMath, PairsGiveTheBitsOfTwoLoops) {
  const Floats x = Samples(50'000'017);
  const Floats y(x.rbegin(), x.rend()), z(x.size(), 1.5f);
  constexpr ScalarFn kArithmetic[] = {ScalarFn::kAdd, ScalarFn::kSubtract, ScalarFn::kMultiply};
  for (const ScalarFn first : kArithmetic) {
    for (const ScalarFn second : kArithmetic) {
      const Floats between = Apply(FindSpanKernel(first, ComputeType::kF32), x, y, z);
      const SpanKernel then = FindSpanKernel(second, ComputeType::kF32);
      for (const int place : {0, 1}) {
        const Floats pair = Apply(FindPairKernel(first, second, place, ComputeType::kF32), x, y, z);
        const Floats two = place == 0 ? Apply(then, between, z, z) : Apply(then, z, between, z);
        EXPECT_TRUE(SameFloats(pair, two));
      }
      ExpectSameOnAllWidths([=] { return FindPairKernel(first, second, 1, ComputeType::kF32); });
    }
  }
  ExpectSameOnAllWidths(
      [] { return FindComparedSelectKernel(Direction::kLt, ComputeType::kF32); });
}

// Chunks of unusual arguments are computed in another way.
TEST(SpanMath, NeighboursDoNotMatter) {
  const Floats all = Samples(20'000'003);
  for (const ScalarFn fn : kFunctions) {
    const SpanKernel kernel = FindSpanKernel(fn, ComputeType::kF32);
    const Floats y(all.size(), 0.75f);
    const Floats together = Apply(kernel, all, y, y);
    for (size_t i = 0; i < all.size(); i += 3) {
      const Floats alone = Apply(kernel, {all[i]}, {0.75f}, {0.75f});
      ASSERT_TRUE(SameFloats(alone, {together[i]})) << static_cast<int>(fn) << " of " << all[i];
    }
  }
}

TEST(SpanMath, IntegerQuotientsAreExact) {
  std::vector<int32_t> x, y;
  for (const int64_t a : {INT32_MIN, INT32_MIN + 1, -1'000'000'007, -7, -1, 0, 1, 2, 6, 99, 46'341,
                          2'147'395'600, INT32_MAX - 1, INT32_MAX}) {
    for (const int64_t b : {INT32_MIN, -46'341, -1000, -7, -2, -1, 0, 1, 2, 3, 7, 46'340, 46'341,
                            INT32_MAX - 1, INT32_MAX}) {
      x.push_back(static_cast<int32_t>(a));
      y.push_back(static_cast<int32_t>(b));
    }
  }
  std::vector<int32_t> quotient(x.size()), rest(x.size());
  SpanArgs a;
  a.in[0] = x.data();
  a.in[1] = y.data();
  a.count = x.size();
  a.width = 32;
  a.out = quotient.data();
  FindSpanKernel(ScalarFn::kDivide, ComputeType::kS32)(a);
  a.out = rest.data();
  FindSpanKernel(ScalarFn::kRemainder, ComputeType::kS32)(a);
  for (size_t i = 0; i < x.size(); ++i) {
    const int64_t p = x[i], q = y[i];
    EXPECT_EQ(quotient[i], q == 0 ? -1 : static_cast<int32_t>(p / q)) << p << " / " << q;
    EXPECT_EQ(rest[i], q == 0 ? p : p % q) << p << " % " << q;
  }
}

}  // namespace
}  // namespace hv
