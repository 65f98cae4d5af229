// JAX's own programs: what the guarded pass does with each slice of an all-reduce, in the table of
// docs/all_reduce_dynamic_slice.md; each firing runs to the same bits before and after.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "passes/shard_source.h"
#include "tests/unit/generated_table.h"
#include "tests/unit/passes/mesh_runs.h"
#include "tests/unit/passes/pass_runs.h"

namespace hv {
namespace {

namespace fs = std::filesystem;

constexpr char kPass[] = "all_reduce_dynamic_slice_to_reduce_scatter";

std::vector<fs::path> Folders() {
  std::vector<fs::path> folders;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(fs::path(HV_TEST_DATA) / "real" / "modules")) {
    if (entry.is_directory()) folders.push_back(entry.path());
  }
  std::ranges::sort(folders);
  return folders;
}

struct Row {
  std::string module, slice, reduced, groups, outcome;
};

// Slices that read an all-reduce in sight; those inside fusions have no operands to look at.
std::optional<Row> RowFor(const std::string& name, const Module& module,
                          const RewriteDecision& decision) {
  for (const Computation& computation : module.computations) {
    for (const Instruction& slice : computation.instructions) {
      if (slice.name != decision.instruction || slice.opcode != Opcode::kDynamicSlice) continue;
      const auto source = FindShardSource(computation, slice.operands[0]);
      if (!source) return std::nullopt;
      const Instruction& all_reduce = computation.At(source->all_reduce);
      std::string groups = "{}";
      if (const DeviceList* list = all_reduce.Object<DeviceList>(Attr::kReplicaGroups)) {
        groups.clear();
        AppendDeviceList(*list, &groups);
      }
      std::string chain;
      for (const ChainLink& link : source->links) {
        chain += fmt::format(", {}", ToString(computation.At(link.instruction).opcode));
      }
      return Row{
          name, std::string(slice.name),
          fmt::format("{}{}", ToString(*computation.At(slice.operands[0]).shape, false), chain),
          groups, decision.fired ? "fires" : decision.reason};
    }
  }
  return std::nullopt;
}

std::string Table() {
  std::string table =
      "| module | dynamic-slice | of the all-reduced | groups | guarded pass |\n"
      "| --- | --- | --- | --- | --- |\n";
  for (const fs::path& folder : Folders()) {
    const Module module = ReadOrDie((folder / "module.hlo").string());
    for (const RewriteDecision& decision : RunOn(module, kPass).decisions) {
      const auto row = RowFor(folder.filename().string(), module, decision);
      if (!row) continue;
      table += fmt::format("| {} | {} | {} | `{}` | {} |\n", row->module, row->slice, row->reduced,
                           row->groups, row->outcome);
    }
  }
  return table;
}

TEST(RealModules, TheTableInTheDocumentIsTrue) {
  ExpectTableInPage("all_reduce_dynamic_slice.md", Table());
}

TEST(RealModules, FiringsKeepEveryBit) {
  int fired = 0;
  for (const fs::path& folder : Folders()) {
    const Module module = ReadOrDie((folder / "module.hlo").string());
    const PipelineResult result =
        RunOn(module, "all_reduce_dynamic_slice_to_reduce_scatter{allow_dearer=true}");
    if (!result.changed) continue;
    ++fired;
    ExpectReadsBack(result);
    std::string note;
    EXPECT_EQ(CompareRuns(module, result.module, DeduceCounts(module), &note), Agreement::kSame)
        << folder << "\n"
        << note;
  }
  EXPECT_GE(fired, 22);
}

// The passes under test find none of JAX's spellings but the one they were made for.
TEST(RealModules, ThePatternsOfThePassesUnderTestDoNotOccur) {
  for (const fs::path& folder : Folders()) {
    const Module module = ReadOrDie((folder / "module.hlo").string());
    for (const char* pass : {"aws_neuron_rewrite_all_reduce_dynamic_slice",
                             "aws_neuron_rewrite_all_reduce_dynamic_slice_multiple_groups"}) {
      EXPECT_FALSE(RunOn(module, pass).changed) << folder << " " << pass;
    }
  }
}

}  // namespace
}  // namespace hv
