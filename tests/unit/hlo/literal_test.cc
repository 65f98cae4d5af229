// Literals: what texts of each type mean, bit for bit, and how values print.
#include "hlo/literal.h"

#include <gtest/gtest.h>

#include <cmath>

#include "hlo/parser.h"

namespace hv {
namespace {

struct Constant {
  Module module;
  const Literal* literal = nullptr;
};

// constant(`text`) of `shape`; null if it is refused.
Constant Read(const std::string& shape, const std::string& text) {
  auto module = ParseModule("t", "ENTRY e { ROOT c = " + shape + " constant(" + text + ") }");
  if (!module) return {};
  const Literal* literal = module->Entry().Root().literal;
  return {std::move(*module), literal};
}

std::string Reprint(const std::string& shape, const std::string& text) {
  const Constant constant = Read(shape, text);
  return constant.literal == nullptr ? "refused" : ToString(*constant.literal);
}

uint64_t Bits(const std::string& type, const std::string& text) {
  const Constant constant = Read(type + "[]", text);
  uint64_t bits = 0xDEAD;
  if (constant.literal == nullptr) return bits;
  bits = 0;
  std::memcpy(&bits, constant.literal->bytes.data(), constant.literal->bytes.size());
  return bits;
}

TEST(LiteralTest, IntegersAtTheEndsOfTheirRanges) {
  struct Range {
    const char *type, *least, *below, *most, *above;
  };
  for (const Range& r :
       {Range{"s1", "-1", "-2", "0", "1"}, Range{"s2", "-2", "-3", "1", "2"},
        Range{"s4", "-8", "-9", "7", "8"}, Range{"s8", "-128", "-129", "127", "128"},
        Range{"s16", "-32768", "-32769", "32767", "32768"},
        Range{"s32", "-2147483648", "-2147483649", "2147483647", "2147483648"},
        Range{"s64", "-9223372036854775808", "-9223372036854775809", "9223372036854775807",
              "9223372036854775808"},
        Range{"u1", "0", "-1", "1", "2"}, Range{"u2", "0", "-1", "3", "4"},
        Range{"u4", "0", "-1", "15", "16"}, Range{"u8", "0", "-1", "255", "256"},
        Range{"u16", "0", "-1", "65535", "65536"},
        Range{"u32", "0", "-1", "4294967295", "4294967296"},
        Range{"u64", "0", "-9223372036854775809", "18446744073709551615",
              "18446744073709551616"}}) {
    SCOPED_TRACE(r.type);
    const std::string shape = std::string(r.type) + "[]";
    EXPECT_EQ(Reprint(shape, r.least), r.least);
    EXPECT_EQ(Reprint(shape, r.most), r.most);
    EXPECT_EQ(Reprint(shape, r.below), "refused");
    EXPECT_EQ(Reprint(shape, r.above), "refused");
  }
  EXPECT_EQ(Bits("u64", "-1"), UINT64_MAX);
  EXPECT_EQ(Bits("s4", "-8"), 0xF8u);  // sign-extended to its byte
}

TEST(LiteralTest, FloatsRoundOnceAndMustNotOverflow) {
  EXPECT_EQ(Bits("f64", "0.1"), 0x3FB999999999999Au);
  EXPECT_EQ(Bits("f32", "0.1"), 0x3DCCCCCDu);
  EXPECT_EQ(Bits("f32", "1e-46"), 0u);
  EXPECT_EQ(Bits("f32", "-1e-400"), 0x80000000u);
  EXPECT_EQ(Bits("f32", ".5"), 0x3F000000u);
  EXPECT_EQ(Bits("f32", "1."), 0x3F800000u);
  EXPECT_EQ(Bits("f16", "65519"), 0x7BFFu);
  EXPECT_EQ(Bits("bf16", "1"), 0x3F80u);
  EXPECT_EQ(Bits("f8e4m3fn", "464"), 0x7Eu);
  EXPECT_EQ(Bits("f4e2m1fn", "1e9"), 0x7u);  // saturates
  for (const auto& [type, text] :
       {std::pair{"f64", "1e309"}, std::pair{"f32", "3.5e38"}, std::pair{"f16", "65520"},
        std::pair{"bf16", "3.4e38"}, std::pair{"f8e5m2", "61440"}, std::pair{"f8e4m3fn", "465"},
        std::pair{"f8e8m0fnu", "0"}}) {
    EXPECT_EQ(Reprint(std::string(type) + "[]", text), "refused") << type;
  }
}

TEST(LiteralTest, InfinitiesAndNans) {
  EXPECT_EQ(Bits("f32", "inf"), 0x7F800000u);
  EXPECT_EQ(Bits("f16", "-inf"), 0xFC00u);
  EXPECT_EQ(Bits("f32", "nan"), 0x7FC00000u);
  EXPECT_EQ(Bits("f32", "-nan(0x1)"), 0xFF800001u);
  EXPECT_EQ(Bits("f64", "nan(0xfffffffffffff)"), 0x7FFFFFFFFFFFFFFFu);
  EXPECT_EQ(Bits("bf16", "nan(0x7f)"), 0x7FFFu);
  EXPECT_EQ(Bits("f8e4m3fnuz", "nan"), 0x80u);
  for (const char* text : {"nan(0x0)", "nan(0x80)", "nan(1)", "nan()", "infinity", "+1", "0x10"}) {
    EXPECT_EQ(Reprint("bf16[]", text), "refused") << text;
  }
  EXPECT_EQ(Reprint("f8e4m3fn[]", "nan(0x1)"), "refused");
}

TEST(LiteralTest, EveryTypePrintsWhatReadsBack) {
  for (const auto& traits : kElementTypes) {
    if (traits.host_bytes == 0 || traits.type_class == TypeClass::kComplex) continue;
    const std::string type(traits.text);
    const std::string shape = type + "[]";
    for (const char* text : {"0", "1", "0.1", "-0.0", "3", "1e-7", "6.02e23", "nan", "-inf"}) {
      const std::string once = Reprint(shape, text);
      if (once == "refused") continue;
      EXPECT_EQ(Reprint(shape, once), once) << type << " " << text;
      EXPECT_EQ(Bits(type, once), Bits(type, text)) << type << " " << text;
    }
  }
}

TEST(LiteralTest, Forms) {
  EXPECT_EQ(Reprint("s32[3]", "{1,2,3}"), "{1, 2, 3}");
  EXPECT_EQ(Reprint("s32[3]{0}", "{ 1 /*c*/ 2, 3, }"), "{1, 2, 3}");  // commas are not checked
  EXPECT_EQ(Reprint("f32[2,2]{0,1}", "{{1,2},{3,4.5}}"), "{ { 1, 2 }, { 3, 4.5 } }");
  EXPECT_EQ(Reprint("pred[]", "1"), "true");
  EXPECT_EQ(Reprint("pred[2]", "{true,0}"), "{1, 0}");
  EXPECT_EQ(Reprint("c64[2]", "{(1,0),(0,-2.5)}"), "{(1, 0), (0, -2.5)}");
  EXPECT_EQ(Reprint("(s32[], (pred[2], f32[]))", "(1, ({1, 0}, -inf))"), "( 1, ( {1, 0}, -inf ) )");
  EXPECT_EQ(Reprint("f32[0,3]", "{}"), "{  }");
  EXPECT_EQ(Reprint("f32[2,0]", "{{},{}}"), "{ {  }, {  } }");
  EXPECT_EQ(Reprint("f32[1000000000,0]", "{}"), "{}");
  EXPECT_EQ(Reprint("f32[1,8,6,2048,2048]", "{...}"), "{...}");
  EXPECT_EQ(Reprint("(f32[2], s32[])", "{...}"), "{...}");
  for (const char* text : {"{1,2}", "{1,2,3,4}", "{{1,2,3}}", "1", "{1,2,3", "{1.5,2,3}"}) {
    EXPECT_EQ(Reprint("s32[3]", text), "refused") << text;
  }
  EXPECT_EQ(Reprint("f32[]", "{...}"), "refused");
  EXPECT_EQ(Reprint("c64[]", "1"), "refused");
}

TEST(LiteralTest, ElidedConstantsTakeNoMemory) {
  const Constant big = Read("f32[1,8,6,2048,2048]", "{...}");
  ASSERT_NE(big.literal, nullptr);
  EXPECT_TRUE(big.literal->elided);
  EXPECT_TRUE(big.literal->bytes.empty());
  EXPECT_LT(big.module.context->arena.bytes_reserved(), 100'000u);
  EXPECT_TRUE(SameLiteral(*big.literal, *big.literal));
  const Constant other = Read("f32[1,8,6,2048,2048]", "{...}");
  EXPECT_FALSE(SameLiteral(*big.literal, *other.literal));
}

TEST(LiteralTest, Elements) {
  const Constant u64 = Read("u64[2]", "{18446744073709551615, 1}");
  ASSERT_NE(u64.literal, nullptr);
  EXPECT_EQ(IntegerAt(*u64.literal, 0), -1);
  EXPECT_EQ(RealAt(*u64.literal, 0), 0x1p64);
  const Constant s4 = Read("s4[2]", "{-8, 7}");
  ASSERT_NE(s4.literal, nullptr);
  EXPECT_EQ(IntegerAt(*s4.literal, 0), -8);
  EXPECT_EQ(RealAt(*s4.literal, 1), 7);
  const Constant bf16 = Read("bf16[1]", "{1.5}");
  ASSERT_NE(bf16.literal, nullptr);
  EXPECT_EQ(RealAt(*bf16.literal, 0), 1.5);
  const Constant c128 = Read("c128[1]", "{(1,-2)}");
  ASSERT_NE(c128.literal, nullptr);
  EXPECT_EQ(ComplexAt(*c128.literal, 0), std::complex<double>(1, -2));
}

TEST(LiteralTest, SameLiteralComparesBitsAndShapesWithoutLayouts) {
  const auto same = [](const Constant& a, const Constant& b) {
    return a.literal != nullptr && b.literal != nullptr && SameLiteral(*a.literal, *b.literal);
  };
  EXPECT_TRUE(same(Read("f32[2]{0}", "{1,2}"), Read("f32[2]", "{1,2}")));
  EXPECT_FALSE(same(Read("f32[]", "-0.0"), Read("f32[]", "0")));
  EXPECT_FALSE(same(Read("f32[]", "1"), Read("s32[]", "1")));
  EXPECT_TRUE(same(Read("f32[]", "nan"), Read("f32[]", "nan")));
}

}  // namespace
}  // namespace hv
