// Failures on smaller meshes: what becomes of a module on a part of its mesh, that closed parts
// compute what they did, and the smallest mesh of every case that fails (docs/smaller_meshes.md).
#include "verify/minimize_topology.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>

#include "eval/domain.h"
#include "hlo/parser.h"
#include "hlo/printer.h"
#include "hlo/validator.h"
#include "tests/unit/generated_table.h"
#include "tests/unit/verify/verdict_of.h"
#include "verify/native_input.h"
#include "verify/pair.h"
#include "verify/restrict_module.h"

namespace hv {
namespace {

using ::testing::HasSubstr;

// The module on a part of its mesh, as text; or why not.
std::string OnPart(const std::string& header, const std::string& entry, const SubMesh& part,
                   LostSource lost = LostSource::kRefuse) {
  const auto module = ParseModule("m.hlo", ModuleOf(header, entry));
  EXPECT_TRUE(module) << FormatError(module.error());
  const Module* modules[] = {&*module};
  std::string why;
  const auto restricted =
      RestrictModules(modules, {module->replicas(), module->partitions()}, part, lost, &why);
  if (!restricted) return why;
  const std::string text = PrintModule(restricted->front());
  const auto again = ParseModule("part.hlo", text);
  EXPECT_TRUE(again) << text;
  const Status valid = Validate(*again, {part.mesh().replicas, part.mesh().partitions});
  EXPECT_TRUE(valid) << FormatError(valid.error()) << text;
  return text;
}

TEST(RestrictModules, WhatAGroupMakesShrinksWithIt) {
  const std::string text = OnPart("num_partitions=4", R"(
      x = f32[2,3] parameter(0)
      g = f32[8,3] all-gather(x), channel_id=1, replica_groups={{0,1,2,3}}, dimensions={0}, use_global_device_ids=true
      t = f32[3,8] transpose(g), dimensions={1,0}
      z = f32[] constant(2)
      b = f32[3,8] broadcast(z), dimensions={}
      m = f32[3,8] multiply(t, b)
      r = f32[3] reduce(m, z), dimensions={1}, to_apply=sum
      f = f32[24] reshape(g)
      s = f32[6] reduce-scatter(f), channel_id=2, replica_groups={{0,1,2,3}}, dimensions={0}, use_global_device_ids=true, to_apply=sum
      ROOT o = (f32[3], f32[6]) tuple(r, s))",
                                  {{0}, {0, 1, 2}});
  EXPECT_THAT(text, HasSubstr("num_partitions=3"));
  EXPECT_THAT(text, HasSubstr("%g = f32[6,3] all-gather(%x), channel_id=1, "
                              "replica_groups={{0,1,2}}"));
  EXPECT_THAT(text, HasSubstr("%m = f32[3,6] multiply"));
  EXPECT_THAT(text, HasSubstr("%f = f32[18] reshape"));
  EXPECT_THAT(text, HasSubstr("%s = f32[6] reduce-scatter"));
}

TEST(RestrictModules, TheShardOfADeviceStays) {
  const std::string text = OnPart("num_partitions=4", R"(
      x = f32[8,4] parameter(0)
      a = f32[8,4] all-reduce(x), channel_id=1, replica_groups={{0,1,2,3}}, use_global_device_ids=true, to_apply=sum
      p = u32[] partition-id()
      two = u32[] constant(2)
      o = u32[] multiply(p, two)
      z = u32[] constant(0)
      d = f32[2,4] dynamic-slice(a, o, z), dynamic_slice_sizes={2,4}
      ROOT t = f32[2,4] all-to-all(d), channel_id=2, replica_groups={{0,1,2,3}}, dimensions={1})",
                                  {{0}, {0, 1}});
  EXPECT_THAT(text, HasSubstr("%x = f32[4,2] parameter(0)"));
  EXPECT_THAT(text, HasSubstr("dynamic_slice_sizes={2,2}"));
}

TEST(RestrictModules, DevicesKeepTheirNumbers) {
  const std::string text = OnPart("replica_count=2, num_partitions=4", R"(
      p = u32[] partition-id()
      r = u32[] replica-id()
      ROOT s = u32[] add(p, r))",
                                  {{1}, {1, 3}});
  EXPECT_THAT(text, HasSubstr("%p.there = u32[2] constant({1, 3})"));
  EXPECT_THAT(text, HasSubstr("%r.there = u32[1] constant({1})"));
  EXPECT_THAT(text, HasSubstr("%s = u32[] add(%p, %r)"));
}

