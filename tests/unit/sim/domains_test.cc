// The same runs over codes: collectives move and fold whatever elements are, control stays concrete.
#include <gmock/gmock.h>

#include "eval/code_domain.h"
#include "tests/unit/sim/sim_testing.h"

namespace hv {
namespace {

const std::string kSum = R"(
sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }
)";

// A module's outputs for inputs of one distinct code per device and element. The run keeps the shapes.
std::vector<Value> RunOnCodes(CodeDomain* domain, TestRun* given) {
  TestRun& run = *given;
  run.options.domain = domain;
  const auto input = [&](DeviceId device, int64_t parameter) -> Result<Value> {
    const Computation& entry = run.module.Entry();
    const Shape* shape = entry.At(entry.parameters[static_cast<size_t>(parameter)]).shape;
    return domain->EncodeLeaf(shape, [&](int64_t element, int component) {
      return static_cast<uint64_t>(1000003 * (device.value + 1) + 101 * element + component);
    });
  };
  const Result<RunOutcome> outcome = RunModule(run.module, run.mesh, input, run.options);
  std::vector<Value> outputs;
  if (!outcome) ADD_FAILURE() << FormatError(outcome.error());
  if (!outcome) return outputs;
  for (const auto& [device, value] : outcome->outputs) outputs.push_back(domain->Finish(value));
  return outputs;
}

const std::string kScatter = "HloModule a, replica_count=4\n" + kSum + R"(
ENTRY main { p = f32[8] parameter(0)
  ROOT r = f32[2] reduce-scatter(p), replica_groups={}, dimensions={0}, to_apply=sum })";

std::string ReduceAndSlice(int64_t width) {
  return "HloModule b, replica_count=4\n" + kSum + R"(
ENTRY main { p = f32[8] parameter(0)  r = f32[8] all-reduce(p), replica_groups={}, to_apply=sum
  id = u32[] replica-id()  n = u32[] constant()" + std::to_string(width) + R"()  at = u32[] multiply(id, n)
  ROOT s = f32[2] dynamic-slice(r, at), dynamic_slice_sizes={2} })";
}

TEST(Domains, ReduceScatterIsAllReduceAndSlice) {
  for (const auto& domain : {MakeFieldDomain(1), MakeWrapDomain(1), MakeMagnitudeDomain()}) {
    TestRun scatter(kScatter), slice(ReduceAndSlice(2));
    const std::vector<Value> scattered = RunOnCodes(domain.get(), &scatter);
    const std::vector<Value> sliced = RunOnCodes(domain.get(), &slice);
    ASSERT_EQ(scattered.size(), 4u);
    for (size_t d = 0; d < 4; ++d) EXPECT_TRUE(SameBits(scattered[d], sliced[d])) << domain->name();
  }
}

TEST(Domains, AWrongOffsetShows) {
  const auto domain = MakeFieldDomain(1);
  TestRun scatter(kScatter), slice(ReduceAndSlice(1));
  const std::vector<Value> scattered = RunOnCodes(domain.get(), &scatter);
  const std::vector<Value> sliced = RunOnCodes(domain.get(), &slice);
  EXPECT_TRUE(SameBits(scattered[0], sliced[0]));
  EXPECT_FALSE(SameBits(scattered[1], sliced[1]));
}

}  // namespace
}  // namespace hv
