// Every diagnostic id of the sources has an input that provokes it: a row in a table or a unit
// test, a block of tests/bad, a step of a transcript marked "id: <id>"; or it stands in
// elsewhere.txt with the reason why no input can.
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>

#include "hlo/opcode.h"
#include "tests/bad/bad_table.h"
#include "tests/repository/source_files.h"

namespace hv {
namespace {

const std::vector<std::string> kSources = {"base",   "hlo",    "eval",   "sim",
                                           "passes", "verify", "report", "tools"};

// The first string of a call that makes a diagnostic, and all words with hyphens that are no
// opcodes: ids are spelled like this, and little else is.
std::map<std::string, std::string> IdsOfSources() {
  const std::regex call(R"re(\b(Invalid|Unsupported|Wrong|Fail|FailHere|Refuse|MakeError|)re"
                        R"re(MakeDiagnostic)\([^";]*"([a-z][a-z0-9]*(-[a-z0-9]+)*)")re");
  const std::regex word(R"re("([a-z][a-z0-9]*(-[a-z0-9]+)+)")re");
  std::map<std::string, std::string> ids;
  for (const SourceFile& file : SourceFiles(kSources, {".cc", ".h"})) {
    std::string text;
    for (const std::string& line : file.lines) text += line + "\n";
    for (std::sregex_iterator it(text.begin(), text.end(), call), end; it != end; ++it) {
      ids[(*it)[2]] = file.path;
    }
    for (std::sregex_iterator it(text.begin(), text.end(), word), end; it != end; ++it) {
      if (!ParseOpcode((*it)[1].str())) ids[(*it)[1]] = file.path;
    }
  }
  EXPECT_GT(ids.size(), 150u);
  return ids;
}

void AddAll(const std::vector<SourceFile>& files, const std::regex& pattern,
            std::set<std::string>* found) {
  for (const SourceFile& file : files) {
    for (const std::string& line : file.lines) {
      for (std::sregex_iterator it(line.begin(), line.end(), pattern), end; it != end; ++it) {
        found->insert((*it)[1]);
      }
    }
  }
}

std::set<std::string> ProvokedIds() {
  std::set<std::string> ids;
  AddAll(SourceFiles({"tests/unit"}, {".cc"}), std::regex(R"re("([a-z0-9-]+)")re"), &ids);
  AddAll(SourceFiles({"tests/cli", "tests/mpi"}, {".test"}), std::regex(R"(id: ([a-z0-9-]+))"),
         &ids);
  for (const char* table : {"run.txt", "scenarios.txt", "elsewhere.txt"}) {
    for (const BadInput& input : ReadBadTable(table)) ids.insert(input.id);
  }
  return ids;
}

TEST(Completeness, EveryDiagnosticIsProvoked) {
  const std::set<std::string> provoked = ProvokedIds();
  for (const auto& [id, file] : IdsOfSources()) {
    EXPECT_TRUE(provoked.count(id)) << file << ": nothing provokes " << id;
  }
}

TEST(Completeness, TablesNameOnlyWhatThereIs) {
  const std::map<std::string, std::string> ids = IdsOfSources();
  for (const char* table : {"run.txt", "scenarios.txt", "elsewhere.txt"}) {
    for (const BadInput& input : ReadBadTable(table)) {
      EXPECT_TRUE(ids.count(input.id)) << table << ": no source knows " << input.id;
    }
  }
}

}  // namespace
}  // namespace hv
