// Dead-code elimination: what stays, how it is renumbered, and that control edges keep their meaning.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hlo/module.h"
#include "hlo/op.h"
#include "hlo/parser.h"
#include "hlo/printer.h"
#include "hlo/validator.h"

namespace hv {
namespace {

using testing::ElementsAre;

Module Parse(const std::string& text) {
  auto module = ParseModule("m.hlo", "HloModule m\n" + text);
  EXPECT_TRUE(module) << FormatError(module.error());
  return std::move(*module);
}

// The names left in ENTRY.
std::vector<std::string> Left(const Module& module) {
  std::vector<std::string> names;
  for (const Instruction& i : module.Entry().instructions) names.emplace_back(i.name);
  return names;
}

Module Eliminate(const std::string& text) {
  Module module = Parse(text);
  EliminateDeadCode(&module);
  const Status valid = Validate(module);
  EXPECT_TRUE(valid) << FormatError(valid.error());
  auto again = ParseModule("printed", PrintModule(module));
  EXPECT_TRUE(again) << FormatError(again.error());
  return module;
}

TEST(DceTest, DropsWhatNothingNeeds) {
  const Module module = Eliminate(R"(ENTRY e {
    unused = s32[] parameter(1)
    x = f32[4] parameter(0)
    dead = f32[4] negate(x)
    deader = f32[4] negate(dead)
    c = f32[4] constant({1,2,3,4})
    ROOT r = f32[4] add(x, c)
    tail = f32[4] negate(r)
  })");
  EXPECT_THAT(Left(module), ElementsAre("unused", "x", "c", "r"));
  EXPECT_THAT(module.Entry().parameters, ElementsAre(1, 0));
  EXPECT_EQ(module.Entry().root, 3);
  EXPECT_THAT(module.Entry().Root().operands, ElementsAre(1, 2));
}

TEST(DceTest, DropsComputationsThatNothingCalls) {
  const Module module = Eliminate(R"(
    orphan { ROOT a = f32[4] parameter(0) }
    inner { ROOT a = f32[4] parameter(0) }
    only_dead { a = f32[4] parameter(0)  ROOT b = f32[4] call(a), to_apply=inner }
    used { a = f32[4] parameter(0)  d = f32[4] negate(a)  ROOT b = f32[4] abs(a) }
    ENTRY e {
      i = s32[] parameter(0)
      x = f32[4] parameter(1)
      dead = f32[4] call(x), to_apply=only_dead
      y = f32[4] call(x), to_apply=used
      ROOT r = f32[4] conditional(i, x, y), branch_computations={used, inner}
    })");
  ASSERT_EQ(module.computations.size(), 3u);
  EXPECT_EQ(module.computations[0].name, "inner");
  EXPECT_EQ(module.computations[1].name, "used");
  EXPECT_EQ(module.computations[1].instructions.size(), 2u);
  EXPECT_EQ(module.entry, 2);
  EXPECT_THAT(CalledComputations(module.Entry().Root()), ElementsAre(1, 0));
  EXPECT_THAT(CalledComputations(module.Entry().At(2)), ElementsAre(1));
}

TEST(DceTest, KeepsSideEffectsAlsoInCallees) {
  const Module module = Eliminate(R"(
    talks { a = f32[4] parameter(0)  t = token[] after-all()
            ROOT o = token[] outfeed(a, t), outfeed_shape=f32[4] }
    ENTRY e {
      x = f32[4] parameter(0)
      y = f32[4] negate(x)
      call = token[] call(y), to_apply=talks
      check = f32[4] custom-call(x), custom_call_target="check", custom_call_has_side_effect=true
      pure = f32[4] custom-call(x), custom_call_target="f"
      ROOT r = f32[4] abs(x)
    })");
  EXPECT_THAT(Left(module), ElementsAre("x", "y", "call", "check", "r"));
}

TEST(DceTest, ControlEdgesPassThroughWhatGoes) {
  const Module module = Eliminate(R"(ENTRY e {
    x = f32[4] parameter(0)
    first = f32[4] negate(x)
    second = f32[4] abs(x)
    dead = f32[4] negate(first), control-predecessors={second}
    deader = f32[4] abs(dead)
    third = f32[4] floor(x), control-predecessors={deader, x}
    sum = f32[4] add(first, second)
    ROOT r = f32[4] add(sum, third)
  })");
  EXPECT_THAT(Left(module), ElementsAre("x", "first", "second", "third", "sum", "r"));
  EXPECT_THAT(module.Entry().At(3).ControlPredecessors(), testing::UnorderedElementsAre(0, 1, 2));
}

