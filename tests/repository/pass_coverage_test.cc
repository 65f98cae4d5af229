// Every pass has a scenario in which it is right, and every planted fault one in which it is
// caught. That the verdicts really come out is for the run over all scenarios (tests/mpi).
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>

#include "base/json.h"
#include "tests/repository/source_files.h"

namespace hv {
namespace {

// Rows "MACRO(Name, "key", ..., "last")" of a .def file: key -> last string.
std::map<std::string, std::string> RowsOf(const std::string& file, const std::string& macro) {
  const std::string text = ReadWhole(std::filesystem::path(HV_SOURCE_DIR) / file);
  const std::regex row("\n" + macro + R"(\(\w+,\s*"(\w+)\"[^)]*?\"([^"]*)\"\))");
  std::map<std::string, std::string> rows;
  for (std::sregex_iterator it(text.begin(), text.end(), row), end; it != end; ++it) {
    rows[(*it)[1]] = (*it)[2];
  }
  return rows;
}

// Expectation -> keys of the passes that stand in a scenario with it.
std::map<std::string, std::set<std::string>> PassesByExpectation() {
  std::map<std::string, std::set<std::string>> passes;
  for (const SourceFile& file : SourceFiles({"scenarios"}, {".json"})) {
    if (file.path.starts_with("scenarios/bad/")) continue;
    auto document = JsonDocument::ParseFile((std::filesystem::path(HV_SOURCE_DIR) / file.path));
    if (!document) continue;
    const Json* expect = document->root().Find("expect");
    const Json* list = document->root().Find("passes");
    if (!list) continue;
    for (const Json& pass : list->items()) {
      const std::string key(pass.string().substr(0, pass.string().find('{')));
      passes[expect ? std::string(expect->string()) : "equivalent"].insert(key);
    }
  }
  return passes;
}

TEST(PassCoverage, EachPassIsRightSomewhereAndItsMutantIsCaught) {
  auto scenarios = PassesByExpectation();
  const auto passes = RowsOf("passes/passes.def", "HV_PASS");
  ASSERT_GE(passes.size(), 5u);
  for (const auto& [key, mutant] : passes) {
    EXPECT_TRUE(scenarios["equivalent"].count(key)) << key << " has no scenario that it gets right";
    EXPECT_TRUE(scenarios["unchanged"].count(key))
        << key << " has no scenario that it leaves alone";
    EXPECT_TRUE(scenarios["not_equivalent"].count(mutant)) << mutant << " is refuted nowhere";
  }
}

TEST(PassCoverage, EachPlantedFaultIsCaught) {
  auto scenarios = PassesByExpectation();
  const auto mutants = RowsOf("passes/mutants.def", "HV_MUTANT");
  ASSERT_GE(mutants.size(), 10u);
  for (const auto& [key, unused] : mutants) {
    const bool caught = scenarios["not_equivalent"].count(key) || scenarios["invalid"].count(key);
    EXPECT_TRUE(caught) << key;
  }
}

}  // namespace
}  // namespace hv
