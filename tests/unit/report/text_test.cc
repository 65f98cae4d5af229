#include "report/text.h"

#include <gmock/gmock.h>

#include "report/units.h"
#include "tests/unit/report/sample_report.h"

namespace hv {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Text, RefutedBlockTellsWhereWhyAndHowToSeeItAgain) {
  EXPECT_EQ(RenderText(ReportOf({RefutedCase()}), {}),
            R"(REFUTED       shuffled group  MISSED: expected equivalent, got REFUTED
  devices     1 replica x 4 partitions
  file        scenarios/shuffled.json
  because     the outputs differ
  where       device (0,1), output 0, index [2,0]
  values      before 0, after nan
  input       all elements 0 except
              x[2,0] = 1 on device (0,3)
  that is     device 1 misses the contribution of device 3
  before at   ds.2
  after at    rs.1
  reproduce   verify_rewrite scenarios/shuffled.json --seed=1
  cost        2 KiB -> 1 KiB sent per device, 2 us -> 1 us on trn2 (x 0.5, saves 50 %)

1 case: 1 refuted; 0 as expected, 1 not (250 ms)
)");
}

TEST(Text, DeadlockBlockPrintsTheCycle) {
  EXPECT_EQ(RenderText(ReportOf({DeadlockCase()}), {}),
            R"(DEADLOCK      two orders  (expected deadlock)
  devices     1 replica x 2 partitions
  because     after never finishes
  stalled     the after module
  waiting     (0,0) at ar.1: all-reduce f32[4] {{0,1}}, for (0,1)
              (0,1) at ar.2: all-reduce f32[4] {{0,1}}, for (0,0)
  cycle       (0,0) -> (0,1) -> (0,0)

1 case: 1 deadlock; all as expected (250 ms)
)");
}

TEST(Text, TheSmallestMeshStandsBelow) {
  EXPECT_THAT(
      RenderText(ReportOf({SmallerCase()}), {}),
      HasSubstr("  smallest    1 replica x 2 partitions: devices (0,1) (0,3), as they are\n"
                "              there device (0,0), output 0, index [2,0]: before 0, after nan\n"));
}

TEST(Text, DevicesThatWaitAlikeShareALine) {
  CaseReport c = DeadlockCase();
  c.replicas = 2;
  c.partitions = 4;
  c.waiting.clear();
  for (const char* device : {"0,0", "0,1", "0,2", "0,3", "1,0"}) {
    c.waiting.push_back({device, "first", "sum", {"1,1", "1,2", "1,3"}});
  }
  for (const char* device : {"1,1", "1,3"}) c.waiting.push_back({device, "second", "", {"0,0"}});
  EXPECT_THAT(RenderText(ReportOf({c}), {}),
              HasSubstr("  waiting     (0,0) to (1,0) at first: sum, for (1,1) to (1,3)\n"
                        "              (1,1), (1,3) at second, for (0,0)\n"));
}

TEST(Text, ManyCasesAreLinesUnlessMissed) {
  const std::string text = RenderText(ReportOf({TestedCase(), RefutedCase(), DeadlockCase()}), {});
  EXPECT_THAT(text, AllOf(HasSubstr("TESTED        in order\nREFUTED"),
                          HasSubstr("DEADLOCK      two orders  (expected deadlock)\n3 cases: 1 "
                                    "tested, 1 refuted, 1 deadlock; 2 as expected, 1 not"),
                          Not(HasSubstr("random codes"))));
}

TEST(Text, QuietShowsOnlyWhatMissed) {
  TextOptions quiet{Verbosity::kQuiet, false};
  EXPECT_EQ(RenderText(ReportOf({TestedCase()}), quiet),
            "1 case: 1 tested; all as expected (250 ms)\n");
  EXPECT_THAT(RenderText(ReportOf({TestedCase(), RefutedCase()}), quiet),
              AllOf(HasSubstr("REFUTED"), Not(HasSubstr("TESTED"))));
}

TEST(Text, VerboseShowsEvidenceAndDecisions) {
  const std::string text =
      RenderText(ReportOf({TestedCase(), TestedCase()}), {Verbosity::kVerbose, false});
  EXPECT_THAT(text,
              AllOf(HasSubstr("evidence    random codes: 4 runs (chance of a miss <= 5e-19)\n"),
                    HasSubstr("              native run: 1 run\n"),
                    HasSubstr("passes      some_pass at ds.2: fired\n"),
                    HasSubstr("              some_pass at ds.3: not 1D\n")));
}

TEST(Text, InvalidBlockHasItsDiagnosticsInShort) {
  CaseReport c;
  c.name = "bad";
  c.verdict = Verdict::kInvalid;
  c.reason = "the shape is wrong";
  c.diagnostics = {{"shape-mismatch",
                    "the shape is wrong",
                    {"a.hlo", 3, 5},
                    "  y = f32[5] add(x)",
                    {"see there"}}};
  JudgeExpectation({}, &c);
  EXPECT_THAT(
      RenderText(ReportOf({c}), {}),
      HasSubstr(
          "because     a.hlo:3:5: error: the shape is wrong\n                note: see there\n"));
}

TEST(Text, ColorOnlyWhereWanted) {
  EXPECT_THAT(RenderText(ReportOf({RefutedCase()}), {Verbosity::kNormal, true}),
              HasSubstr("\x1b[1;31mREFUTED"));
  EXPECT_THAT(RenderText(ReportOf({RefutedCase()}), {}), Not(HasSubstr("\x1b")));
  EXPECT_TRUE(WantsColor("auto", true, false));
  EXPECT_FALSE(WantsColor("auto", true, true));
  EXPECT_FALSE(WantsColor("auto", false, false));
  EXPECT_TRUE(WantsColor("always", false, true));
  EXPECT_FALSE(WantsColor("never", true, false));
}

TEST(Units, AreShortAndExactWhereSmall) {
  EXPECT_EQ(FormatBytes(0), "0 B");
  EXPECT_EQ(FormatBytes(1023), "1023 B");
  EXPECT_EQ(FormatBytes(3584), "3.5 KiB");
  EXPECT_EQ(FormatBytes(1023 * 1024), "1023 KiB");
  EXPECT_EQ(FormatBytes(int64_t{16} << 30), "16 GiB");
  EXPECT_EQ(FormatSeconds(0), "0 s");
  EXPECT_EQ(FormatSeconds(4.7e-7), "470 ns");
  EXPECT_EQ(FormatSeconds(1.42e-5), "14.2 us");
  EXPECT_EQ(FormatSeconds(0.0015), "1.5 ms");
  EXPECT_EQ(FormatSeconds(2.25), "2.25 s");
  EXPECT_EQ(FormatSeconds(12345), "12345 s");
  EXPECT_EQ(FormatRatio(4.0 / 3), "1.33");
}

}  // namespace
}  // namespace hv
