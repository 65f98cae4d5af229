// Greatest and least of runs of floats against the scalar op applied in order, bit for bit.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <limits>
#include <vector>

#include "eval/scalar_op.h"
#include "eval/span_extreme.h"
#include "eval/vector_isa.h"
#include "hlo/element_type.h"

namespace hv {
namespace {

template <class Bits>
void Check(ElementType type, const std::vector<Bits>& special) {
  for (const ScalarFn fn : {ScalarFn::kMaximum, ScalarFn::kMinimum}) {
    const ScalarOp op = *ScalarOp::Make(fn, type);
    const SpanKernel kernel = FindExtremeKernel(fn, type);
    ASSERT_NE(kernel, nullptr);
    uint32_t seed = 3;
    const auto next = [&] { return (seed = seed * 1664525 + 1013904223) >> 8; };
    for (int round = 0; round < 400; ++round) {
      std::vector<Bits> x(1 + next() % 150);
      // Few different values: ties, zeros of both signs, infinities and NaNs meet.
      const size_t kinds = 1 + next() % special.size();
      for (Bits& b : x) b = special[next() % kinds];
      Bits expected = x[0], actual = 0;
      for (size_t i = 1; i < x.size(); ++i) {
        const std::byte* in[2] = {reinterpret_cast<const std::byte*>(&expected),
                                  reinterpret_cast<const std::byte*>(&x[i])};
        op.Run(in, reinterpret_cast<std::byte*>(&expected), 1);
      }
      SpanArgs a;
      a.in[0] = x.data();
      a.out = &actual;
      a.count = x.size();
      kernel(a);
      EXPECT_EQ(actual, expected) << ToString(type) << " round " << round;
    }
  }
}

TEST(Extreme, IsWhatAFoldInOrderKeeps) {
  for (const Isa widest : {Isa::kBase, Isa::kAvx2, Isa::kAvx512}) {
    LimitIsa(widest);
    // -0, 0, negative numbers, subnormals, infinities, then two quiet NaNs.
    Check<uint32_t>(ElementType::kF32, {0x80000000, 0, 0xBF800000, 0xC0000000, 1, 0x80000001,
                                        0xFF800000, 0x3F800000, 0x7F800000, 0x7FC00000, 0xFFC00001});
    Check<uint64_t>(ElementType::kF64,
                    {uint64_t{1} << 63, 0, 0xBFF0000000000000, 0xC000000000000000, 1,
                     0xFFF0000000000000, 0x3FF0000000000000, 0x7FF0000000000000,
                     0x7FF8000000000000, 0xFFF8000000000001});
    Check<uint16_t>(ElementType::kBF16, {0x8000, 0, 0xBF80, 0xC000, 1, 0x8001, 0xFF80, 0x3F80, 0x7F80,
                                         0x7FC0, 0xFFC0});
    Check<uint16_t>(ElementType::kF16, {0x8000, 0, 0xBC00, 0xC000, 1, 0x8001, 0xFC00, 0x3C00, 0x7C00,
                                        0x7E00, 0xFE00});
  }
}

}  // namespace
}  // namespace hv
