#include "verify/scenario.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

namespace hv {
namespace {

using ::testing::HasSubstr;

std::vector<Scenario> Read(std::string text) {
  auto document = JsonDocument::Parse("dir/s.json", std::move(text));
  EXPECT_TRUE(document.has_value());
  return ReadScenarios(*document);
}

std::string ErrorOf(std::string text) {
  const std::vector<Scenario> scenarios = Read(std::move(text));
  return scenarios[0].error ? FormatError(*scenarios[0].error) : "no error";
}

constexpr char kWhole[] = R"({
  "$schema": "./scenario.schema.json", "version": 1, "name": "single group",
  "module": "hlo/a.hlo", "passes": ["p", "q{x=1}"], "devices": {"replicas": 2, "partitions": 8},
  "inputs": {"seed": 7, "trials": 2, "mode": "test", "ranges": {"0": [-1, 2.5]}, "replicated": [1],
             "0,0": [[1]], "0,1": [[2]]},
  "expect": "not_equivalent", "min_level": "bitwise", "machine": "trn2", "max_cost_ratio": 1.5,
  "minimize_topology": true, "custom_calls": {"t": "d.hlo", "u": ["e.hlo", "/f.hlo"]}})";

TEST(Scenario, ReadsEveryKey) {
  const Scenario s = Read(kWhole)[0];
  ASSERT_FALSE(s.error) << FormatError(*s.error);
  EXPECT_EQ(s.name, "single group");
  EXPECT_EQ(s.before.path, "dir/hlo/a.hlo");
  EXPECT_EQ(s.passes, (std::vector<std::string>{"p", "q{x=1}"}));
  EXPECT_EQ(s.replicas, 2);
  EXPECT_EQ(s.partitions, 8);
  EXPECT_EQ(s.inputs.seed, 7u);
  EXPECT_EQ(s.inputs.trials, 2);
  EXPECT_EQ(s.inputs.mode, Mode::kTest);
  ASSERT_EQ(s.inputs.ranges.size(), 1u);
  EXPECT_EQ(s.inputs.ranges[0].high, 2.5);
  EXPECT_EQ(s.inputs.replicated, std::vector<int64_t>{1});
  ASSERT_NE(s.inputs.per_device, nullptr);
  EXPECT_EQ(s.expect, Expectation::kNotEquivalent);
  EXPECT_EQ(s.min_level, Level::kBitwise);
  EXPECT_EQ(s.max_cost_ratio, 1.5);
  EXPECT_TRUE(s.minimize_topology);
  EXPECT_EQ(s.custom_calls, (std::vector<std::string>{"t=dir/d.hlo", "u=dir/e.hlo", "u=/f.hlo"}));
}

TEST(Scenario, ListsAndInlineText) {
  const auto list = Read(R"({"version": 1, "scenarios": [
      {"before": {"text": "HloModule a"}, "after": "/b.hlo"},
      {"name": "second", "module": "m.hlo", "pass_command": "cat"}]})");
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].name, "s#0");
  EXPECT_EQ(list[0].before.text, "HloModule a");
  EXPECT_EQ(list[0].before.label, "dir/s.json#/scenarios/0/before");
  EXPECT_EQ(list[0].after.path, "/b.hlo");
  EXPECT_EQ(list[1].pass_command, "cat");
}

TEST(Scenario, RefusesWhatContradicts) {
  EXPECT_THAT(ErrorOf(R"({"module": "a.hlo"})"), HasSubstr("needs one of 'passes'"));
  EXPECT_THAT(ErrorOf(R"({"before": "a.hlo"})"), HasSubstr("either 'module', or"));
  EXPECT_THAT(ErrorOf(R"({"module": "a", "before": "a", "after": "b", "passes": []})"),
              HasSubstr("either 'module', or"));
  EXPECT_THAT(ErrorOf(R"({"before": "a", "after": "b", "passes": []})"), HasSubstr("none"));
  EXPECT_THAT(ErrorOf(R"({"module": "a", "passes": [], "version": 2})"), HasSubstr("/version"));
  EXPECT_THAT(ErrorOf(R"({"module": "a", "passes": [], "exepct": "proved"})"),
              HasSubstr("did you mean 'expect'?"));
  EXPECT_THAT(ErrorOf(R"({"module": "a", "passes": [], "inputs": {"ranges": {"0": [2, 1]}}})"),
              HasSubstr("/inputs/ranges/0: expected [low, high]"));
  EXPECT_THAT(ErrorOf(R"({"scenarios": []})"), HasSubstr("expected a list of scenarios"));
  EXPECT_THAT(ErrorOf("[]"), HasSubstr("expected an object"));
}

TEST(Scenario, SchemaAndReaderKnowTheSameKeys) {
  auto schema = JsonDocument::Parse("schema", std::string(ScenarioSchema()));
  ASSERT_TRUE(schema.has_value());
  const Json& definitions = *schema->root().Find("definitions");
  const auto keys_of = [&](std::string_view name) {
    std::set<std::string> keys;
    for (const JsonMember& m : definitions.Find(name)->Find("properties")->members()) {
      keys.emplace(m.key);
    }
    return keys;
  };
  const auto as_set = [](const std::vector<std::string>& v) {
    return std::set<std::string>(v.begin(), v.end());
  };
  const ScenarioKeys known = KnownScenarioKeys();
  std::set<std::string> scenario = keys_of("scenario");
  scenario.insert("scenarios");
  EXPECT_EQ(as_set(known.scenario), scenario);
  EXPECT_EQ(as_set(known.inputs), keys_of("inputs"));
  EXPECT_EQ(as_set(known.devices), keys_of("devices"));
  std::vector<std::string_view> words;
  for (const Json& w :
       definitions.Find("scenario")->Find("properties")->Find("expect")->Find("enum")->items()) {
    words.push_back(w.string());
  }
  EXPECT_TRUE(std::equal(words.begin(), words.end(), std::begin(kExpectationWords),
                         std::end(kExpectationWords)));
}

TEST(Scenario, CaseFoldersArePairs) {
  const auto all = LoadScenarios(HV_TEST_DATA "/cases/bugs");
  EXPECT_EQ(all.size(), 54u);
  const auto one = LoadScenarios(HV_TEST_DATA "/cases/bugs/b64-trip-count-differs/");
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].name, "b64-trip-count-differs");
  EXPECT_EQ(one[0].expect, Expectation::kDeadlock);
  EXPECT_EQ(one[0].partitions, 2);
}

TEST(Scenario, UnreadableFilesBecomeBrokenScenarios) {
  EXPECT_THAT(FormatError(*LoadScenarios("/nonexistent.json")[0].error), HasSubstr("cannot read"));
  EXPECT_THAT(FormatError(*LoadScenarios(HV_SOURCE_DIR "/base")[0].error),
              HasSubstr("holds no scenario"));
}

TEST(Scenario, FlagValues) {
  EXPECT_EQ(ParseRanges("0=-1:1,x=2:3")->size(), 2u);
  EXPECT_FALSE(ParseRanges("0:1").has_value());
  EXPECT_FALSE(ParseRanges("0=3:1").has_value());
  EXPECT_EQ(*ParseNumbers("--replicated", "0,2"), (std::vector<int64_t>{0, 2}));
  EXPECT_FALSE(ParseNumbers("--replicated", "0,,2").has_value());
}

}  // namespace
}  // namespace hv
