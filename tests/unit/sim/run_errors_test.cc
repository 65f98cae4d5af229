// What a run refuses, by diagnostic id, and where it says so.
#include <gmock/gmock.h>

#include "eval/code_domain.h"
#include "tests/unit/sim/sim_testing.h"

namespace hv {
namespace {

std::string IdOf(TestRun* run) {
  run->Run();
  return run->error ? run->error->diagnostics[0].id : "no error";
}

std::string IdOf(const std::string& text) {
  TestRun run(text, {}, false);
  return IdOf(&run);
}

TEST(RunErrors, MessagesThatNeedSomethingElse) {
  EXPECT_EQ(IdOf(R"(HloModule m
ENTRY main { p = f32[] parameter(0)  tok = token[] after-all()
  sd = (f32[], u32[], token[]) send(p, tok), channel_id=1, is_host_transfer=true
  ROOT fin = token[] send-done(sd), channel_id=1, is_host_transfer=true })"), "host-transfer");
  EXPECT_EQ(IdOf(R"(HloModule m
ENTRY main { p = f32[] parameter(0)  tok = token[] after-all()
  sd = (f32[], u32[], token[]) send(p, tok), channel_id=1
  ROOT fin = token[] send-done(sd), channel_id=1 })"), "message-without-pairs");
}

TEST(RunErrors, InPlacePermute) {
  EXPECT_EQ(IdOf(R"(HloModule m, replica_count=2
ENTRY main { p = f32[4] parameter(0)  q = f32[4] parameter(1)  z = s32[] constant(0)
  a = (s32[]) tuple(z)  b = (s32[]) tuple(z)
  ROOT c = f32[4] collective-permute(p, q, a, b), source_target_pairs={{0,1}}, slice_sizes={{2}} })"),
            "in-place-permute");
}

TEST(RunErrors, DeviceInNoGroup) {
  EXPECT_EQ(IdOf(R"(HloModule m, replica_count=3
sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }
ENTRY main { p = f32[] parameter(0)
  ROOT r = f32[] all-reduce(p), replica_groups={{0,1}}, to_apply=sum })"), "device-in-no-group");
}

TEST(RunErrors, DoneOfSomethingElse) {
  EXPECT_EQ(IdOf(R"(HloModule m
ENTRY main { p = (f32[], u32[], token[]) parameter(0)
  rd = (f32[], token[]) recv-done(p), channel_id=1
  ROOT r = f32[] get-tuple-element(rd), index=0 })"), "done-without-start");
}

TEST(RunErrors, RanksWithDifferentModules) {
  class Disagreeing : public Transport {
   public:
    Rank rank() const override { return Rank(0); }
    int64_t size() const override { return 1; }
    std::vector<std::string> AllGather(const std::string& mine) override { return {mine}; }
    bool AllEqual(uint64_t) override { return false; }
    std::unique_ptr<Flight> Start(std::span<const OutgoingMessage>,
                                  std::span<const IncomingMessage>) override {
      return nullptr;
    }
    void Barrier() override {}
  };
  TestRun run("HloModule m\nENTRY main { ROOT p = f32[] parameter(0) }");
  Disagreeing transport;
  run.options.transport = &transport;
  EXPECT_EQ(IdOf(&run), "ranks-differ");
}

// Each of 70 computations calls the one before twice: 2^70 copies of one all-reduce.
TEST(RunErrors, TooManyCallSites) {
  std::string text = R"(HloModule m, replica_count=2
sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = f32[] add(a, b) }
calls0 { x = f32[] parameter(0)  ROOT r = f32[] all-reduce(x), replica_groups={}, to_apply=sum }
)";
  for (int i = 1; i <= 70; ++i) {
    const std::string callee = "calls" + std::to_string(i - 1);
    text += (i == 70 ? "ENTRY calls70" : "calls" + std::to_string(i)) +
            " { x = f32[] parameter(0)  y = f32[] call(x), to_apply=" + callee +
            "  ROOT z = f32[] call(y), to_apply=" + callee + " }\n";
  }
  EXPECT_EQ(IdOf(text), "too-many-call-sites");
}

// A loop bound that depends on data has no concrete value where data are codes.
TEST(RunErrors, ControlThatIsData) {
  TestRun run(R"(HloModule m
more { st = (s32[]) parameter(0)  i = s32[] get-tuple-element(st), index=0
  n = s32[] constant(3)  ROOT go = pred[] compare(i, n), direction=LT }
step { ROOT st = (s32[]) parameter(0) }
ENTRY main { p = s32[] parameter(0)  st = (s32[]) tuple(p)
  ROOT w = (s32[]) while(st), condition=more, body=step })");
  const std::unique_ptr<CodeDomain> codes = MakeWrapDomain(1);
  run.options.domain = codes.get();
  const auto input = [&](DeviceId, int64_t) -> Result<Value> {
    Value value = Value::NewCode(run.module.Entry().At(0).shape, codes->code_bytes());
    std::fill(value.MutableBytes().begin(), value.MutableBytes().end(), std::byte{1});
    return value;
  };
  const Result<RunOutcome> outcome = RunModule(run.module, run.mesh, input, run.options);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().kind, ErrorKind::kUnsupported) << outcome.error().Message();
}

}  // namespace
}  // namespace hv
