// Rules about who takes part in a collective, about asynchronous pairs and about the module.
#include "rule_case.h"

namespace hv {
namespace {

class DeviceRulesTest : public testing::TestWithParam<RuleCase> {};
TEST_P(DeviceRulesTest, Refuses) { ExpectRefused(GetParam()); }

constexpr std::string_view kReplicas = ", replica_count=4";
constexpr std::string_view kPartitions = ", num_partitions=4";
constexpr std::string_view kBoth = ", replica_count=2, num_partitions=2";

constexpr RuleCase kGroupRules[] = {
    {"device-unknown",
     "x = f32[4] parameter(0)  ROOT r = f32[4] all-reduce(x), @replica_groups={{0,1,2,3,4}}, "
     "to_apply=add",
     kReplicas},
    {"device-unknown",
     "x = f32[4] parameter(0)  ROOT r = f32[4] all-reduce(x), @replica_groups={{0,-1,2,3}}, "
     "to_apply=add",
     kReplicas},
    // The ids of an all-to-all with a channel are partitions, and there is one.
    {"device-unknown",
     "x = f32[4] parameter(0)  ROOT r = f32[4] all-to-all(x), channel_id=1, "
     "@replica_groups={{0,1,2,3}}, dimensions={0}",
     kReplicas},
    {"device-twice",
     "x = f32[4] parameter(0)  ROOT r = f32[4] all-reduce(x), @replica_groups={{0,1},{2,3,0}}, "
     "to_apply=add",
     kReplicas},
    {"device-missing",
     "x = f32[4] parameter(0)  ROOT r = f32[4] all-reduce(x), @replica_groups={{0,1},{3}}, "
     "to_apply=add",
     kReplicas},
    {"device-missing",
     "x = f32[4] parameter(0)  ROOT r = f32[4] all-reduce(x), channel_id=1, "
     "@replica_groups={{0,1},{2}}, use_global_device_ids=true, to_apply=add",
     kBoth},
    {"group-empty",
     "x = f32[4] parameter(0)  ROOT r = f32[4] all-reduce(x), @replica_groups={{}}, to_apply=add",
     kReplicas},
    {"group-sizes",
     "x = f32[4] parameter(0)  ROOT r = f32[8] all-gather(x), @replica_groups={{0,1},{2,3,1}}, "
     "dimensions={0}",
     kReplicas},
    {"groups-missing",
     "x = f32[4] parameter(0)  ROOT r = f32[4] all-reduce(x), channel_id=1, "
     "@use_global_device_ids=true, to_apply=add",
     kReplicas},
    {"global-ids",
     "x = f32[4] parameter(0)  ROOT r = f32[16] all-gather(x), replica_groups={{0,1,2,3}}, "
     "dimensions={0}, @use_global_device_ids=true",
     kReplicas},
    {"channel-id",
     "x = f32[4] parameter(0)  ROOT r = f32[4] all-reduce(x), @channel_id=0, to_apply=add",
     kReplicas},
    {"group-size-shape",
     "x = f32[4] parameter(0)  ROOT r = f32[8] all-gather(x), @replica_groups={{0,1,2,3}}, "
     "dimensions={0}",
     kReplicas},
    // All partitions of the listed replicas join: groups of four.
    {"group-size-shape",
     "x = f32[4] parameter(0)  ROOT r = f32[2] reduce-scatter(x), channel_id=1, "
     "@replica_groups={{0,1}}, dimensions={0}, to_apply=add",
     kBoth},
    {"group-size-shape",
     "x = f32[6] parameter(0)  ROOT r = f32[6] all-to-all(x), replica_groups={{0,1,2,3}}, "
     "@dimensions={0}",
     kReplicas},
    {"group-size-operands",
     "x = f32[4] parameter(0)  ROOT r = (f32[4], f32[4]) all-to-all(x, x), "
     "@replica_groups={{0,1,2,3}}",
     kReplicas},
    {"group-size-operands",
     "x = f32[4] parameter(0)  i = s32[3] parameter(1)  ROOT r = f32[4] "
     "ragged-all-to-all(x, x, i, i, i, i), @replica_groups={{0,1},{2,3}}",
     kReplicas},
};

constexpr RuleCase kShapeRules[] = {
    {"result-shape",
     "x = f32[4] parameter(0)  ROOT @r = f32[5] all-reduce(x), to_apply=add"},
    {"result-shape",
     "x = f32[4] parameter(0)  ROOT @r = (f32[4]) all-reduce(x), to_apply=add"},
    {"result-shape",
     "x = f32[4,2] parameter(0)  ROOT @r = f32[16,3] all-gather(x), dimensions={0}", kReplicas},
    {"result-shape",
     "x = f32[7] parameter(0)  ROOT @r = f32[3] reduce-scatter(x), replica_groups={{0,1}}, "
     "dimensions={0}, to_apply=add",
     ", replica_count=2"},
    {"result-shape",
     "x = f32[4] parameter(0)  ROOT @r = (f32[4]) collective-permute(x), "
     "source_target_pairs={{0,1}}",
     kReplicas},
    {"computation-parameters",
     "x = f32[4] parameter(0)  ROOT r = f32[4] all-reduce(x), @to_apply=addi"},
    {"computation-result",
     "x = f32[4] parameter(0)  ROOT r = f32[4] all-reduce(x), @to_apply=same"},
    {"operand-count",
     "x = f32[4] parameter(0)  ROOT @r = f32[4] all-to-all(x, x), dimensions={0}"},
    {"operand-dims",
     "x = f32[4] parameter(0)  y = f32[2] parameter(1)  ROOT @r = (f32[4], f32[2]) "
     "all-to-all(x, y), replica_groups={{0,1},{2,3}}",
     kReplicas},
    {"operand-count",
     "x = f32[4] parameter(0)  ROOT r = f32[4] collective-permute(x), "
     "source_target_pairs={{0,1}}, @slice_sizes={{2}}",
     kReplicas},
};

constexpr RuleCase kPairRules[] = {
    {"device-unknown",
     "x = f32[4] parameter(0)  ROOT r = f32[4] collective-permute(x), "
     "@source_target_pairs={{0,4}}",
     kReplicas},
    {"device-unknown",
     "x = f32[4] parameter(0)  ROOT r = f32[4] collective-permute(x), channel_id=1, "
     "@source_target_pairs={{0,1}}",
     kReplicas},
    {"source-twice",
     "x = f32[4] parameter(0)  ROOT r = f32[4] collective-permute(x), "
     "@source_target_pairs={{0,1},{0,2}}",
     kReplicas},
    {"target-twice",
     "x = f32[4] parameter(0)  ROOT r = f32[4] collective-permute(x), "
     "@source_target_pairs={{0,2},{1,2}}",
     kReplicas},
    {"pairs-text",
     "x = f32[4] parameter(0)  t = token[] after-all()  s = (f32[4], u32[], token[]) send(x, t), "
     "channel_id=1, @frontend_attributes={_xla_send_recv_source_target_pairs={{0,1},{2}}}  "
     "ROOT d = token[] send-done(s), channel_id=1",
     kPartitions},
    {"device-unknown",
     "t = token[] after-all()  s = (f32[4], u32[], token[]) recv(t), channel_id=1, "
     "@frontend_attributes={_xla_send_recv_source_target_pairs={{0,7}}}  "
     "ROOT d = (f32[4], token[]) recv-done(s), channel_id=1",
     kPartitions},
};

constexpr RuleCase kAsyncRules[] = {
    {"async-user-count",
     "x = f32[4] parameter(0)  @s = f32[4] all-reduce-start(x), to_apply=add  "
     "ROOT r = f32[4] negate(x)"},
    {"async-user-count",
     "x = f32[4] parameter(0)  @s = f32[4] all-reduce-start(x), to_apply=add  "
     "d = f32[4] all-reduce-done(s)  e = f32[4] all-reduce-done(s)  ROOT r = f32[4] add(d, e)"},
    {"async-user",
     "x = f32[4] parameter(0)  @s = f32[4] all-reduce-start(x), to_apply=add  "
     "ROOT r = f32[4] negate(s)"},
    {"async-start", "x = f32[4] parameter(0)  ROOT @r = f32[4] all-reduce-done(x)"},
    {"async-operand",
     "x = f32[4] parameter(0)  s = ((f32[4]), f32[4]) async-start(x), calls=late  "
     "@u = ((f32[4]), f32[4]) async-update(s, s)  ROOT d = f32[4] async-done(u)"},
    {"async-shared",
     "x = f32[4] parameter(0)  s = ((f32[4]), f32[4]) async-start(x), calls=once  "
     "d = f32[4] async-done(s)  t = ((f32[4]), f32[4]) async-start(d), @calls=once  "
     "ROOT e = f32[4] async-done(t)"},
    {"async-body",
     "x = f32[4] parameter(0)  s = ((f32[4]), f32[4]) async-start(x), @calls=twice  "
     "ROOT d = f32[4] async-done(s)"},
    {"async-arguments",
     "x = f32[4] parameter(0)  s = ((), f32[4]) async-start(), calls=once  "
     "ROOT @d = f32[4] async-done(s)"},
    {"async-arguments",
     "x = f32[3] parameter(0)  s = ((), f32[4]) async-start(), calls=once  "
     "u = ((f32[3]), f32[4]) async-update(s, x)  ROOT @d = f32[4] async-done(u)"},
    {"execution-thread",
     "x = f32[4] parameter(0)  s = ((f32[4]), f32[4]) async-start(x), "
     "@async_execution_thread=\"other\", calls=side  ROOT d = f32[4] async-done(s)"},
    {"computation-parameters",
     "x = f32[3] parameter(0)  s = ((f32[3]), f32[4]) async-start(x), @calls=once  "
     "ROOT d = f32[4] async-done(s)"},
    {"result-shape",
     "x = f32[4] parameter(0)  @s = ((f32[4]), f32[3]) async-start(x), calls=once  "
     "ROOT d = f32[3] async-done(s)"},
    {"async-user-count",
     "t = token[] after-all()  @s = (f32[4], u32[], token[]) recv(t), channel_id=1  "
     "ROOT r = f32[] constant(0)"},
    {"async-user",
     "t = token[] after-all()  @s = (f32[4], u32[], token[]) recv(t), channel_id=1  "
     "ROOT r = f32[4] get-tuple-element(s), index=0"},
    {"transfer-channel",
     "t = token[] after-all()  s = (f32[4], u32[], token[]) recv(t), channel_id=1  "
     "ROOT r = (f32[4], token[]) recv-done(s), @channel_id=2"},
    {"async-start",
     "s = (f32[4], u32[], token[]) parameter(0)  ROOT @r = token[] send-done(s), channel_id=1"},
    {"operand-token",
     "x = f32[4] parameter(0)  @s = (f32[4], u32[], token[]) send(x, x)  "
     "ROOT r = token[] send-done(s)"},
};

constexpr RuleCase kModuleRules[] = {
    {"sharding-rank",
     "x = f32[4,2] parameter(0), @sharding={devices=[2]<=[2]}  ROOT r = f32[4,2] negate(x)"},
    {"sharding-rank",
     "x = (f32[], f32[4]) parameter(0), @sharding={{replicated}, {devices=[2,1,2]<=[4] "
     "last_tile_dim_replicate}}  ROOT r = f32[4] get-tuple-element(x), index=1"},
    {"sharding-count",
     "x = (f32[], f32[4]) parameter(0), @sharding={{replicated}}  "
     "ROOT r = f32[4] get-tuple-element(x), index=1"},
    {"constrain-layout",
     "x = f32[4] parameter(0)  a = f32[4] all-reduce(x), to_apply=add  "
     "ROOT b = f32[4] all-reduce(a), @constrain_layout=true, to_apply=add"},
};

INSTANTIATE_TEST_SUITE_P(Groups, DeviceRulesTest, testing::ValuesIn(kGroupRules), NameOf);
INSTANTIATE_TEST_SUITE_P(Shapes, DeviceRulesTest, testing::ValuesIn(kShapeRules), NameOf);
INSTANTIATE_TEST_SUITE_P(Pairs, DeviceRulesTest, testing::ValuesIn(kPairRules), NameOf);
INSTANTIATE_TEST_SUITE_P(Async, DeviceRulesTest, testing::ValuesIn(kAsyncRules), NameOf);
INSTANTIATE_TEST_SUITE_P(Module, DeviceRulesTest, testing::ValuesIn(kModuleRules), NameOf);

Status ValidateText(std::string text) {
  auto module = ParseModule("m.hlo", std::move(text));
  if (!module) return tl::make_unexpected(module.error());
  return Validate(*module);
}

TEST(EntryLayoutTest, MustFitTheEntry) {
  const std::string body = "\nENTRY main { x = f32[4] parameter(0)  ROOT r = s32[4] convert(x) }\n";
  EXPECT_TRUE(ValidateText("HloModule m, entry_computation_layout={(f32[4]{0})->s32[4]{0}}" + body));
  for (const char* layout : {"{(f32[4])->f32[4]}", "{(f32[5])->s32[4]}", "{()->s32[4]}"}) {
    const Status status =
        ValidateText("HloModule m, entry_computation_layout=" + std::string(layout) + body);
    ASSERT_FALSE(status) << layout;
    EXPECT_EQ(status.error().diagnostics[0].id, "entry-layout");
  }
}

TEST(ValidateTest, ReportsAtMostTwentyMistakes) {
  std::string text = "HloModule m\nENTRY main {\n  x = f32[4] parameter(0)\n";
  for (int i = 0; i < 30; ++i) text += "  y" + std::to_string(i) + " = f32[3] negate(x)\n";
  const Status status = ValidateText(text + "}\n");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().diagnostics.size(), static_cast<size_t>(kMaxDiagnostics));
}

TEST(ValidateTest, UpdatesMayBindLateOperands) {
  EXPECT_TRUE(ValidateText(
      "HloModule m\nonce { a = f32[4] parameter(0)  ROOT b = f32[4] negate(a) }\nENTRY main {\n"
      "  x = f32[4] parameter(0)\n  s = ((), f32[4]) async-start(), calls=once\n"
      "  u = ((f32[4]), f32[4]) async-update(s, x)\n  ROOT d = f32[4] async-done(u)\n}\n"));
}

TEST(ValidateTest, ShardingsThatFit) {
  EXPECT_TRUE(ValidateText(
      "HloModule m\nENTRY main {\n"
      "  x = (f32[4,2], (f32[2], s32[])) parameter(0), sharding={{devices=[2,1,2,2]<=[8] "
      "last_tile_dims={manual, replicated}}, {devices=[2,4]<=[8] last_tile_dim_replicate}, "
      "{maximal device=1}}\n"
      "  ROOT y = f32[4,2] get-tuple-element(x), index=0, sharding={manual}\n}\n"));
}

TEST(ValidateTest, FloatWidthsMayDifferInArithmetic) {
  EXPECT_TRUE(ValidateText("HloModule m\nENTRY main {\n  x = f32[4] parameter(0)\n"
                           "  y = bf16[4] parameter(1)\n  ROOT r = bf16[4] add(x, y)\n}\n"));
}

// A header without counts takes what the module implies.
TEST(DeduceCountsTest, FromGroupsPairsAndShapes) {
  const auto counts = [](std::string_view header, std::string_view instruction) {
    auto module = ParseModule("m.hlo", "HloModule m" + std::string(header) + "\n" +
                                           std::string(kCallees) +
                                           "ENTRY main {\n  x = f32[4] parameter(0)\n  ROOT r = " +
                                           std::string(instruction) + "\n}\n");
    EXPECT_TRUE(module) << FormatError(module.error());
    EXPECT_TRUE(Validate(*module));
    const DeviceCounts c = DeduceCounts(*module);
    return std::pair(c.replicas, c.partitions);
  };
  using Counts = std::pair<int64_t, int64_t>;
  EXPECT_EQ(counts("", "f32[4] all-reduce(x), replica_groups={{0,2},{1,3}}, to_apply=add"),
            Counts(4, 1));
  EXPECT_EQ(counts("", "f32[4] all-to-all(x), channel_id=1, replica_groups={{0,1}}, dimensions={0}"),
            Counts(1, 2));
  EXPECT_EQ(counts("", "f32[4] all-reduce(x), channel_id=1, replica_groups={{0,1,2}}, "
                       "use_global_device_ids=true, to_apply=add"),
            Counts(1, 3));
  EXPECT_EQ(counts("", "f32[4] collective-permute(x), source_target_pairs={{0,5}}"), Counts(6, 1));
  EXPECT_EQ(counts("", "f32[12] all-gather(x), dimensions={0}"), Counts(3, 1));
  EXPECT_EQ(counts("", "(f32[4], f32[4]) all-to-all(x, x)"), Counts(2, 1));
  EXPECT_EQ(counts("", "f32[4] negate(x)"), Counts(1, 1));
  EXPECT_EQ(counts(", num_partitions=2", "f32[4] negate(x)"), Counts(1, 2));
}

}  // namespace
}  // namespace hv
