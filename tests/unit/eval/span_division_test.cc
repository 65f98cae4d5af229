// Quotients and remainders of the loops that divide through f64 against those of C++: all pairs of
// bytes, and pairs of wider types at and around the values where a quotient changes.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "eval/span_kernel.h"
#include "eval/vector_isa.h"

namespace hv {
namespace {

template <class T>
T Expected(ScalarFn fn, T x, T y) {
  const auto wide_x = static_cast<int64_t>(x), wide_y = static_cast<int64_t>(y);
  if (fn == ScalarFn::kDivide) return static_cast<T>(y == 0 ? -1 : wide_x / wide_y);
  return static_cast<T>(y == 0 ? wide_x : wide_x % wide_y);
}

template <class T>
void Check(ScalarFn fn, ComputeType type, const std::vector<T>& x, const std::vector<T>& y) {
  std::vector<T> out(x.size());
  SpanArgs a;
  a.in[0] = x.data();
  a.in[1] = y.data();
  a.out = out.data();
  a.count = x.size();
  a.width = static_cast<int>(sizeof(T)) * 8;
  FindSpanKernel(fn, type)(a);
  for (size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(out[i], Expected(fn, x[i], y[i])) << +x[i] << " and " << +y[i];
  }
}

// Each divisor by itself, as a broadcast of it, then all pairs in one span.
template <class T>
void CheckAll(ComputeType type, const std::vector<T>& numbers, const std::vector<T>& divisors) {
  for (const ScalarFn fn : {ScalarFn::kDivide, ScalarFn::kRemainder}) {
    std::vector<T> x, y;
    for (const T divisor : divisors) {
      Check(fn, type, numbers, std::vector<T>(numbers.size(), divisor));
      x.insert(x.end(), numbers.begin(), numbers.end());
      y.insert(y.end(), numbers.size(), divisor);
    }
    y.front() = static_cast<T>(y.front() + 1);  // no span of one divisor at the start
    Check(fn, type, x, y);
  }
}

// Powers of two and their neighbours, multiples of the divisors and theirs.
template <class T>
std::vector<T> Around(const std::vector<int64_t>& points) {
  std::vector<T> numbers;
  for (const int64_t point : points) {
    for (int64_t n = point - 1; n <= point + 1; ++n) {
      if (n >= std::numeric_limits<T>::min() && n <= std::numeric_limits<T>::max()) {
        numbers.push_back(static_cast<T>(n));
        if (std::is_signed_v<T> && n > 0) numbers.push_back(static_cast<T>(-n));
      }
    }
  }
  return numbers;
}

template <class T>
void CheckWide(ComputeType type) {
  const std::vector<T> divisors =
      Around<T>({0, 1, 3, 7, 10, 1009, 32767, 46341, 65536, 715827883, 1 << 30, 1LL << 31});
  std::vector<int64_t> points = {0, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
  for (const T d : divisors) {
    for (const int64_t times : {1, 2, 3, 1000, 12345, 46340, 2128272}) {
      points.push_back(static_cast<int64_t>(d) * times);
    }
    if (d != 0) points.push_back(std::numeric_limits<T>::max() / d * d);
  }
  CheckAll(type, Around<T>(points), divisors);
}

class SpanDivision : public testing::TestWithParam<Isa> {
 protected:
  void SetUp() override { LimitIsa(GetParam()); }
  void TearDown() override { LimitIsa(Isa::kAvx512); }
};

TEST_P(SpanDivision, IsThatOfIntegers) {
  std::vector<int8_t> bytes;
  std::vector<uint8_t> unsigned_bytes;
  for (int b = 0; b < 256; ++b) {
    bytes.push_back(static_cast<int8_t>(b));
    unsigned_bytes.push_back(static_cast<uint8_t>(b));
  }
  CheckAll(ComputeType::kS8, bytes, bytes);
  CheckAll(ComputeType::kU8, unsigned_bytes, unsigned_bytes);
  CheckWide<int16_t>(ComputeType::kS16);
  CheckWide<uint16_t>(ComputeType::kU16);
  CheckWide<int32_t>(ComputeType::kS32);
}

INSTANTIATE_TEST_SUITE_P(Machines, SpanDivision,
                         testing::Values(Isa::kBase, Isa::kAvx2, Isa::kAvx512));

}  // namespace
}  // namespace hv
