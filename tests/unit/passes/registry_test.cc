// Pass lists as text, the rows, and what a pipeline does about a broken result.
#include "passes/registry.h"

#include <set>

#include "tests/unit/passes/pass_runs.h"

namespace hv {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string IdOf(std::string_view list) {
  const Result<std::vector<PassCall>> calls = ParsePasses(list);
  return calls ? "" : calls.error().diagnostics[0].id;
}

TEST(PassList, Empty) {
  EXPECT_THAT(*ParsePasses(""), IsEmpty());
  EXPECT_THAT(*ParsePasses("  "), IsEmpty());
}

TEST(PassList, OptionsAndDefaults) {
  const auto calls = ParsePasses(
      " aws_neuron_delete_permute , "
      "aws_neuron_rewrite_all_reduce_dynamic_slice_multiple_groups{ pool_repeated = group },"
      "all_reduce_dynamic_slice_to_reduce_scatter");
  ASSERT_TRUE(calls);
  ASSERT_THAT(*calls, SizeIs(3));
  EXPECT_EQ((*calls)[0].row->key, "aws_neuron_delete_permute");
  EXPECT_THAT((*calls)[0].options, IsEmpty());
  EXPECT_EQ((*calls)[1].options.at("pool_repeated"), "group");
  EXPECT_EQ((*calls)[2].options.at("allow_dearer"), "false");
  EXPECT_TRUE(ParsePasses("aws_neuron_delete_permute{}"));
}

TEST(PassList, Mistakes) {
  EXPECT_EQ(IdOf("aws_neuron_delete_permut"), "pass-unknown");
  EXPECT_EQ(IdOf("a,,b"), "pass-unknown");
  EXPECT_EQ(IdOf("aws_neuron_delete_permute,"), "pass-list-syntax");
  EXPECT_EQ(IdOf("aws_neuron_delete_permute{"), "pass-list-syntax");
  EXPECT_EQ(IdOf("aws_neuron_delete_permute{}x"), "pass-list-syntax");
  EXPECT_EQ(IdOf("aws_neuron_delete_permute{a}"), "pass-option-syntax");
  EXPECT_EQ(IdOf("aws_neuron_delete_permute{a=b}"), "pass-option-unknown");
  EXPECT_EQ(IdOf("all_reduce_dynamic_slice_to_reduce_scatter{allow_dearer=1}"),
            "pass-option-value");
}

TEST(PassList, UnknownPassNamesTheNearestAndAll) {
  const auto calls = ParsePasses("delete_identity_colectives");
  ASSERT_FALSE(calls);
  const Diagnostic& diagnostic = calls.error().diagnostics[0];
  EXPECT_THAT(diagnostic.message, HasSubstr("did you mean 'delete_identity_collectives'?"));
  for (const PassRow& row : Passes()) {
    EXPECT_THAT(diagnostic.notes[0], HasSubstr(std::string(row.key)));
  }
  EXPECT_THAT(diagnostic.notes[0], ::testing::Not(HasSubstr("mutant")));
}

TEST(PassRows, EveryPassHasItsMutantAndTheOtherWayRound) {
  std::set<std::string_view> passes, mutants;
  for (const PassRow& row : Passes()) passes.insert(row.key);
  for (const PassRow& row : Mutants()) mutants.insert(row.key);
  EXPECT_EQ(passes.size() + mutants.size(), Passes().size() + Mutants().size())
      << "keys are unique";
  for (const PassRow& row : Passes()) {
    EXPECT_TRUE(mutants.count(row.twin)) << row.key;
    EXPECT_FALSE(row.doc.empty());
  }
  for (const PassRow& row : Mutants()) {
    EXPECT_TRUE(row.key.starts_with("mutant_")) << row.key;
    EXPECT_TRUE(passes.count(row.twin)) << row.key;
  }
}

TEST(Pipeline, RunsPassesOneAfterTheOther) {
  const std::string text = R"(HloModule m, num_partitions=2
ENTRY main {
  x = f32[4]{0} parameter(0)
  ROOT y = f32[4]{0} collective-permute(x), channel_id=1, source_target_pairs={{0,1},{1,0}}
}
)";
  const PipelineResult result =
      RunOn(text, "delete_identity_collectives,aws_neuron_delete_permute");
  ASSERT_THAT(result.decisions, SizeIs(2));
  EXPECT_FALSE(result.decisions[0].fired);
  EXPECT_TRUE(result.decisions[1].fired);
  EXPECT_TRUE(result.changed);
  EXPECT_EQ(result.broken_by, "");
}

TEST(Pipeline, NoPassesChangeNothing) {
  const PipelineResult result =
      RunOn(std::string("HloModule m\nENTRY e { ROOT x = f32[] parameter(0) }"), "");
  EXPECT_FALSE(result.changed);
  EXPECT_EQ(result.module.name, "m");
}

}  // namespace
}  // namespace hv