TEST(RestrictModules, PairsAreKeptOrReroutedOrRefused) {
  const char kRing[] = R"(
      x = f32[] parameter(0)
      ROOT p = f32[] collective-permute(x), channel_id=1, source_target_pairs={{0,1},{1,2},{2,3},{3,0}})";
  EXPECT_EQ(OnPart("num_partitions=4", kRing, {{0}, {0, 1}}), "a pair of p would lose its source");
  EXPECT_THAT(OnPart("num_partitions=4", kRing, {{0}, {0, 1}}, LostSource::kReroute),
              HasSubstr("source_target_pairs={{0,1},{1,0}}"));
}

TEST(RestrictModules, SaysWhatCannotShrink) {
  EXPECT_EQ(OnPart("num_partitions=3", R"(
      x = f32[1] parameter(0)
      g = f32[3] all-gather(x), channel_id=1, replica_groups={{0,1,2}}, dimensions={0}, use_global_device_ids=true
      c = f32[3] constant({1, 2, 3})
      ROOT s = f32[3] add(g, c))",
                   {{0}, {0, 1}}),
            "dimension 0 of x would become 1 x 3/2");
  EXPECT_THAT(OnPart("num_partitions=2", R"(
      x = f32[3] parameter(0)
      y = f32[3] parameter(1)
      ROOT t = (f32[3], f32[3]) all-to-all(x, y), channel_id=1, replica_groups={{0,1}})",
                     {{0}, {0}}),
              HasSubstr("t has one operand or entry for each member"));
  EXPECT_THAT(OnPart("num_partitions=2", R"(
      x = f32[3] parameter(0)
      g = f32[6] all-gather(x), channel_id=1, replica_groups={{0,1}}, dimensions={0}, use_global_device_ids=true
      s = f32[3] slice(g), slice={[3:6]}
      c = f32[3] constant({1, 2, 3})
      h = f32[3] add(x, c)
      ROOT r = f32[3] add(s, h))",
                     {{0}, {0}}),
              HasSubstr("would have to shrink and to stay"));
}

// Outputs of a run of the module, by device, on inputs drawn for the devices of the whole mesh.
std::optional<Outputs> RunOn(const Module& module, const Mesh& mesh, const InputFn& inputs) {
  const std::unique_ptr<Transport> transport = MakeLocalTransport();
  const std::unique_ptr<Domain> domain = MakeNativeDomain();
  RunOptions options;
  options.domain = domain.get();
  options.transport = transport.get();
  options.max_steps = 1000;
  auto outcome = RunModule(module, mesh, inputs, options);
  if (!outcome || outcome->stall) return std::nullopt;
  return std::move(outcome->outputs);
}

// Every closed part of the module's mesh computes what it does in the whole. Counts those compared.
int CompareClosedParts(const Module& module, const std::string& file) {
  const DeviceCounts counts = DeduceCounts(module);
  const Mesh mesh{counts.replicas, counts.partitions};
  const InputSpace space(module, mesh);
  const NativeInput input;
  const InputPlan plan;
  const std::vector<std::optional<InputRange>> ranges(space.slots().size());
  const InputFn inputs = MakeInputs(module, space, FillNative(input, space, ranges, plan));
  const auto whole = RunOn(module, mesh, inputs);
  if (!whole) return 0;
  int compared = 0;
  const Module* modules[] = {&module};
  for (const SmallerMesh& smaller : SmallerMeshes(modules, mesh, DeviceId(0))) {
    if (!smaller.closed) continue;
    std::string why;
    const auto restricted = RestrictModules(modules, mesh, smaller.part, LostSource::kRefuse, &why);
    EXPECT_TRUE(restricted || why.ends_with("is left")) << file << ": " << why;
    if (!restricted) continue;
    const auto parsed = ParseModule(file, PrintModule(restricted->front()));
    if (!parsed) ADD_FAILURE() << file << FormatError(parsed.error());
    const std::vector<DeviceId> originals = smaller.part.DevicesIn(mesh);
    const auto original = [&](DeviceId d) { return originals[static_cast<size_t>(d.value)]; };
    const auto part = RunOn(*parsed, smaller.part.mesh(), [&](DeviceId device, int64_t p) {
      return inputs(original(device), p);
    });
    EXPECT_TRUE(part) << file;
    if (!part) continue;
    Outputs expected;
    for (const auto& [device, value] : *part) expected[device] = whole->at(original(device));
    EXPECT_FALSE(FirstNativeDifference(expected, *part)) << file;
    ++compared;
  }
  return compared;
}

