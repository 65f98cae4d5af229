// Loops that a counter ends turn as often as their conditions say, and those run only where they must.
#include <fmt/format.h>

#include "sim/plan.h"
#include "tests/unit/sim/sim_testing.h"

namespace hv {
namespace {

// Adds up what the counter is; `goes_on` is the condition's root, given i and n.
std::string Loop(const std::string& type, int64_t start, int64_t end, int64_t step,
                 const std::string& goes_on) {
  return fmt::format(R"(HloModule m
more {{ s = ({0}[], {0}[]) parameter(0)  i = {0}[] get-tuple-element(s), index=0
  n = {0}[] constant({2})  {4} }}
body {{ s = ({0}[], {0}[]) parameter(0)  i = {0}[] get-tuple-element(s), index=0
  x = {0}[] get-tuple-element(s), index=1  k = {0}[] constant({3})
  j = {0}[] add(k, i)  y = {0}[] add(x, j)  ROOT t = ({0}[], {0}[]) tuple(j, y) }}
ENTRY e {{ z = {0}[] constant({1})  s = ({0}[], {0}[]) tuple(z, z)
  ROOT w = ({0}[], {0}[]) while(s), condition=more, body=body }})",
                     type, start, end, step, goes_on);
}

bool IsCounted(const std::string& text) {
  const Module module = ParseOrDie(text);
  return !MakePlan(module, {1, 1}, Fusion::kElementwise)->Entry().counters.empty();
}

// With an observer every condition runs.
void ExpectSame(const std::string& text, bool is_counted) {
  EXPECT_EQ(IsCounted(text), is_counted) << text;
  RunOptions observed;
  observed.observer = [](auto&&...) {};
  TestRun by_condition(text, observed), counted(text);
  EXPECT_EQ(counted.Run().Output(0), by_condition.Run().Output(0)) << text;
}

TEST(LoopTurns, AreCounted) {
  const std::string less = "ROOT r = pred[] compare(i, n), direction=LT";
  const std::string at_most = "ROOT r = pred[] compare(i, n), direction=LE";
  for (const std::string type : {"s32", "u16", "s64", "u64", "s8"}) {
    for (const std::string& goes_on : {less, at_most}) {
      for (const int64_t start : {0, 1, 7, 99, 100, 101, 120}) {
        for (const int64_t step : {1, 3, 10}) ExpectSame(Loop(type, start, 100, step, goes_on), true);
      }
    }
  }
  ExpectSame(Loop("s32", -50, -3, 7, less), true);
}

TEST(LoopTurns, OfOtherLoopsAreTheConditions) {
  const std::string less = "ROOT r = pred[] compare(i, n), direction=LT";
  ExpectSame(Loop("u8", 0, 250, 7, less), false);  // 252 wraps around
  ExpectSame(Loop("s32", 9, 5, 1, "ROOT r = pred[] compare(n, i), direction=EQ"), false);
  ExpectSame(Loop("s32", -5, 100, 1,
                  "u = u32[] bitcast-convert(i)  v = u32[] bitcast-convert(n)\n"
                  "  ROOT r = pred[] compare(u, v), direction=LT"),
             false);
  ExpectSame(Loop("s32", -5, 100, 1,
                  "u = u32[] bitcast(i)  v = u32[] constant(100)\n"
                  "  ROOT r = pred[] compare(u, v), direction=LT"),
             false);
}

// The inner loop starts anew, and at another place, in each turn of the outer one.
TEST(LoopTurns, StartWhereTheLoopDoes) {
  const std::string text = R"(HloModule m, replica_count=2
less { s = (s32[], s32[]) parameter(0)  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(9)  ROOT r = pred[] compare(i, n), direction=LT }
one { s = (s32[], s32[]) parameter(0)  i = s32[] get-tuple-element(s), index=0
  x = s32[] get-tuple-element(s), index=1  k = s32[] constant(1)
  j = s32[] add(i, k)  y = s32[] add(x, j)  ROOT t = (s32[], s32[]) tuple(j, y) }
all { s = (s32[], s32[]) parameter(0)  i = s32[] get-tuple-element(s), index=0
  x = s32[] get-tuple-element(s), index=1  k = s32[] constant(2)  j = s32[] add(i, k)
  b = (s32[], s32[]) tuple(j, x)  w = (s32[], s32[]) while(b), condition=less, body=one
  y = s32[] get-tuple-element(w), index=1  ROOT t = (s32[], s32[]) tuple(j, y) }
ENTRY e { p = u32[] replica-id()  z = s32[] convert(p)  s = (s32[], s32[]) tuple(z, z)
  ROOT w = (s32[], s32[]) while(s), condition=less, body=all })";
  RunOptions observed;
  observed.observer = [](auto&&...) {};
  TestRun by_condition(text, observed), counted(text);
  by_condition.Run();
  counted.Run();
  for (int64_t d = 0; d < 2; ++d) EXPECT_EQ(counted.Output(d), by_condition.Output(d));
}

TEST(LoopTurns, AreLimited) {
  RunOptions options;
  options.max_steps = 10;
  const std::string less = "ROOT r = pred[] compare(i, n), direction=LT";
  EXPECT_FALSE(TestRun(Loop("s32", 0, 10, 1, less), options).Run().error.has_value());
  EXPECT_TRUE(TestRun(Loop("s32", 0, 11, 1, less), options).Run().error.has_value());
}

}  // namespace
}  // namespace hv
