// Every scenario that names passes: the pass fires, stays quiet or breaks the module as the
// scenario expects, and where both modules run, one process agrees with the verdict.
#include <algorithm>
#include <filesystem>

#include "base/json.h"
#include "tests/unit/passes/mesh_runs.h"
#include "tests/unit/passes/pass_runs.h"

namespace hv {
namespace {

struct Truth {
  std::string name, module, passes, expect = "equivalent";
  int64_t replicas = 0, partitions = 0;
  bool replicated_inputs = false;
};

std::vector<Truth> ReadTruths() {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(HV_SOURCE_DIR) / "scenarios";
  std::vector<Truth> truths;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    const Result<JsonDocument> document = JsonDocument::ParseFile(entry.path().string());
    if (!document) continue;
    const Json& root = document->root();
    const Json* module = root.Find("module");
    const Json* passes = root.Find("passes");
    if (module == nullptr || passes == nullptr || !module->Is(Json::Kind::kString)) continue;
    Truth truth{entry.path().stem().string(), (folder / module->string()).string(), ""};
    for (const Json& pass : passes->items()) {
      truth.passes += (truth.passes.empty() ? "" : ",") + std::string(pass.string());
    }
    if (const Json* expect = root.Find("expect")) truth.expect = expect->string();
    if (const Json* devices = root.Find("devices")) {
      truth.replicas = devices->Find("replicas")->integer();
      truth.partitions = devices->Find("partitions")->integer();
    }
    const Json* inputs = root.Find("inputs");
    truth.replicated_inputs = inputs != nullptr;
    truths.push_back(std::move(truth));
  }
  std::ranges::sort(truths, {}, &Truth::name);
  return truths;
}

class Truths : public ::testing::TestWithParam<Truth> {};

TEST_P(Truths, ThePassDoesWhatTheScenarioSays) {
  const Truth& truth = GetParam();
  const Module module = ReadOrDie(truth.module);
  DeviceCounts counts = DeduceCounts(module);
  if (truth.replicas > 0) counts = {truth.replicas, truth.partitions};
  if (!Validate(module, counts)) {
    EXPECT_EQ(truth.expect, "invalid");
    return;
  }
  const PipelineResult result = RunPasses(*ParsePasses(truth.passes), module, counts);
  EXPECT_EQ(truth.expect == "invalid", !result.broken_by.empty()) << FormatError(result.broken);
  EXPECT_EQ(truth.expect == "unchanged", !result.changed && result.broken_by.empty());
  if (!result.changed || !result.broken_by.empty()) return;
  ExpectReadsBack(result);
  if (truth.replicated_inputs) return;  // the claim holds for other inputs than these
  std::string note;
  const Agreement agreement = CompareRuns(module, result.module, counts, &note);
  EXPECT_EQ(agreement, truth.expect == "equivalent" ? Agreement::kSame : Agreement::kDifferent)
      << note << "\n"
      << PrintModule(result.module);
}

INSTANTIATE_TEST_SUITE_P(Scenarios, Truths, ::testing::ValuesIn(ReadTruths()),
                         [](const auto& truth) {
                           std::string name = truth.param.name;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace hv
