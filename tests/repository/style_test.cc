// Rules of style that a machine can read from the sources: sizes, headers, words that have no place
// in them. Naming and layout are clang-format's and clang-tidy's.
#include <gtest/gtest.h>

#include <map>
#include <regex>

#include "tests/repository/source_files.h"

namespace hv {
namespace {

const std::vector<std::string> kCode = {"base",   "hlo",    "eval",  "sim",   "passes",
                                        "verify", "report", "tools", "bench", "tests"};

constexpr size_t kLongestFile = 800;
constexpr size_t kLongestMain = 200;

std::vector<SourceFile> Code() { return SourceFiles(kCode, {".h", ".cc"}); }

TEST(Style, FilesAreShort) {
  ASSERT_GT(Code().size(), 20u);
  for (const SourceFile& file : Code()) {
    const bool main = std::any_of(file.lines.begin(), file.lines.end(), [](const std::string& l) {
      return l.starts_with("int main(");
    });
    const size_t longest = main && file.folder == "tools" ? kLongestMain : kLongestFile;
    EXPECT_LE(file.lines.size(), longest) << file.path;
  }
}

// Headers, and sources that stand alone; x.cc beside x.h has its say there.
TEST(Style, EveryFileSaysWhatItIs) {
  for (const SourceFile& file : Code()) {
    ASSERT_FALSE(file.lines.empty()) << file.path;
    const std::string own = "#include \"" + file.path.substr(0, file.path.rfind('.')) + ".h\"";
    EXPECT_TRUE(file.lines[0].starts_with("//") || file.lines[0] == own || file.folder == "tests")
        << file.path << " lacks its header comment";
    if (!file.path.ends_with(".h")) continue;
    const auto once = std::find(file.lines.begin(), file.lines.end(), "#pragma once");
    EXPECT_NE(once, file.lines.end()) << file.path << " lacks #pragma once";
  }
}

// clang-14 reads the sources too, and our own code neither throws nor asserts.
TEST(Style, StaysInTheCommonSubset) {
  const std::map<std::string, std::string> banned = {
      {R"(#\s*include <(ranges|format|source_location|cassert)>)", "header"},
      {R"(\bstd::(views|ranges::views|format)\b)", "C++20 beyond clang-14"},
      {R"((^|[^_\w])assert\()", "assert: use HV_CHECK"},
      {R"(^\s*throw\b)", "throw: return a Result"},
      {R"(\busing namespace\b)", "using namespace"},
      {R"(\bsetlocale\()", "the locale is not ours to set"},
  };
  for (const auto& [pattern, why] : banned) {
    const std::regex regex(pattern);
    for (const SourceFile& file : Code()) {
      for (size_t i = 0; i < file.lines.size(); ++i) {
        if (file.folder == "tests" && file.lines[i].find('"') != std::string::npos) continue;
        EXPECT_FALSE(std::regex_search(file.lines[i], regex))
            << file.path << ":" << i + 1 << ": " << why;
      }
    }
  }
}

// Unfinished marks, and words of a workplace in place of the project's own. Spelled in halves, so
// that this file is not its own finding.
TEST(Style, NothingUnfinishedAndNothingForeign) {
  std::vector<std::string> words;
  for (const auto& [first, second] : std::map<std::string, std::string>{{"TO", "DO"},
                                                                        {"FIX", "ME"},
                                                                        {"XX", "X"},
                                                                        {"not imple", "mented"},
                                                                        {"unimple", "mented"},
                                                                        {"/wo", "rk/"},
                                                                        {"/tmp/ba", "sh_jobs"},
                                                                        {"assis", "tant"},
                                                                        {"suba", "gent"},
                                                                        {"shared/", "docs"}}) {
    words.push_back(first + second);
  }
  std::vector<std::string> folders = kCode;
  folders.insert(folders.end(), {"docs", "scenarios", "machines", "cmake"});
  std::vector<SourceFile> files =
      SourceFiles(folders, {".h", ".cc", ".def", ".md", ".sh", ".txt", ".cmake", ".json", ".hlo"});
  ASSERT_GT(files.size(), 20u);
  for (const SourceFile& file : files) {
    for (size_t i = 0; i < file.lines.size(); ++i) {
      for (const std::string& word : words) {
        EXPECT_EQ(file.lines[i].find(word), std::string::npos)
            << file.path << ":" << i + 1 << ": " << word;
      }
    }
  }
}

}  // namespace
}  // namespace hv