TEST(DceTest, EdgesOnlyToWhatIsGoneVanish) {
  const Module module = Eliminate(R"(ENTRY e {
    x = f32[4] parameter(0)
    dead = f32[4] negate(x)
    ROOT r = f32[4] abs(x), control-predecessors={dead}
  })");
  EXPECT_THAT(Left(module), ElementsAre("x", "r"));
  EXPECT_FALSE(module.Entry().Root().Has(Attr::kControlPredecessors));
}

TEST(DceTest, CleanModulesStayAsTheyAre) {
  const std::string text = R"(add { a = f32[] parameter(0)  b = f32[] parameter(1)
                                    ROOT r = f32[] add(a, b) }
    ENTRY e { x = f32[4] parameter(0)  ROOT r = f32[4] all-reduce(x), to_apply=add })";
  const Module before = Parse(text), after = Eliminate(text);
  std::string why;
  EXPECT_TRUE(SameModule(before, after, &why)) << why;
}

// Reducers.
Reducer Recognize(const std::string& body) {
  const Module module = Parse(body + "\nENTRY e { ROOT x = f32[] parameter(0) }");
  return RecognizeReducer(module, 0);
}

TEST(ReducerTest, RecognisesFolds) {
  const std::string pair = "c { a = f32[] parameter(0)  b = f32[] parameter(1)  ";
  EXPECT_EQ(Recognize(pair + "ROOT r = f32[] add(a, b) }").fn, ScalarFn::kAdd);
  EXPECT_EQ(Recognize(pair + "ROOT r = f32[] maximum(b, a) }").fn, ScalarFn::kMaximum);
  EXPECT_EQ(Recognize(pair + "ROOT r = f32[] add(a, b) }").element, ElementType::kF32);
}

TEST(ReducerTest, SeesThroughWideningConverts) {
  const Reducer reducer = Recognize(
      "c { a = bf16[] parameter(0)  b = bf16[] parameter(1)  x = f32[] convert(a)  "
      "y = f32[] convert(b)  s = f32[] add(y, x)  ROOT r = bf16[] convert(s) }");
  EXPECT_EQ(reducer.fn, ScalarFn::kAdd);
  EXPECT_EQ(reducer.element, ElementType::kF32);
}

TEST(ReducerTest, LeavesOthersAlone) {
  const std::string pair = "c { a = f32[] parameter(0)  b = f32[] parameter(1)  ";
  EXPECT_EQ(Recognize(pair + "ROOT r = f32[] subtract(a, b) }").fn, ScalarFn::kNone);
  EXPECT_EQ(Recognize(pair + "ROOT r = f32[] add(a, a) }").fn, ScalarFn::kNone);
  EXPECT_EQ(Recognize(pair + "m = f32[] multiply(a, b)  ROOT r = f32[] add(m, b) }").fn,
            ScalarFn::kNone);
  // Narrowing converts change the sum.
  EXPECT_EQ(Recognize(pair + "x = bf16[] convert(a)  y = bf16[] convert(b)  "
                             "s = bf16[] add(x, y)  ROOT r = f32[] convert(s) }").fn,
            ScalarFn::kNone);
  // bf16 values do not all fit f16.
  EXPECT_EQ(Recognize("c { a = bf16[] parameter(0)  b = bf16[] parameter(1)  x = f16[] convert(a)  "
                      "y = f16[] convert(b)  s = f16[] add(x, y)  ROOT r = bf16[] convert(s) }").fn,
            ScalarFn::kNone);
  // A fold returns what it takes.
  EXPECT_EQ(Recognize("c { a = bf16[] parameter(0)  b = bf16[] parameter(1)  x = f32[] convert(a)  "
                      "y = f32[] convert(b)  ROOT s = f32[] add(x, y) }").fn,
            ScalarFn::kNone);
}

}  // namespace
}  // namespace hv
