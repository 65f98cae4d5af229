// One broken rule: an ENTRY computation that Validate must refuse, with the diagnostic's id and place.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "hlo/parser.h"
#include "hlo/validator.h"

namespace hv {

struct RuleCase {
  std::string_view id;
  std::string_view entry;        // instructions of ENTRY; '@' stands before the expected place
  std::string_view header = "";  // ", replica_count=2"
};

// Computations that the instructions may call.
inline constexpr std::string_view kCallees = R"(
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }
addi { a = s32[] parameter(0)  b = s32[] parameter(1)  ROOT r = s32[] add(a, b) }
less { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = pred[] compare(a, b), direction=LT }
same { ROOT a = f32[4] parameter(0) }
once { a = f32[4] parameter(0)  ROOT b = f32[4] negate(a) }
twice { a = f32[4] parameter(0)  b = f32[4] add(a, a)  ROOT c = f32[4] add(b, b) }
late { a = f32[4] parameter(0)  s = ((f32[4]), f32[4]) parameter(1)  ROOT b = f32[4] negate(a) }
side { a = f32[4] parameter(0)  ROOT b = f32[4] negate(a) }, execution_thread="side"
yes { a = f32[4] parameter(0)  ROOT r = pred[] constant(true) }
pair { a = f32[2] parameter(0)  c = f32[] parameter(1)  ROOT r = (f32[2], f32[]) tuple(a, c) }
)";

inline void ExpectRefused(const RuleCase& rule) {
  std::string text = "HloModule m" + std::string(rule.header) + "\n" + std::string(kCallees) +
                     "ENTRY main {\n" + std::string(rule.entry) + "\n}\n";
  const size_t at = text.find('@');
  ASSERT_NE(at, std::string::npos);
  text.erase(at, 1);
  auto module = ParseModule("m.hlo", text);
  ASSERT_TRUE(module) << FormatError(module.error());
  const Status status = Validate(*module);
  ASSERT_FALSE(status);
  const Diagnostic& first = status.error().diagnostics.front();
  EXPECT_EQ(first.id, rule.id) << FormatError(status.error());
  const SourcePlace place = PlaceAt("m.hlo", text, at);
  EXPECT_EQ(first.place.line, place.line) << FormatError(status.error());
  EXPECT_EQ(first.place.column, place.column) << FormatError(status.error());
  EXPECT_EQ(status.error().diagnostics.size(), 1u) << FormatError(status.error());
}

inline std::string NameOf(const testing::TestParamInfo<RuleCase>& rule) {
  std::string name = std::string(rule.param.id) + "_" + std::to_string(rule.index);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

}  // namespace hv
