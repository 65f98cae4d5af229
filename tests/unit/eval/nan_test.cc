// Which NaN a float function yields: of its operands the left one's that is a NaN, made quiet, wherever
// the element stands and for the vectors of every machine; sums of many terms have the one quiet NaN.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "eval/scalar_op.h"
#include "eval/vector_isa.h"
#include "tests/unit/eval/evaluate_text.h"

namespace hv {
namespace {

// The bits of a float type.
struct Format {
  ElementType type;
  uint64_t sign, exponent, quiet;

  bool IsNaN(uint64_t bits) const {
    return (bits & exponent) == exponent && (bits & ~(sign | exponent)) != 0;
  }
  size_t width() const { return static_cast<size_t>(HostBytes(type)); }
  // NaNs of both signs, quiet and signalling, and what makes one: infinities, zeros, negative numbers.
  std::vector<uint64_t> Specimens() const {
    std::vector<uint64_t> list = {0, exponent, quiet >> 1};
    for (const uint64_t payload : {quiet, quiet | quiet >> 1, quiet >> 1, quiet >> 2 | quiet >> 3}) {
      list.push_back(exponent | payload);
    }
    for (size_t i = 0, count = list.size(); i < count; ++i) list.push_back(list[i] | sign);
    return list;
  }
};
constexpr Format kFormats[] = {
    {ElementType::kF16, 0x8000, 0x7C00, 0x200},
    {ElementType::kBF16, 0x8000, 0x7F80, 0x40},
    {ElementType::kF32, 0x80000000, 0x7F800000, 0x400000},
    {ElementType::kF64, uint64_t{1} << 63, 0x7FF0000000000000, 0x8000000000000}};

// fn of arrays of elements given by their bits.
std::vector<uint64_t> Apply(ScalarFn fn, const Format& format,
                            const std::vector<std::vector<uint64_t>>& operands) {
  const size_t count = operands[0].size(), width = format.width();
  std::vector<std::vector<std::byte>> stored;
  std::vector<const std::byte*> in;
  for (const std::vector<uint64_t>& bits : operands) {
    std::vector<std::byte>& bytes = stored.emplace_back(count * width);
    for (size_t i = 0; i < count; ++i) std::memcpy(bytes.data() + i * width, &bits[i], width);
  }
  for (const std::vector<std::byte>& bytes : stored) in.push_back(bytes.data());
  std::vector<std::byte> out(count * width);
  ScalarOp::Make(fn, format.type)->Run(in, out.data(), count);
  std::vector<uint64_t> result(count);
  for (size_t i = 0; i < count; ++i) std::memcpy(&result[i], out.data() + i * width, width);
  return result;
}

class WhichNaN : public testing::TestWithParam<Isa> {
 protected:
  void SetUp() override { LimitIsa(GetParam()); }
  void TearDown() override { LimitIsa(Isa::kAvx512); }
};

TEST_P(WhichNaN, TheLeftOneOfArithmetic) {
  for (const Format& format : kFormats) {
    const std::vector<uint64_t> list = format.Specimens();
    std::vector<uint64_t> left, right;
    for (const uint64_t x : list) {
      for (const uint64_t y : list) {
        left.push_back(x);
        right.push_back(y);
      }
    }
    for (const ScalarFn fn :
         {ScalarFn::kAdd, ScalarFn::kSubtract, ScalarFn::kMultiply, ScalarFn::kDivide}) {
      const std::vector<uint64_t> whole = Apply(fn, format, {left, right});
      for (size_t i = 0; i < left.size(); ++i) {
        const uint64_t x = left[i], y = right[i];
        if (!format.IsNaN(x) && !format.IsNaN(y)) continue;
        uint64_t expected = (format.IsNaN(x) ? x : y) | format.quiet;
        // f16 keeps no payload.
        if (format.type == ElementType::kF16) expected &= format.sign | format.exponent | format.quiet;
        EXPECT_EQ(whole[i], expected) << ToString(format.type) << " " << std::hex << x << " " << y;
        EXPECT_EQ(Apply(fn, format, {{x}, {y}})[0], expected);
      }
    }
  }
}

// Vectors, half as wide ones and single elements: all have the bits of the element alone.
TEST_P(WhichNaN, TheSameWhereverItStands) {
  for (const Format& format : kFormats) {
    for (int f = 1; f <= static_cast<int>(ScalarFn::kXor); ++f) {
      const auto fn = static_cast<ScalarFn>(f);
      const std::optional<ScalarOp> op = ScalarOp::Make(fn, format.type);
      if (!op || fn == ScalarFn::kIsFinite || fn == ScalarFn::kComplex ||
          fn == ScalarFn::kReducePrecision) {
        continue;
      }
      const bool binary = fn == ScalarFn::kAdd || fn == ScalarFn::kSubtract ||
                          fn == ScalarFn::kMultiply || fn == ScalarFn::kDivide ||
                          fn == ScalarFn::kRemainder || fn == ScalarFn::kPower ||
                          fn == ScalarFn::kAtan2 || fn == ScalarFn::kMaximum ||
                          fn == ScalarFn::kMinimum;
      const std::vector<uint64_t> list = format.Specimens();
      for (const uint64_t x : list) {
        for (const uint64_t y : binary ? list : std::vector<uint64_t>{x}) {
          const uint64_t alone = Apply(fn, format, {{x}, {y}, {x}})[0];
          const std::vector<uint64_t> left(39, x), right(39, y);
          const std::vector<uint64_t> all = Apply(fn, format, {left, right, left});
          for (const uint64_t bits : all) {
            ASSERT_EQ(bits, alone) << ToString(format.type) << " function " << f << std::hex << " "
                                   << x << " " << y;
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Machines, WhichNaN,
                         testing::Values(Isa::kBase, Isa::kAvx2, Isa::kAvx512));

// Rows of NaNs of both signs: no sum of products or terms says which of them it met.
TEST(OneQuietNaN, OfSumsProductsAndConvolutions) {
  const std::string add =
      "add { a = T[] parameter(0)\n b = T[] parameter(1)\n ROOT c = T[] add(a, b) }";
  const std::string data =
      "i = T[40,40] iota(), iota_dimension=1\n z = T[] constant(0)\n"
      "zs = T[40,40] broadcast(z), dimensions={}\n n = T[40,40] divide(zs, zs)\n"
      "m = T[40,40] negate(n)\n l = T[] constant(7)\n ls = T[40,40] broadcast(l), dimensions={}\n"
      "p = pred[40,40] compare(i, ls), direction=LT\n x = T[40,40] select(p, n, m)\n";
  const std::string roots[] = {
      "ROOT r = T[40] reduce(x, z), dimensions={1}, to_apply=add",
      "ROOT r = T[40] reduce(x, z), dimensions={0}, to_apply=add",
      "ROOT r = T[40,40] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
      "u = T[1,40] slice(x), slice={[0:1], [0:40]}\n v = T[40] reshape(u)\n"
      "ROOT r = T[40] dot(x, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
      "y = T[1,40,40,1] reshape(x)\n k = T[3,3] slice(x), slice={[5:8], [6:9]}\n"
      "w = T[3,3,1,1] reshape(k)\n"
      "ROOT r = T[1,38,38,1] convolution(y, w), window={size=3x3}, dim_labels=b01f_01io->b01f"};
  const auto replaced = [](std::string text, const std::string& type) {
    for (size_t at = 0; (at = text.find("T[", at)) != std::string::npos;) text.replace(at, 1, type);
    return text;
  };
  for (const std::string type : {"f32", "f64", "bf16"}) {
    for (const std::string& root : roots) {
      const Module module = test::Parse(replaced(data + root, type), replaced(add, type));
      const std::unique_ptr<Domain> domain = MakeNativeDomain();
      const Result<Value> value = test::Evaluate(*domain, module, {});
      ASSERT_TRUE(value.has_value()) << FormatError(value.error());
      const auto width = static_cast<size_t>(value->element_bytes());
      const Format& format = type == "f32" ? kFormats[2] : type == "f64" ? kFormats[3] : kFormats[1];
      for (size_t i = 0; i < static_cast<size_t>(value->element_count()); ++i) {
        uint64_t bits = 0;
        std::memcpy(&bits, value->bytes().data() + i * width, width);
        ASSERT_EQ(bits, format.exponent | format.quiet) << type << " " << root << " [" << i << "]";
      }
    }
  }
}

}  // namespace
}  // namespace hv
