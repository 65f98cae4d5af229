#include "tests/cli/transcript.h"

#include <gmock/gmock.h>

namespace hv {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

TEST(Transcript, ReadsATestFile) {
  const std::vector<Step> steps =
      ParseTestFile({"# say it", "$ cat -", "< a", "> a", ">", "", "$ false", "! oh", "? 1"});
  ASSERT_THAT(steps, SizeIs(2));
  EXPECT_EQ(steps[0].command, "cat -");
  EXPECT_EQ(steps[0].input, "a\n");
  EXPECT_THAT(steps[0].output, ElementsAre("a", ""));
  EXPECT_EQ(steps[1].exit_code, 1);
  EXPECT_THAT(PrintStep(steps[1], false), ElementsAre("$ false", "! oh", "? 1"));
}

TEST(Transcript, ReadsConsoleBlocksOnly) {
  const std::vector<Step> steps = ParseMarkdown({"# Title", "```sh", "$ no", "```", "```console",
                                                 "$ echo \\", "  b", "b", "$ true", "```", "c"});
  ASSERT_THAT(steps, SizeIs(2));
  EXPECT_EQ(steps[0].command, "echo \\\n  b");
  EXPECT_THAT(steps[0].output, ElementsAre("b"));
  EXPECT_THAT(steps[1].output, SizeIs(0));
  EXPECT_EQ(steps[1].last_line, 9u);
}

TEST(Transcript, MatchesPlaceholdersAndTimes) {
  EXPECT_TRUE(LinesMatch({"a", "...", "z"}, {"a", "b", "c", "z"}));
  EXPECT_TRUE(LinesMatch({"...", "z"}, {"z"}));
  EXPECT_FALSE(LinesMatch({"a", "..."}, {"b"}));
  EXPECT_FALSE(LinesMatch({"a"}, {"a", "b"}));
  EXPECT_FALSE(LinesMatch({"a", "b"}, {"a"}));
  EXPECT_TRUE(LinesMatch({"x[..]y[..]"}, {"x12y"}));
  EXPECT_FALSE(LinesMatch({"x[..]y"}, {"x12z"}));
  EXPECT_TRUE(LinesMatch({"1 case (12 ms)"}, {"1 case (3.4 s)"}));
  EXPECT_TRUE(LinesMatch({R"("seconds": 1,)"}, {R"("seconds": 2.5e-05,)"}));
  EXPECT_FALSE(LinesMatch({R"("seconds": 1,)"}, {R"("seconds": 1)"}));
}

}  // namespace
}  // namespace hv
