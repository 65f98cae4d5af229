// The repository's own text files, for tests that read the sources: paths relative to its root.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace hv {

struct SourceFile {
  std::string path;    // "hlo/parser.cc"
  std::string folder;  // "hlo"
  std::vector<std::string> lines;
};

inline std::string ReadWhole(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// Every file below `folders` that ends in one of `endings`, sorted; tests/data is not ours to
// judge.
inline std::vector<SourceFile> SourceFiles(const std::vector<std::string>& folders,
                                           const std::vector<std::string_view>& endings) {
  namespace fs = std::filesystem;
  std::vector<SourceFile> files;
  for (const std::string& folder : folders) {
    const fs::path root = fs::path(HV_SOURCE_DIR) / folder;
    if (!fs::exists(root)) continue;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root)) {
      const std::string path = fs::relative(entry.path(), HV_SOURCE_DIR).generic_string();
      const std::string ending = entry.path().extension().string();
      if (!entry.is_regular_file() || path.starts_with("tests/data/")) continue;
      if (std::find(endings.begin(), endings.end(), ending) == endings.end()) continue;
      SourceFile file{path, folder, {}};
      std::istringstream text(ReadWhole(entry.path()));
      for (std::string line; std::getline(text, line);) file.lines.push_back(line);
      files.push_back(std::move(file));
    }
  }
  std::sort(files.begin(), files.end(),
            [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  return files;
}

}  // namespace hv
