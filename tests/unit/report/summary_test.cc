#include "report/summary.h"

#include <gmock/gmock.h>

#include "tests/unit/report/sample_report.h"

namespace hv {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Summary, ListsAllAndUnfoldsWhatMissed) {
  const std::string text = RenderSummary(ReportOf({TestedCase(), RefutedCase()}));
  EXPECT_THAT(text, HasSubstr("### verify_rewrite: 1 of 2 as expected\n"));
  EXPECT_THAT(text, HasSubstr("| ok | in order | TESTED | no difference found |  |\n"));
  EXPECT_THAT(text, HasSubstr("| **missed** | shuffled group | REFUTED | expected equivalent, got "
                              "REFUTED | x 0.5 |\n"));
  EXPECT_THAT(text, HasSubstr("<details><summary>shuffled group</summary>"));
  EXPECT_THAT(text, HasSubstr("device 1 misses the contribution of device 3"));
  EXPECT_THAT(text, Not(HasSubstr("<summary>in order")));
}

TEST(Summary, TextIsNoMarkup) {
  CaseReport c = RefutedCase();
  c.name = "a|b\n<img> *c* `d` [e](f) \x01";
  EXPECT_THAT(RenderSummary(ReportOf({c})),
              HasSubstr("| a&#124;b &lt;img&gt; \\*c\\* \\`d\\` \\[e\\](f) \xEF\xBF\xBD |"));
}

}  // namespace
}  // namespace hv