TEST(RestrictModules, ClosedPartsComputeWhatTheyDidInTheWhole) {
  int compared = 0;
  for (const char* folder : {"/cases/bugs", "/cases/conformance", "/real"}) {
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(HV_TEST_DATA + std::string(folder))) {
      if (entry.path().extension() != ".hlo") continue;
      const auto module = ParseModuleFile(entry.path().string());
      if (!module || !Validate(*module) || module->context->text.size() > 100000) continue;
      compared += CompareClosedParts(*module, entry.path().string());
    }
  }
  EXPECT_GT(compared, 300);
}

// The sum over all devices is taken for eight, which is right on eight devices alone: on fewer that
// is a difference of its own. What is wrong is what device 5 adds, whatever the sum.
TEST(MinimizeTopology, AnotherFailureIsNotTaken) {
  const std::string sum =
      "sum { a = s32[] parameter(0) b = s32[] parameter(1) ROOT r = s32[] add(a, b) }\n";
  const std::string head = R"(
      x = s32[] parameter(0)
      one = s32[] constant(1)
      p = u32[] partition-id()
      five = u32[] constant(5)
      here = pred[] compare(p, five), direction=EQ
      zero = s32[] constant(0)
      three = s32[] constant(3)
      more = s32[] select(here, three, zero))";
  Scenario s = PairOf(ModuleOf("num_partitions=8", head + R"(
      n = s32[] all-reduce(one), channel_id=1, replica_groups={{0,1,2,3,4,5,6,7}}, use_global_device_ids=true, to_apply=sum
      y = s32[] multiply(x, n)
      ROOT r = s32[] add(y, more))",
                               sum),
                      ModuleOf("num_partitions=8", head + R"(
      eight = s32[] constant(8)
      y = s32[] multiply(x, eight)
      twice = s32[] add(more, more)
      ROOT r = s32[] add(y, twice))",
                               sum));
  s.minimize_topology = true;
  const CaseReport c = VerdictOf(s);
  EXPECT_EQ(c.verdict, Verdict::kRefuted);
  ASSERT_TRUE(c.smaller);
  EXPECT_THAT(c.smaller->devices, ::testing::Contains("0,5"));
  EXPECT_FALSE(c.smaller->closed);
}

// What fails on the smaller mesh is reported as such a pair: it can be verified as it stands.
TEST(MinimizeTopology, TheSmallerModulesFailByThemselves) {
  for (Scenario& scenario : LoadScenarios(HV_TEST_DATA "/cases/bugs")) {
    if (scenario.expect != Expectation::kNotEquivalent) continue;
    scenario.minimize_topology = true;
    const CaseReport c = VerdictOf(scenario);
    if (!c.smaller) continue;
    EXPECT_LT(c.smaller->replicas * c.smaller->partitions, c.replicas * c.partitions) << c.name;
    Scenario alone = PairOf(c.smaller->before_hlo, c.smaller->after_hlo);
    alone.replicas = c.smaller->replicas;
    alone.partitions = c.smaller->partitions;
    EXPECT_EQ(VerdictOf(alone).verdict, c.verdict) << c.name;
  }
}

std::string MeshText(int64_t replicas, int64_t partitions) {
  return fmt::format("{} x {}", replicas, partitions);
}

TEST(MinimizeTopology, ThePageListsTheSmallestMeshOfEveryFailure) {
  std::vector<Scenario> scenarios;
  for (const char* path :
       {HV_TEST_DATA "/cases/bugs", HV_SOURCE_DIR "/scenarios", HV_TEST_DATA "/real/pairs"}) {
    for (Scenario& scenario : LoadScenarios(path)) {
      const bool fails = scenario.expect == Expectation::kNotEquivalent ||
                         scenario.expect == Expectation::kDeadlock;
      if (!fails) continue;
      scenario.minimize_topology = true;
      scenarios.push_back(std::move(scenario));
    }
  }
  const std::unique_ptr<Transport> transport = MakeLocalTransport();
  std::string table = "| failure | R x P | smallest | devices |\n| --- | --- | --- | --- |\n";
  for (const CaseReport& c : Verify(scenarios, {}, transport.get()).cases) {
    if (c.verdict != Verdict::kRefuted && c.verdict != Verdict::kDeadlock) continue;
    const std::filesystem::path file = c.file;
    std::string row =
        fmt::format("| {} | {} | ", file.extension() == ".json" ? file.stem().string() : c.name,
                    MeshText(c.replicas, c.partitions));
    if (c.smaller) {
      row +=
          fmt::format("{} | {}{} |\n", MeshText(c.smaller->replicas, c.smaller->partitions),
                      fmt::join(c.smaller->devices, " "), c.smaller->closed ? ", as they are" : "");
    } else {
      row += "| |\n";
    }
    table += row;
  }
  ExpectTableInPage("smaller_meshes.md", table);
}

}  // namespace
}  // namespace hv
