#include "report/sarif.h"

#include <gmock/gmock.h>

#include "base/json.h"
#include "tests/unit/report/sample_report.h"

namespace hv {
namespace {

CaseReport InvalidCase() {
  CaseReport c;
  c.name = "broken";
  c.file = "scenarios/broken.json";
  c.verdict = Verdict::kInvalid;
  Diagnostic diagnostic;
  diagnostic.id = "unknown-opcode";
  diagnostic.message = "unknown opcode \xFF";
  diagnostic.place = {"m.hlo", 3, 7};
  c.diagnostics = {diagnostic};
  JudgeExpectation({}, &c);
  return c;
}

TEST(Sarif, OneResultForEachCaseThatMissed) {
  const auto document = JsonDocument::Parse(
      "sarif",
      RenderSarif(ReportOf({TestedCase(), RefutedCase(), InvalidCase()}), FailOn::kUnknown));
  ASSERT_TRUE(document) << FormatError(document.error());
  EXPECT_EQ(document->root().Find("version")->string(), "2.1.0");
  const Json& run = document->root().Find("runs")->items()[0];
  EXPECT_EQ(run.Find("tool")->Find("driver")->Find("rules")->items().size(),
            static_cast<size_t>(kVerdictCount));
  const auto& results = run.Find("results")->items();
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].Find("ruleId")->string(), "REFUTED");
  EXPECT_EQ(results[0].Find("level")->string(), "error");
  const Json& place = *results[1].Find("locations")->items()[0].Find("physicalLocation");
  EXPECT_EQ(place.Find("artifactLocation")->Find("uri")->string(), "m.hlo");
  EXPECT_EQ(place.Find("region")->Find("startLine")->integer(), 3);
}

TEST(Sarif, WhatDoesNotFailIsANote) {
  CaseReport unknown;
  unknown.name = "gather";
  JudgeExpectation({}, &unknown);
  EXPECT_THAT(RenderSarif(ReportOf({unknown}), FailOn::kUnknown),
              ::testing::HasSubstr("\"level\": \"warning\""));
  EXPECT_THAT(RenderSarif(ReportOf({unknown}), FailOn::kRefuted),
              ::testing::HasSubstr("\"level\": \"note\""));
}

}  // namespace
}  // namespace hv
