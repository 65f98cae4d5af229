// The arrows between folders, read from the #include lines:
//   base <- hlo <- eval <- {sim, passes} <- verify <- report <- {tools, bench}
// MPI is known to the transport and the mains alone, the flag library to the tools alone.
#include <gmock/gmock.h>

#include <map>
#include <regex>
#include <set>

#include "tests/repository/source_files.h"

namespace hv {
namespace {

using ::testing::Gt;
using ::testing::SizeIs;

// What each folder may include besides itself.
const std::map<std::string, std::set<std::string>> kMayInclude = {
    {"base", {}},
    {"hlo", {"base"}},
    {"eval", {"base", "hlo"}},
    {"sim", {"base", "hlo", "eval"}},
    {"passes", {"base", "hlo", "eval"}},
    {"verify", {"base", "hlo", "eval", "sim", "passes"}},
    {"report", {"base", "hlo", "eval", "sim", "passes", "verify"}},
    {"tools", {"base", "hlo", "eval", "sim", "passes", "verify", "report"}},
    {"bench", {"base", "hlo", "eval", "sim", "passes", "verify", "report", "tools"}},
};

struct Include {
  std::string file, folder, target;
  int line = 0;
};

std::vector<Include> AllIncludes() {
  std::vector<std::string> folders;
  for (const auto& [folder, unused] : kMayInclude) folders.push_back(folder);
  const std::regex pattern(R"(^\s*#\s*include\s*[<"]([^>"]+)[>"])");
  std::vector<Include> includes;
  for (const SourceFile& file : SourceFiles(folders, {".h", ".cc", ".def"})) {
    for (size_t i = 0; i < file.lines.size(); ++i) {
      std::smatch match;
      if (!std::regex_search(file.lines[i], match, pattern)) continue;
      includes.push_back({file.path, file.folder, match[1], static_cast<int>(i) + 1});
    }
  }
  return includes;
}

std::string Where(const Include& include) {
  return include.file + ":" + std::to_string(include.line) + " includes " + include.target;
}

TEST(Dependencies, FollowTheArrows) {
  const std::vector<Include> includes = AllIncludes();
  ASSERT_THAT(includes, SizeIs(Gt(50u)));
  for (const Include& include : includes) {
    const std::string target = include.target.substr(0, include.target.find('/'));
    if (!kMayInclude.count(target) || target == include.folder) continue;
    EXPECT_TRUE(kMayInclude.at(include.folder).count(target)) << Where(include);
  }
}

TEST(Dependencies, OnlyTheTransportAndTheMainsKnowMpi) {
  for (const Include& include : AllIncludes()) {
    if (include.target != "mpi.h") continue;
    const bool allowed = include.file.starts_with("sim/mpi_") || include.folder == "tools" ||
                         include.folder == "bench";
    EXPECT_TRUE(allowed) << Where(include);
  }
}

TEST(Dependencies, LibrariesStayWhereTheyBelong) {
  for (const Include& include : AllIncludes()) {
    if (include.target.starts_with("CLI/")) {
      EXPECT_EQ(include.folder, "tools") << Where(include);
    }
    if (include.target.starts_with("nlohmann/")) {
      EXPECT_FALSE(include.file.ends_with(".h")) << "slow to compile: " << Where(include);
    }
    EXPECT_FALSE(include.target.starts_with("tests/")) << Where(include);
  }
}

// hv_library(<folder> <direct dependency>...) lines of the build, closed transitively.
TEST(Dependencies, TheBuildLinksAlongTheSameArrows) {
  const std::string text = ReadWhole(std::filesystem::path(HV_SOURCE_DIR) / "CMakeLists.txt");
  const std::regex pattern(R"(hv_library\((\w+)([ \w]*)\))");
  std::map<std::string, std::set<std::string>> reach;
  for (std::sregex_iterator it(text.begin(), text.end(), pattern), end; it != end; ++it) {
    std::istringstream names((*it)[2].str());
    std::set<std::string>& mine = reach[(*it)[1]];
    for (std::string name; names >> name;) {
      mine.insert(name);
      mine.insert(reach[name].begin(), reach[name].end());
    }
  }
  ASSERT_THAT(reach, SizeIs(7u));
  for (const auto& [folder, targets] : reach) EXPECT_EQ(targets, kMayInclude.at(folder)) << folder;
}

// Quoted includes are paths from the root, so that the folder of each is in sight.
TEST(Dependencies, QuotedIncludesExist) {
  const std::regex quoted(R"(^\s*#\s*include\s*"([^"]+)\")");
  for (const SourceFile& file :
       SourceFiles({"base", "hlo", "eval", "sim", "passes", "verify", "report", "tools", "bench"},
                   {".h", ".cc"})) {
    for (const std::string& line : file.lines) {
      std::smatch match;
      if (!std::regex_search(line, match, quoted)) continue;
      EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(HV_SOURCE_DIR) / match[1].str()))
          << file.path << " includes " << match[1];
    }
  }
}

}  // namespace
}  // namespace hv
