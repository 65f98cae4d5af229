// One type name stands in one header: two types of one name make one program of them, and the code of
// one then works on objects of the other, without a word from compiler or linker.
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <string>

#include "tests/repository/source_files.h"

namespace hv {
namespace {

TEST(Names, OfTypesInHeadersAreUnique) {
  const std::regex space(R"(^namespace ([\w:]+))");
  const std::regex type(R"(^(?:struct|class|union|enum class) (\w+)(?: final)?(?: :[^:;]*)?\s*\{)");
  std::map<std::string, std::string> known;  // where each stands
  for (const SourceFile& file : SourceFiles(
           {"base", "hlo", "eval", "sim", "passes", "verify", "report", "tools", "bench"}, {".h"})) {
    std::string within;
    for (const std::string& line : file.lines) {
      std::smatch match;
      if (std::regex_search(line, match, space)) within = match[1];
      if (!std::regex_search(line, match, type)) continue;
      const auto [entry, is_new] = known.emplace(within + "::" + match[1].str(), file.path);
      EXPECT_TRUE(is_new) << entry->first << " stands in " << entry->second << " and " << file.path;
    }
  }
  EXPECT_GT(known.size(), 200u);
}

}  // namespace
}  // namespace hv
