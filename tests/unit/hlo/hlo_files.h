// The HLO files of the test data, for tests that take them all.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace hv {

inline std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// .hlo files, and those .txt files of dump folders that hold HLO; sorted.
inline std::vector<std::filesystem::path> HloFiles() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(HV_TEST_DATA)) {
    const std::string extension = entry.path().extension().string();
    if (extension == ".hlo" ||
        (extension == ".txt" && ReadFile(entry.path()).substr(0, 9) == "HloModule")) {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace hv
