// Movement of several instructions as one: which of them it takes in, and that its bits are those of
// one instruction at a time, on random chains.
#include "sim/view_plan.h"

#include <fmt/format.h>

#include <random>

#include "tests/unit/sim/sim_testing.h"

namespace hv {
namespace {

std::string Entry(const std::string& body) { return "HloModule m\nENTRY e {\n" + body + "\n}\n"; }

// Steps of ENTRY that run, as (composed movements, others).
std::pair<int, int> StepsOf(const std::string& text) {
  const Module module = ParseOrDie(text);
  const Result<ModulePlan> plan = MakePlan(module, {1, 1}, Fusion::kElementwise);
  int moves = 0, others = 0;
  for (const InstructionIndex i : plan->Entry().order) {
    ++(plan->Entry().At(i).kind == StepKind::kMove ? moves : others);
  }
  return {moves, others};
}

// Runs with an observer take one instruction at a time.
void ExpectSameBits(const std::string& text) {
  RunOptions observed;
  observed.observer = [](auto&&...) {};
  TestRun one_by_one(text, observed), composed(text);
  one_by_one.Run();
  composed.Run();
  ASSERT_FALSE(one_by_one.error.has_value()) << text;
  ASSERT_FALSE(composed.error.has_value()) << text;
  for (const auto& [device, value] : one_by_one.outcome.outputs) {
    EXPECT_TRUE(SameBits(value, composed.outcome.outputs.at(device))) << text;
  }
}

TEST(ViewPlan, AConcatenationOfSlicesCopiesOnce) {
  const std::string text = Entry(R"(
  x = f32[100,100] parameter(0)
  a = f32[50,100] slice(x), slice={[50:100],[0:100]}
  b = f32[50,100] slice(x), slice={[0:50],[0:100]}
  ROOT r = f32[100,100] concatenate(a, b), dimensions={0})");
  EXPECT_EQ(StepsOf(text), std::pair(1, 0));
  ExpectSameBits(text);
}

TEST(ViewPlan, ChainsAreOneStep) {
  const std::string text = Entry(R"(
  x = s32[6,4] parameter(0)  c = s32[] constant(7)
  t = s32[4,6] transpose(x), dimensions={1,0}  f = s32[4,6] reverse(t), dimensions={0}
  s = s32[2,6] slice(f), slice={[1:3],[0:6]}   ROOT p = s32[4,7] pad(s, c), padding=1_1x0_1)");
  EXPECT_EQ(StepsOf(text), std::pair(1, 0));
  ExpectSameBits(text);
}

TEST(ViewPlan, OneOperandTwiceIsReadTwice) {
  const std::string text = Entry(R"(
  x = f32[3,2] parameter(0)  t = f32[2,3] transpose(x), dimensions={1,0}
  ROOT r = f32[6,3] concatenate(t, t, t), dimensions={0})");
  EXPECT_EQ(StepsOf(text), std::pair(1, 0));
  ExpectSameBits(text);
}

TEST(ViewPlan, WhatOthersReadStandsForItself) {
  EXPECT_EQ(StepsOf(Entry(R"(
  x = f32[3,2] parameter(0)  t = f32[2,3] transpose(x), dimensions={1,0}
  r = f32[2,3] reverse(t), dimensions={0}
  ROOT u = (f32[2,3], f32[2,3]) tuple(t, r))")),
            std::pair(0, 3));
  // Pieces of a slice that starts within a row of a transposition.
  EXPECT_EQ(StepsOf(Entry(R"(
  x = f32[3,4] parameter(0)  t = f32[4,3] transpose(x), dimensions={1,0}
  f = f32[12] reshape(t)  ROOT r = f32[5] slice(f), slice={[1:6]})")),
            std::pair(1, 1));
  // A schedule may hang on it.
  EXPECT_EQ(StepsOf(Entry(R"(
  x = f32[3,2] parameter(0)  t = f32[2,3] transpose(x), dimensions={1,0}
  y = f32[3,2] negate(x), control-predecessors={t}
  r = f32[2,3] reverse(t), dimensions={0}
  ROOT u = (f32[2,3], f32[3,2]) tuple(r, y))")),
            std::pair(0, 4));
}

// A slice keeps little of a large array, which another step may be about to change in place.
TEST(ViewPlan, LargeArraysAreNotKeptForTheirSlices) {
  const std::string slices = R"(
  x = f32[100,100] parameter(0)
  a = f32[1,100] slice(x), slice={[50:51],[0:100]}
  b = f32[1,100] slice(x), slice={[0:1],[0:100]}
  r = f32[2,100] concatenate(a, b), dimensions={0})";
  EXPECT_EQ(StepsOf(Entry(slices + " ROOT u = (f32[2,100]) tuple(r)")), std::pair(0, 4));
  EXPECT_EQ(StepsOf(Entry(slices + R"(
  y = f32[100,100] sine(x)
  ROOT u = (f32[2,100], f32[100,100]) tuple(r, y))")),
            std::pair(1, 2));
  EXPECT_EQ(StepsOf(Entry(R"(
  x = f32[100,100] parameter(0)  t = f32[100,100] transpose(x), dimensions={1,0}
  y = f32[100,100] sine(x)       r = f32[100,100] reverse(t), dimensions={0}
  ROOT u = (f32[100,100], f32[100,100]) tuple(r, y))")),
            std::pair(0, 4));
}

// Random movement of s32[2,3,4], each step of one or two that came before.
class Chain {
 public:
  explicit Chain(uint32_t seed) : random_(seed) {}

  std::string Text() {
    std::string body = "  v0 = s32[2,3,4] parameter(0)\n  v1 = s32[2,3,4] parameter(1)\n";
    constexpr int kSteps = 9;
    for (int i = 2; i < kSteps; ++i) {
      body += fmt::format("  {}v{} = s32[2,3,4] {}\n", i == kSteps - 1 ? "ROOT " : "", i,
                          Step(i, &body));
    }
    return Entry(body);
  }

 private:
  int Below(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }

  // The last instruction; helpers go to `body`.
  std::string Step(int i, std::string* body) {
    const std::string x = fmt::format("v{}", i - 1 - Below(2)), y = fmt::format("v{}", Below(i));
    const auto helper = [&](const std::string& shape, const std::string& text) {
      *body += fmt::format("  h{} = s32[{}] {}\n", ++helpers_, shape, text);
      return fmt::format("h{}", helpers_);
    };
    switch (Below(5)) {
      case 0: {
        const std::string t =
            helper("4,2,3", fmt::format("transpose({}), dimensions={{2,0,1}}", x));
        return fmt::format("reshape({})", t);
      }
      case 1: {
        const std::string a =
            helper("2,1,4", fmt::format("slice({}), slice={{[0:2],[2:3],[0:4]}}", x));
        const std::string b =
            helper("2,2,4", fmt::format("slice({}), slice={{[0:2],[0:2],[0:4]}}", y));
        return fmt::format("concatenate({}, {}), dimensions={{1}}", a, b);
      }
      case 2:
        return fmt::format("reverse({}), dimensions={{0,2}}", x);
      case 3: {
        const std::string row =
            helper("1,1,4", fmt::format("slice({}), slice={{[1:2],[1:2],[0:4]}}", x));
        const std::string flat = helper("4", fmt::format("reshape({})", row));
        return fmt::format("broadcast({}), dimensions={{2}}", flat);
      }
      default:
        return fmt::format("add({}, {})", x, y);
    }
  }

  std::mt19937 random_;
  int helpers_ = 0;
};

TEST(ViewPlan, RandomChainsKeepTheirBits) {
  for (uint32_t seed = 0; seed < 200; ++seed) ExpectSameBits(Chain(seed).Text());
}

}  // namespace
}  // namespace hv
