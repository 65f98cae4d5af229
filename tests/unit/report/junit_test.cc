#include "report/junit.h"

#include <gmock/gmock.h>

#include "tests/unit/report/sample_report.h"

namespace hv {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Junit, CountsAndNamesEachCase) {
  CaseReport unknown;
  unknown.name = "gather";
  unknown.reason = "sort is not supported";
  JudgeExpectation({}, &unknown);
  const std::string xml =
      RenderJunit(ReportOf({TestedCase(), RefutedCase(), unknown}), FailOn::kUnknown);
  EXPECT_THAT(
      xml, HasSubstr("<testsuites name=\"verify_rewrite\" tests=\"3\" failures=\"1\" errors=\"1\" "
                     "time=\"0.250000\">"));
  EXPECT_THAT(
      xml,
      HasSubstr("<testcase classname=\"verify_rewrite\" name=\"in order\" time=\"0.000000\"/>"));
  EXPECT_THAT(xml, HasSubstr("name=\"shuffled group\" file=\"scenarios/shuffled.json\""));
  EXPECT_THAT(
      xml,
      HasSubstr("<failure type=\"REFUTED\" message=\"expected equivalent, got REFUTED\">REFUTED "));
  EXPECT_THAT(xml, HasSubstr("<error type=\"UNKNOWN\""));
}

TEST(Junit, UnknownPassesWhereOnlyRefutedFails) {
  CaseReport unknown;
  JudgeExpectation({}, &unknown);
  EXPECT_THAT(RenderJunit(ReportOf({unknown}), FailOn::kRefuted), Not(HasSubstr("<error")));
}

TEST(Junit, EscapesWhatXmlCannotHold) {
  CaseReport c = RefutedCase();
  c.name = "a<b> & \"c\"\x01\n";
  const std::string xml = RenderJunit(ReportOf({c}), FailOn::kUnknown);
  EXPECT_THAT(xml, HasSubstr("name=\"a&lt;b&gt; &amp; &quot;c&quot;?&#10;\""));
}

}  // namespace
}  // namespace hv
