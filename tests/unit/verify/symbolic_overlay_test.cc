// Sums over ranges that are cut differently.
#include <gtest/gtest.h>

#include "proof_text.h"

namespace hv {
namespace {

// The sum of all elements of x, 4 x 6, added up from parts.
std::string SumOf(const std::string& type, const std::string& parts) {
  std::string text =
      "sum {\n  a = $[] parameter(0)\n  b = $[] parameter(1)\n  ROOT r = $[] add(a, b)\n}\n\n"
      "ENTRY main {\n  x = $[4,6] parameter(0)\n  z = $[] constant(0)\n" +
      parts + "}\n";
  for (size_t at = text.find('$'); at != std::string::npos; at = text.find('$')) {
    text.replace(at, 1, type);
  }
  return text;
}

std::string Part(const std::string& name, const std::string& dims, const std::string& slice) {
  return "  " + name + "s = $[" + dims + "] slice(x), slice={" + slice + "}\n  " + name +
         " = $[] reduce(" + name + "s, z), dimensions={0,1}, to_apply=sum\n";
}

const std::string kWhole = "  ROOT r = $[] reduce(x, z), dimensions={0,1}, to_apply=sum\n";
const std::string kAdd = "  t = $[] add(a, b)\n  ROOT r = $[] add(t, c)\n";

std::string Columns() {
  return Part("a", "4,1", "[0:4], [0:1]") + Part("b", "4,3", "[0:4], [1:4]") +
         Part("c", "4,2", "[0:4], [4:6]") + kAdd;
}

TEST(SumsOverRanges, CutByRowsAndByColumns) {
  const std::string rows = Part("a", "1,6", "[0:1], [0:6]") + Part("b", "2,6", "[1:3], [0:6]") +
                           Part("c", "1,6", "[3:4], [0:6]") + kAdd;
  for (const std::string type : {"s32", "f32"}) {
    EXPECT_TRUE(IsProved(ProveText(SumOf(type, kWhole), SumOf(type, Columns()))));
    EXPECT_TRUE(IsProved(ProveText(SumOf(type, rows), SumOf(type, Columns()))));
  }
  const ProofResult floats = ProveText(SumOf("f32", kWhole), SumOf("f32", rows));
  EXPECT_EQ(floats.level, ProofLevel::kReassociation);
  EXPECT_EQ(floats.sub_class, "nested sums");
}

TEST(SumsOverRanges, NotWhatOverlapsOrIsLeftOut) {
  const auto columns = [](const std::string& last) {
    return Part("a", "4,1", "[0:4], [0:1]") + Part("b", "4,3", "[0:4], [1:4]") + last + kAdd;
  };
  for (const std::string type : {"s32", "f32"}) {
    EXPECT_FALSE(IsProved(
        ProveText(SumOf(type, kWhole), SumOf(type, columns(Part("c", "4,2", "[0:4], [3:5]"))))));
    EXPECT_FALSE(IsProved(
        ProveText(SumOf(type, kWhole), SumOf(type, columns(Part("c", "4,1", "[0:4], [4:5]"))))));
    EXPECT_FALSE(IsProved(
        ProveText(SumOf(type, kWhole), SumOf(type, columns(Part("c", "3,2", "[0:3], [4:6]"))))));
  }
}

// The parts of a product are read alike or not at all.
TEST(SumsOverRanges, FactorsMoveTogether) {
  const auto squares = [](const std::string& right) {
    return "  y = $[4,6] reverse(x), dimensions={0}\n  p = $[4,6] multiply(x, " + right +
           ")\n  q = $[4,6] copy(p)\n";
  };
  const auto cut = [](std::string text) {
    for (const char* from : {"slice(x)", "reduce(x"}) {
      for (size_t at = text.find(from); at != std::string::npos; at = text.find(from)) {
        text.replace(at + std::string(from).find('x'), 1, "q");
      }
    }
    return text;
  };
  EXPECT_TRUE(IsProved(ProveText(SumOf("s32", squares("y") + cut(kWhole)),
                                 SumOf("s32", squares("y") + cut(Columns())))));
  EXPECT_FALSE(IsProved(ProveText(SumOf("s32", squares("y") + cut(kWhole)),
                                  SumOf("s32", squares("x") + cut(Columns())))));
}

}  // namespace
}  // namespace hv
