// Ops that apply a computation to elements are judged as the arithmetic they spell out: windows as
// reductions, maps as elementwise functions, convolutions as dots. Right pairs are PROVED or TESTED,
// wrong ones REFUTED, and rounding is neither.
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/verify/verdict_of.h"

namespace hv {
namespace {

// `body` over elements of `type` in place of T.
std::string Typed(std::string text, const std::string& type) {
  for (size_t at = 0; (at = text.find("T[", at)) != std::string::npos; ++at) {
    text.replace(at, 1, type);
  }
  return text;
}

constexpr char kFunctions[] =
    "add { a = T[] parameter(0)\n b = T[] parameter(1)\n ROOT r = T[] add(a, b) }\n"
    "max { a = T[] parameter(0)\n b = T[] parameter(1)\n ROOT r = T[] maximum(a, b) }\n"
    "min { a = T[] parameter(0)\n b = T[] parameter(1)\n ROOT r = T[] minimum(a, b) }\n"
    "larger { a = T[] parameter(0)\n b = T[] parameter(1)\n"
    " ROOT r = pred[] compare(a, b), direction=GE }\n"
    "either { a = T[] parameter(0)\n i = s32[] parameter(1)\n b = T[] parameter(2)\n"
    " j = s32[] parameter(3)\n p = pred[] compare(a, b), direction=GE\n"
    " v = T[] select(p, a, b)\n w = s32[] select(p, i, j)\n ROOT r = (T[], s32[]) tuple(v, w) }\n";

CaseReport Judge(const std::string& type, const std::string& before, const std::string& after) {
  const auto module = [&](const std::string& body) {
    return Typed("HloModule m\n" + std::string(kFunctions) +
                     "ENTRY e {\n z = T[] constant(0)\n x = T[12] parameter(0)\n" + body + "}\n",
                 type);
  };
  return VerdictOf(PairOf(module(before), module(after)));
}

struct Case {
  std::string before, right, wrong;
  Verdict of_right = Verdict::kProved;
};

// The part of the window that slides over x.
std::string Slid(const std::string& operand, int64_t start) {
  const std::string from = std::to_string(start), to = std::to_string(start + 12);
  return " t" + from + " = T[12] slice(" + operand + "), slice={[" + from + ":" + to + "]}\n";
}

const Case kCases[] = {
    // The whole dimension.
    {"ROOT r = T[1] reduce-window(x, z), window={size=12}, to_apply=add\n",
     "s = T[] reduce(x, z), dimensions={0}, to_apply=add\n ROOT r = T[1] reshape(s)\n",
     "y = T[11] slice(x), slice={[0:11]}\n s = T[] reduce(y, z), dimensions={0}, to_apply=add\n"
     "ROOT r = T[1] reshape(s)\n"},
    // Rows of a matrix.
    {"ROOT r = T[4] reduce-window(x, z), window={size=3 stride=3}, to_apply=add\n",
     "y = T[4,3] reshape(x)\n ROOT r = T[4] reduce(y, z), dimensions={1}, to_apply=add\n",
     "y = T[3,4] reshape(x)\n ROOT r = T[4] reduce(y, z), dimensions={0}, to_apply=add\n"},
    // Overlapping windows beyond both ends, against slices of the padded array.
    {"ROOT r = T[12] reduce-window(x, z), window={size=3 pad=1_1}, to_apply=add\n",
     "p = T[14] pad(x, z), padding=1_1\n" + Slid("p", 0) + Slid("p", 1) + Slid("p", 2) +
         "a = T[12] add(t0, t1)\n ROOT r = T[12] add(a, t2)\n",
     "p = T[14] pad(x, z), padding=2_0\n" + Slid("p", 0) + Slid("p", 1) + Slid("p", 2) +
         "a = T[12] add(t0, t1)\n ROOT r = T[12] add(a, t2)\n"},
    // Running sums, of the reversed array too.
    {"ROOT r = T[12] reduce-window(x, z), window={size=12 pad=11_0}, to_apply=add\n",
     "y = T[12] reverse(x), dimensions={0}\n"
     "s = T[12] reduce-window(y, z), window={size=12 pad=0_11}, to_apply=add\n"
     "ROOT r = T[12] reverse(s), dimensions={0}\n",
     "ROOT r = T[12] reduce-window(x, z), window={size=11 pad=10_0}, to_apply=add\n"},
    // The greatest; zero is no neutral element.
    {"ROOT r = T[6] reduce-window(x, z), window={size=2 stride=2}, to_apply=max\n",
     "y = T[6,2] reshape(x)\n ROOT r = T[6] reduce(y, z), dimensions={1}, to_apply=max\n",
     "y = T[6,2] reshape(x)\n ROOT r = T[6] reduce(y, z), dimensions={1}, to_apply=min\n"},
    // The parts of a window lie differently in each: equal element by element.
    {"ROOT r = T[5] reduce-window(x, z), window={size=3 stride=3 pad=1_2}, to_apply=max\n",
     "p = T[15] pad(x, z), padding=1_2\n a = T[5] slice(p), slice={[2:15:3]}\n"
     "b = T[5] slice(p), slice={[0:13:3]}\n c = T[5] slice(p), slice={[1:14:3]}\n"
     "l = T[5] broadcast(z), dimensions={}\n m = T[5] maximum(l, a)\n n = T[5] maximum(m, b)\n"
     "ROOT r = T[5] maximum(n, c)\n",
     "p = T[15] pad(x, z), padding=1_2\n a = T[5] slice(p), slice={[2:15:3]}\n"
     "b = T[5] slice(p), slice={[0:13:3]}\n l = T[5] broadcast(z), dimensions={}\n"
     "m = T[5] maximum(l, a)\n ROOT r = T[5] maximum(m, b)\n"},
    // The greatest of overlapping greatest ones.
    {"ROOT r = T[10] reduce-window(x, z), window={size=3}, to_apply=max\n",
     "y = T[11] reduce-window(x, z), window={size=2}, to_apply=max\n"
     "ROOT r = T[10] reduce-window(y, z), window={size=2}, to_apply=max\n",
     "y = T[11] reduce-window(x, z), window={size=2}, to_apply=max\n"
     "ROOT r = T[10] slice(y), slice={[0:10]}\n"},
    // Scattered sums.
    {"i = s32[12,1] iota(), iota_dimension=0\n k = s32[] constant(2)\n"
     "ks = s32[12,1] broadcast(k), dimensions={}\n j = s32[12,1] divide(i, ks)\n"
     "zs = T[6] broadcast(z), dimensions={}\n ROOT r = T[6] scatter(zs, j, x), "
     "update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, "
     "index_vector_dim=1, to_apply=add\n",
     "y = T[6,2] reshape(x)\n ROOT r = T[6] reduce(y, z), dimensions={1}, to_apply=add\n",
     "y = T[2,6] reshape(x)\n ROOT r = T[6] reduce(y, z), dimensions={0}, to_apply=add\n"},
    // A pair of operands: the greatest and where it is.
    {"i = s32[12] iota(), iota_dimension=0\n k = s32[] constant(0)\n"
     "ROOT r = (T[], s32[]) reduce(x, i, z, k), dimensions={0}, to_apply=either\n",
     "i = s32[12] iota(), iota_dimension=0\n k = s32[] constant(0)\n"
     "w = (T[1], s32[1]) reduce-window(x, i, z, k), window={size=12}, to_apply=either\n"
     "v = T[1] get-tuple-element(w), index=0\n a = T[] reshape(v)\n"
     "u = s32[1] get-tuple-element(w), index=1\n b = s32[] reshape(u)\n"
     "ROOT r = (T[], s32[]) tuple(a, b)\n",
     "i = s32[12] iota(), iota_dimension=0\n k = s32[] constant(0)\n y = T[12] negate(x)\n"
     "ROOT r = (T[], s32[]) reduce(y, i, z, k), dimensions={0}, to_apply=either\n",
     Verdict::kTested},
};

class WindowVerdictsOf : public testing::TestWithParam<const char*> {};

TEST_P(WindowVerdictsOf, RightPairsHoldAndWrongOnesFall) {
  for (const Case& c : kCases) {
    const CaseReport right = Judge(GetParam(), c.before, c.right);
    EXPECT_EQ(right.verdict, c.of_right)
        << ToString(right.verdict) << ": " << right.reason << "\n"
        << c.before << "against\n"
        << c.right;
    const CaseReport wrong = Judge(GetParam(), c.before, c.wrong);
    EXPECT_EQ(wrong.verdict, Verdict::kRefuted) << wrong.reason << "\n"
                                                << c.before << "against\n"
                                                << c.wrong;
  }
}

TEST(WindowVerdicts, ConvolutionsAreSumsOfProducts) {
  const std::string of = "y = f32[1,12,1] reshape(x)\n k = f32[3] slice(x), slice={[2:5]}\n"
                         "w = f32[3,1,1] reshape(k)\n ROOT r = f32[1,10,1] convolution(y, w), ";
  const std::string labels = "dim_labels=b0f_0io->b0f\n";
  const std::string sums =
      "a = f32[10] slice(x), slice={[0:10]}\n b = f32[10] slice(x), slice={[1:11]}\n"
      "c = f32[10] slice(x), slice={[2:12]}\n d = f32[1] slice(x), slice={[2:3]}\n"
      "e = f32[1] slice(x), slice={[3:4]}\n g = f32[1] slice(x), slice={[4:5]}\n"
      "d0 = f32[] reshape(d)\n e0 = f32[] reshape(e)\n g0 = f32[] reshape(g)\n"
      "ds = f32[10] broadcast(d0), dimensions={}\n es = f32[10] broadcast(e0), dimensions={}\n"
      "gs = f32[10] broadcast(g0), dimensions={}\n h = f32[10] multiply(a, ds)\n"
      "i = f32[10] multiply(b, es)\n j = f32[10] multiply(c, gs)\n k = f32[10] add(h, i)\n"
      "l = f32[10] add(k, j)\n ROOT r = f32[1,10,1] reshape(l)\n";
  const CaseReport right = Judge("f32", of + "window={size=3}, " + labels, sums);
  EXPECT_EQ(right.verdict, Verdict::kProved) << right.reason;
  const CaseReport wrong = Judge("f32", of + "window={size=3 rhs_reversal=1}, " + labels, sums);
  EXPECT_EQ(wrong.verdict, Verdict::kRefuted) << wrong.reason;
}

// An order that hangs on rounded keys may be another one elsewhere.
TEST(WindowVerdicts, SortsByRoundedKeysAreNotRefuted) {
  const auto sorted = [](const std::string& first, const std::string& second) {
    return "HloModule m\nless { a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
           " k = f32[] constant(" + first + ")\n l = f32[] constant(" + second + ")\n"
           " p = f32[] multiply(a, k)\n q = f32[] multiply(p, l)\n s = f32[] multiply(b, k)\n"
           " t = f32[] multiply(s, l)\n ROOT r = pred[] compare(q, t), direction=LT }\n"
           "pairs { a = f32[] parameter(0)\n b = f32[] parameter(1)\n c = s32[] parameter(2)\n"
           " d = s32[] parameter(3)\n ROOT r = pred[] call(a, b), to_apply=less }\n"
           "ENTRY e { x = f32[200] parameter(0)\n i = s32[200] iota(), iota_dimension=0\n"
           " ROOT y = (f32[200], s32[200]) sort(x, i), dimensions={0}, to_apply=pairs }\n";
  };
  const CaseReport r = VerdictOf(PairOf(sorted("0.1", "0.3"), sorted("0.3", "0.1")));
  EXPECT_EQ(r.verdict, Verdict::kUnknown) << r.reason;
  // A key that is narrowed first is such a key.
  const auto narrowed = [](const std::string& key) {
    return "HloModule m\nless { a = f32[] parameter(0)\n b = f32[] parameter(1)\n" + key +
           " ROOT r = pred[] compare(c, d), direction=LT }\nENTRY e { x = f32[200] parameter(0)\n"
           " ROOT y = f32[200] sort(x), dimensions={0}, to_apply=less }\n";
  };
  const CaseReport s =
      VerdictOf(PairOf(narrowed(" c = bf16[] convert(a)\n d = bf16[] convert(b)\n"),
                       narrowed(" c = f32[] copy(a)\n d = f32[] copy(b)\n")));
  EXPECT_EQ(s.verdict, Verdict::kUnknown) << s.reason;
}

INSTANTIATE_TEST_SUITE_P(Types, WindowVerdictsOf, testing::Values("f32", "bf16", "f64", "s32", "u8"));

}  // namespace
}  // namespace hv
