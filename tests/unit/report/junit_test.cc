// JUnit reports as GitLab and Jenkins read them: strict XML, and the elements and attributes of the
// schema of the Jenkins xUnit plugin.
#include "report/junit.h"

#include <gmock/gmock.h>

#include <set>

#include "tests/unit/report/sample_report.h"
#include "tests/unit/report/strict_xml.h"

namespace hv {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct ElementRule {
  std::set<std::string> required, optional, children;
};

// Attributes and children that an element must and may have.
const std::map<std::string, ElementRule> kSchema = {
    {"testsuites", {{"tests", "failures", "errors"}, {"name", "time", "disabled"}, {"testsuite"}}},
    {"testsuite",
     {{"name", "tests", "failures", "errors"},
      {"time", "skipped", "timestamp", "hostname", "id", "package", "file"},
      {"testcase", "properties", "system-out", "system-err"}}},
    {"testcase",
     {{"name", "classname", "time"},
      {"file", "line", "assertions", "status"},
      {"skipped", "failure", "error", "system-out", "system-err"}}},
    {"failure", {{"message", "type"}, {}, {}}},
    {"error", {{"message", "type"}, {}, {}}},
    {"skipped", {{}, {"message"}, {}}},
    {"system-out", {{}, {}, {}}},
};

void CheckSchema(const XmlElement& element) {
  const auto rule = kSchema.find(element.name);
  ASSERT_NE(rule, kSchema.end()) << element.name;
  for (const std::string& key : rule->second.required) {
    EXPECT_TRUE(element.attributes.count(key)) << element.name << " lacks " << key;
  }
  for (const auto& [key, value] : element.attributes) {
    EXPECT_TRUE(rule->second.required.count(key) || rule->second.optional.count(key))
        << element.name << " may have no " << key;
  }
  for (const XmlElement& child : element.children) {
    EXPECT_TRUE(rule->second.children.count(child.name))
        << element.name << " may hold no " << child.name;
    CheckSchema(child);
  }
}

// The one testsuite of a report that follows all rules.
XmlElement SuiteOf(const Report& report, FailOn fail_on = FailOn::kUnknown) {
  std::string error;
  const XmlElement root = StrictXml::Parse(RenderJunit(report, fail_on), &error);
  EXPECT_EQ(error, "");
  EXPECT_EQ(root.name, "testsuites");
  CheckSchema(root);
  return root.children.at(0);
}

CaseReport UnknownCase() {
  CaseReport unknown;
  unknown.name = "gather";
  unknown.reason = "sort is not supported";
  JudgeExpectation({}, &unknown);
  return unknown;
}

std::vector<std::string> ChildrenOf(const XmlElement& element) {
  std::vector<std::string> names;
  for (const XmlElement& child : element.children) names.push_back(child.name);
  return names;
}

TEST(Junit, EachCaseIsATest) {
  const XmlElement suite = SuiteOf(ReportOf({TestedCase(), RefutedCase(), UnknownCase()}));
  auto attributes = suite.attributes;
  EXPECT_EQ(
      attributes["tests"] + attributes["failures"] + attributes["errors"] + attributes["skipped"],
      "3110");
  EXPECT_EQ(attributes["time"], "0.250000");
  ASSERT_EQ(suite.children.size(), 3u);
  EXPECT_EQ(suite.children[0].attributes.at("name"), "in order");
  EXPECT_THAT(ChildrenOf(suite.children[0]), ElementsAre("system-out"));
  EXPECT_THAT(suite.children[0].children[0].text, HasSubstr("no difference found"));
  EXPECT_THAT(ChildrenOf(suite.children[1]), ElementsAre("failure"));
  EXPECT_EQ(suite.children[1].attributes.at("file"), "scenarios/shuffled.json");
  const XmlElement& failure = suite.children[1].children[0];
  EXPECT_EQ(failure.attributes.at("type"), "REFUTED");
  EXPECT_EQ(failure.attributes.at("message"), "expected equivalent, got REFUTED");
  EXPECT_THAT(failure.text, HasSubstr("device 1 misses the contribution of device 3"));
  EXPECT_THAT(ChildrenOf(suite.children[2]), ElementsAre("error"));
}

TEST(Junit, WhatIsUndecidedButDoesNotFailIsSkipped) {
  const XmlElement suite = SuiteOf(ReportOf({UnknownCase()}), FailOn::kRefuted);
  EXPECT_EQ(suite.attributes.at("errors"), "0");
  EXPECT_EQ(suite.attributes.at("skipped"), "1");
  EXPECT_THAT(ChildrenOf(suite.children[0]), ElementsAre("skipped", "system-out"));
  EXPECT_EQ(suite.children[0].children[0].attributes.at("message"), "sort is not supported");
}

TEST(Junit, ClassesFollowThePath) {
  const auto class_of = [](const std::string& file) {
    CaseReport c = TestedCase();
    c.file = file;
    return SuiteOf(ReportOf({c})).children[0].attributes.at("classname");
  };
  EXPECT_EQ(class_of(""), "verify_rewrite");
  EXPECT_EQ(class_of("ring.json"), "ring");
  EXPECT_EQ(class_of("scenarios/truths/ring.v2.json"), "scenarios.truths.ring_v2");
  EXPECT_EQ(class_of("/abs/./a.b/../ring"), "abs.a_b.ring");
  EXPECT_EQ(class_of("../.json"), "verify_rewrite");
  EXPECT_EQ(class_of(".json"), "_json");
}

TEST(Junit, HoldsOnlyWhatXmlCanHold) {
  CaseReport c = RefutedCase();
  c.name = "a<b> & \"c\"\t\n\r]]>\x01\x7f";
  EXPECT_EQ(SuiteOf(ReportOf({c})).children[0].attributes.at("name"),
            "a<b> & \"c\"\t\n\r]]>\xEF\xBF\xBD\x7f");
  c.name = "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x99\x82";
  EXPECT_EQ(SuiteOf(ReportOf({c})).children[0].attributes.at("name"), c.name);
  for (const char* bad : {"\xFF", "\xC0\xAF", "\xED\xA0\x80", "\xEF\xBF\xBF", "\xF4\x90\x80\x80",
                          "\xE2\x82", "\x80", "\x1b[31m"}) {
    c.reason = c.name = c.counterexample->explanation = bad;
    EXPECT_THAT(SuiteOf(ReportOf({c})).children[0].attributes.at("name"), HasSubstr("\xEF\xBF\xBD"))
        << bad;
  }
}

TEST(Junit, NoCasesIsAReportToo) { EXPECT_THAT(SuiteOf(ReportOf({})).children, IsEmpty()); }

}  // namespace
}  // namespace hv
