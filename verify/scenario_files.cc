// Finds scenarios on disk: scenario files, folders of them, and case folders (a before/after pair
// with its truth in case.json).
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "verify/scenario.h"

namespace hv {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSchemaSuffix = ".schema.json";

Scenario Broken(const fs::path& path, Error error) {
  Scenario scenario;
  scenario.name = path.stem().string();
  scenario.file = path.string();
  scenario.error = std::move(error);
  return scenario;
}

bool IsScenarioFile(const fs::path& path) {
  const std::string name = path.filename().string();
  const bool schema =
      name.size() >= kSchemaSuffix.size() &&
      name.compare(name.size() - kSchemaSuffix.size(), std::string::npos, kSchemaSuffix) == 0;
  return path.extension() == ".json" && !schema;
}

bool IsPairFolder(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path / "before.hlo", ignored) && fs::exists(path / "after.hlo", ignored);
}

// Takes the mesh and the truth from case.json; its other keys belong to run_hlo and to readers.
void ReadCase(const Json& root, Scenario* scenario) {
  const auto count = [&](std::string_view key) -> std::optional<int64_t> {
    const Json* node = root.Find(key);
    if (node == nullptr || !node->Is(Json::Kind::kInteger)) return std::nullopt;
    return node->integer();
  };
  scenario->replicas = count("replica_count");
  scenario->partitions = count("partition_count");
  const Json* expected = root.Find("expected");
  if (expected == nullptr || !expected->Is(Json::Kind::kString)) return;
  const auto word =
      std::find(std::begin(kExpectationWords), std::end(kExpectationWords), expected->string());
  if (word != std::end(kExpectationWords)) {
    scenario->expect = static_cast<Expectation>(word - std::begin(kExpectationWords));
  }
}

Scenario LoadPairFolder(const fs::path& folder) {
  Scenario scenario;
  scenario.name = folder.filename().string();
  scenario.file = (folder / "before.hlo").string();
  scenario.before.path = scenario.file;
  scenario.after.path = (folder / "after.hlo").string();
  std::error_code ignored;
  const fs::path truth = folder / "case.json";
  if (!fs::exists(truth, ignored)) return scenario;
  auto document = JsonDocument::ParseFile(truth.string());
  if (!document) return Broken(truth, std::move(document).error());
  ReadCase(document->root(), &scenario);
  return scenario;
}

std::vector<Scenario> LoadFile(const fs::path& path) {
  auto document = JsonDocument::ParseFile(path.string());
  if (!document) return {Broken(path, std::move(document).error())};
  return ReadScenarios(*document);
}

std::vector<Scenario> LoadFolder(const fs::path& folder) {
  std::vector<fs::path> files, pairs;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (IsScenarioFile(it->path())) files.push_back(it->path());
    if (it->is_directory() && IsPairFolder(it->path())) pairs.push_back(it->path());
  }
  if (error) {
    return {Broken(folder, Invalid("file-unreadable", "cannot read the folder: " + error.message(),
                                   {folder.string()})
                               .value())};
  }
  std::sort(files.begin(), files.end());
  std::sort(pairs.begin(), pairs.end());
  std::vector<Scenario> scenarios;
  for (const fs::path& file : files) {
    for (Scenario& scenario : LoadFile(file)) scenarios.push_back(std::move(scenario));
  }
  for (const fs::path& pair : pairs) scenarios.push_back(LoadPairFolder(pair));
  if (!scenarios.empty()) return scenarios;
  return {Broken(folder, Invalid("folder-empty", "holds no scenario (*.json) and no case folder",
                                 {folder.string()})
                             .value())};
}

}  // namespace

std::vector<Scenario> LoadScenarios(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) return LoadFile(path);
  // "folder/" names the same folder as "folder".
  const fs::path folder =
      fs::path(path).has_filename() ? fs::path(path) : fs::path(path).parent_path();
  if (IsPairFolder(folder)) return {LoadPairFolder(folder)};
  return LoadFolder(folder);
}

bool LooksLikeHlo(const std::string& path) {
  std::error_code ignored;
  return fs::path(path).extension() != ".json" && !fs::is_directory(path, ignored);
}

}  // namespace hv
