// Queries on modules, the builder of instructions, and structural equality.
#include "hlo/module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hlo/parser.h"
#include "hlo/printer.h"

namespace hv {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kText[] =
    "HloModule m\n"
    "sum { x = f32[] parameter(0) y = f32[] parameter(1) ROOT s = f32[] add(x, y) }\n"
    "ENTRY e {\n"
    "  p = f32[4] parameter(0)\n"
    "  c = pred[] parameter(1)\n"
    "  r = f32[4] all-reduce(p), channel_id=7, to_apply=sum\n"
    "  s = f32[4] add(p, p)\n"
    "  ROOT t = (f32[4], f32[4]) tuple(r, s)\n"
    "}\n";

Module Parse(std::string text) {
  auto module = ParseModule("m.hlo", std::move(text));
  EXPECT_TRUE(module) << FormatError(module.error());
  return std::move(*module);
}

TEST(ModuleTest, UsersAndCalledComputations) {
  const Module module = Parse(kText);
  const auto users = Users(module.Entry());
  EXPECT_THAT(users[0], ElementsAre(2, 3));  // s uses p twice, and is listed once
  EXPECT_THAT(users[1], IsEmpty());
  EXPECT_THAT(users[3], ElementsAre(4));
  EXPECT_THAT(CalledComputations(module.Entry().At(2)), ElementsAre(0));
  EXPECT_THAT(CalledComputations(module.Entry().At(3)), IsEmpty());
  EXPECT_EQ(NextChannelId(module), 8);
  EXPECT_EQ(NextChannelId(Parse("ENTRY e { p = f32[] parameter(0) }")), 1);
}

TEST(ModuleTest, PlacesOfInstructions) {
  const Module module = Parse(kText);
  const Diagnostic d = MakeDiagnostic(module, module.Entry().At(3).offset, "id", "message");
  EXPECT_EQ(FormatDiagnostic(d), "m.hlo:7:3: error: message\n    s = f32[4] add(p, p)\n    ^\n");
  const Diagnostic unknown = MakeDiagnostic(module, Instruction::kNoOffset, "id", "message");
  EXPECT_EQ(FormatDiagnostic(unknown), "m.hlo: error: message\n");
}

TEST(InstructionBuilderTest, CopiesSetsAndDropsDefaults) {
  Module module = Parse(kText);
  const Instruction& from = module.Entry().At(2);
  const InstructionIndex operands[] = {0};
  const int64_t dimensions[] = {0};
  const Instruction built = InstructionBuilder(&module, Opcode::kReduceScatter, from.shape)
                                .Name("scatter")
                                .Operands(operands)
                                .SetInts(Attr::kDimensions, dimensions)
                                .SetInt(Attr::kUseGlobalDeviceIds, 0)  // the default
                                .Copy(from, Attr::kToApply)
                                .Copy(from, Attr::kChannelId)
                                .Copy(from, Attr::kSharding)  // absent
                                .SetInt(Attr::kChannelId, 9)  // replaces
                                .Build();
  std::string text;
  AppendInstruction(module, module.Entry(), built, &text);
  EXPECT_EQ(text,
            "%scatter = f32[4] reduce-scatter(%p), channel_id=9, replica_groups={}, "
            "dimensions={0}, to_apply=%sum");
  EXPECT_EQ(built.offset, Instruction::kNoOffset);
}

TEST(SameModuleTest, IgnoresNamesSpellingAndAttributeOrder) {
  const Module a = Parse(kText);
  std::string why;
  EXPECT_TRUE(SameModule(
      a,
      Parse("HloModule other, replica_count=1\n"
            "%add { %a = f32[] parameter(0) %b = f32[] parameter(1) ROOT %c = f32[] add(%a, %b) }\n"
            "ENTRY %main (q: f32[4], u: pred[]) -> (f32[4], f32[4]) {\n"
            "  %q = f32[4]{0} parameter(0)\n  %u = pred[] parameter(1)\n"
            "  %v = f32[4]{0} all-reduce(f32[4]{0} %q), to_apply=%add, replica_groups={}, "
            "channel_id=7, use_global_device_ids=false\n"
            "  %w = f32[4]{0} add(f32[4] %q, %q)\n"
            "  ROOT %z = (f32[4]{0}, f32[4]{0}) tuple(%v, %w)\n}\n"),
      &why))
      << why;
}

TEST(SameModuleTest, TellsWhatDiffers) {
  const Module a = Parse(kText);
  const auto why = [&a](const std::string& from, const std::string& to) {
    std::string text = kText, reason;
    text.replace(text.find(from), from.size(), to);
    EXPECT_FALSE(SameModule(a, Parse(text), &reason));
    return reason;
  };
  EXPECT_EQ(why("channel_id=7", "channel_id=6"), "an attribute of 'r' in computation 'e'");
  EXPECT_EQ(why("add(p, p)", "subtract(p, p)"), "opcode of 's' in computation 'e'");
  EXPECT_EQ(why("tuple(r, s)", "tuple(s, r)"), "operands of 't' in computation 'e'");
  EXPECT_EQ(why("f32[4] add", "f32[4]{0:S(5)} add"), "shape of 's' in computation 'e'");
  EXPECT_EQ(why("HloModule m", "HloModule m, replica_count=2"), "header");
}

}  // namespace
}  // namespace hv
