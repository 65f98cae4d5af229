#include "report/json.h"

#include <gmock/gmock.h>

#include <limits>

#include "base/json.h"
#include "tests/unit/report/sample_report.h"

namespace hv {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> KeysOf(const Json& object) {
  std::vector<std::string> keys;
  for (const JsonMember& member : object.members()) keys.emplace_back(member.key);
  return keys;
}

// Read back with our own strict reader: what we print must pass it.
JsonDocument ReadBack(const Report& report) {
  Result<JsonDocument> document = JsonDocument::Parse("report.json", RenderJson(report));
  EXPECT_TRUE(document) << document.error().Message();
  return std::move(*document);
}

TEST(ReportJson, KeysComeInTheirOrder) {
  const JsonDocument document = ReadBack(ReportOf({RefutedCase(), TestedCase()}));
  EXPECT_THAT(KeysOf(document.root()),
              ElementsAre("tool", "version", "schema", "cases", "totals", "seconds", "exit_code"));
  const auto cases = document.root().Find("cases")->items();
  ASSERT_EQ(cases.size(), 2u);
  EXPECT_THAT(KeysOf(cases[0]),
              ElementsAre("name", "file", "verdict", "reason", "expect", "as_expected", "missed",
                          "devices", "counterexample", "cost", "seconds"));
  EXPECT_THAT(KeysOf(cases[1]), ElementsAre("name", "verdict", "reason", "expect", "as_expected",
                                            "devices", "evidence", "decisions", "seconds"));
  EXPECT_THAT(KeysOf(*cases[0].Find("counterexample")),
              ElementsAre("device", "output", "index", "before", "after", "inputs", "explanation",
                          "first_diverging", "reproduce"));
  EXPECT_EQ(document.root().Find("exit_code")->integer(), 10);
  EXPECT_EQ(document.root().Find("totals")->Find("refuted")->integer(), 1);
}

TEST(ReportJson, ValuesAreNumbersWhereJsonHasThem) {
  const JsonDocument document = ReadBack(ReportOf({RefutedCase()}));
  const Json* example = document.root().Find("cases")->items()[0].Find("counterexample");
  EXPECT_EQ(example->Find("before")->integer(), 0);
  EXPECT_EQ(example->Find("after")->string(), "nan");
  const Json& element = example->Find("inputs")->Find("elements")->items()[0];
  EXPECT_EQ(element.Find("device")->string(), "0,3");
  EXPECT_EQ(element.Find("value")->integer(), 1);
}

TEST(ReportJson, SixtyFourBitIntegersStayExact) {
  CaseReport c = RefutedCase();
  c.counterexample->before = "18446744073709551615";
  c.counterexample->after = "-9223372036854775808";
  const std::string text = RenderJson(ReportOf({c}));
  EXPECT_NE(text.find("\"before\": 18446744073709551615"), std::string::npos);
  EXPECT_NE(text.find("\"after\": -9223372036854775808"), std::string::npos);
}

TEST(ReportJson, NonFiniteNumbersAreStrings) {
  CaseReport c = TestedCase();
  c.evidence[0].miss_bound = std::numeric_limits<double>::quiet_NaN();
  c.cost = CostReport{"m", {}, {}};
  c.cost->after.seconds = 1;  // out of nothing
  const JsonDocument document = ReadBack(ReportOf({c}));
  const Json& read = document.root().Find("cases")->items()[0];
  EXPECT_EQ(read.Find("evidence")->items()[0].Find("miss_bound")->string(), "nan");
  EXPECT_EQ(read.Find("cost")->Find("ratio")->string(), "inf");
}

TEST(ReportJson, DeadlockHasItsCycle) {
  const JsonDocument document = ReadBack(ReportOf({DeadlockCase()}));
  const Json* deadlock = document.root().Find("cases")->items()[0].Find("deadlock");
  EXPECT_THAT(KeysOf(*deadlock), ElementsAre("module", "waiting", "cycle"));
  EXPECT_EQ(deadlock->Find("cycle")->items().size(), 3u);
}

TEST(ReportJson, TheSmallestMeshHasItsModules) {
  const JsonDocument document = ReadBack(ReportOf({SmallerCase()}));
  const Json* smaller = document.root().Find("cases")->items()[0].Find("smaller");
  EXPECT_THAT(KeysOf(*smaller), ElementsAre("devices", "closed", "remade", "counterexample",
                                            "before_hlo", "after_hlo"));
  EXPECT_EQ(smaller->Find("devices")->Find("originals")->items()[1].string(), "0,3");
}

TEST(ReportJson, BytesThatAreNoTextBecomeReplacements) {
  CaseReport c = TestedCase();
  c.name = "bad \xff name";
  EXPECT_NE(RenderJson(ReportOf({c})).find("bad \xef\xbf\xbd name"), std::string::npos);
}

}  // namespace
}  // namespace hv
