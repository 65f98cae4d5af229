// Whole dump folders of XLA: every file of the program that has the shapes of one device runs on the
// recorded inputs. Up to the guilty pass it gives the recorded outputs, from its file on it does not.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/json.h"
#include "tests/unit/sim/case_runs.h"

namespace hv {
namespace {

namespace fs = std::filesystem;

struct Dump {
  std::string folder;
  int per_device;  // files with the shapes of one device
  int wrong;       // of these, from the guilty file on
};

class DumpTest : public testing::TestWithParam<Dump> {};

std::string TextAt(const Json& root, std::string_view key) {
  const Json* node = root.Find(key);
  return node != nullptr && node->Is(Json::Kind::kString) ? std::string(node->string()) : "";
}

// The place of a file in the order of passes: numbered ones by name, what comes before and after all
// of them has no number. Empty: no HLO.
std::string PlaceOf(const std::string& name, const std::string& module) {
  if (!name.starts_with(module + ".")) return "";  // by-products of the compiler have other ids
  const std::string rest = name.substr(module.size() + 1);
  if (std::isdigit(static_cast<unsigned char>(rest[0])) != 0) return rest;
  if (rest.ends_with("before_optimizations.txt")) return "!";
  return rest.ends_with("after_optimizations.txt") ? "~" : "";
}

std::map<std::string, std::string> FilesByPlace(const fs::path& folder, const std::string& module) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string place = PlaceOf(entry.path().filename(), module);
    if (!place.empty()) files[place] = entry.path();
  }
  return files;
}

// Before the partitioner shapes are whole: the recorded inputs, one device's, do not fit.
bool FitsInputs(const std::string& path, const CaseFile& file) {
  const Result<Module> module = ParseModuleFile(path);
  if (!module) return true;  // running it says what is wrong
  const Mesh mesh{file.replicas().value_or(1), file.partitions().value_or(1)};
  for (size_t p = 0; p < module->Entry().parameters.size(); ++p) {
    if (!file.Input(*module, mesh, DeviceId(0), static_cast<int64_t>(p))) return false;
  }
  return file.Expected(*module, mesh, DeviceId(0)).has_value();
}

TEST_P(DumpTest, FilesAreRightUpToTheGuiltyOne) {
  const fs::path folder = fs::path(HV_TEST_DATA) / "real/dumps" / GetParam().folder;
  const std::string json = folder / "case.json";
  const Result<JsonDocument> document = JsonDocument::ParseFile(json);
  ASSERT_TRUE(document) << FormatError(document.error());
  const std::string module = TextAt(document->root(), "module");
  const std::string guilty = PlaceOf(TextAt(document->root(), "guilty_file"), module);
  const Result<CaseFile> file = CaseFile::Read(json, "");
  ASSERT_TRUE(file) << FormatError(file.error());
  int per_device = 0, wrong = 0;
  for (const auto& [place, path] : FilesByPlace(folder, module)) {
    if (!FitsInputs(path, *file)) {
      EXPECT_EQ(per_device, 0) << "whole shapes after the partitioner: " << path;
      continue;
    }
    ++per_device;
    const bool spoilt = !guilty.empty() && place >= guilty;
    std::string why;
    const CaseEnding ending = RunOne({path, json, ""}, &why);
    EXPECT_EQ(ending, spoilt ? CaseEnding::kWrong : CaseEnding::kAgrees) << path << ": " << why;
    wrong += spoilt;
  }
  EXPECT_EQ(per_device, GetParam().per_device);
  EXPECT_EQ(wrong, GetParam().wrong);
}

INSTANTIATE_TEST_SUITE_P(
    All, DumpTest,
    testing::Values(Dump{"cpu-mlp-tensor-parallel", 26, 0},
                    Dump{"cpu-transformer-tensor-parallel", 43, 0},
                    Dump{"fault-gpu-many-reduces-concat-order", 68, 36},
                    Dump{"fault-gpu-zero-adam-scatter-order", 71, 59},
                    Dump{"fault-of-xla-permutes-two-cycles", 71, 59},
                    Dump{"gpu-mlp-fsdp-tensor-parallel", 99, 0}),
    [](const auto& dump) {
      std::string name = dump.param.folder;
      std::replace(name.begin(), name.end(), '-', '_');
      return name;
    });

}  // namespace
}  // namespace hv
