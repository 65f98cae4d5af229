// Structured ops on native values, one rule each: hlo_ops sections 3 and 5. Whole ops are covered
// by the recorded cases; here are the corners they leave out.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "tests/unit/eval/evaluate_text.h"

namespace hv::test {
namespace {

const std::string kAddS32 =
    "add { a = s32[] parameter(0)\n b = s32[] parameter(1)\n ROOT r = s32[] add(a, b) }\n";
const std::string kAddF32 =
    "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] add(a, b) }\n";
const std::string kMaxF32 =
    "max { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] maximum(a, b) }\n";

TEST(Movement, DynamicSliceClampsTheWholeWindow) {
  const auto slice = [](const std::string& start) {
    return EvaluateText("  x = s32[5] constant({0, 1, 2, 3, 4})\n  s = " + start +
                        "\n  ROOT r = s32[2] dynamic-slice(x, s), dynamic_slice_sizes={2}");
  };
  EXPECT_EQ(slice("s32[] constant(-1)"), "{0, 1}");
  EXPECT_EQ(slice("s32[] constant(4)"), "{3, 4}");
  EXPECT_EQ(slice("u32[] constant(4294967295)"), "{3, 4}");
  EXPECT_EQ(slice("u8[] constant(2)"), "{2, 3}");
}

TEST(Movement, UpdatesInPlaceOnlyWhatNobodyElseHolds) {
  const std::string text =
      "  x = s32[4] iota(), iota_dimension=0\n  u = s32[2] constant({8, 9})\n"
      "  i = s32[] constant(7)\n"
      "  y = s32[4] dynamic-update-slice(x, u, i)\n  ROOT t = (s32[4], s32[4]) tuple(x, y)";
  EXPECT_EQ(EvaluateText(text), "({0, 1, 2, 3}, {0, 1, 8, 9})");
}

TEST(Movement, PadCropsAfterInteriorAndNegativeEdges) {
  EXPECT_EQ(EvaluateText("  x = s32[3] constant({1, 2, 3})\n  z = s32[] constant(9)\n"
                         "  ROOT r = s32[4] pad(x, z), padding=-1_0_1"),
            "{9, 2, 9, 3}");
}

TEST(Movement, BitcastObeysLayoutsReshapeDoesNot) {
  const std::string x = "  x = s32[2,3]{1,0} constant({{1, 2, 3}, {4, 5, 6}})\n";
  EXPECT_EQ(EvaluateText(x + "  ROOT r = s32[3,2]{0,1} bitcast(x)"),
            "{ { 1, 4 }, { 2, 5 }, { 3, 6 } }");
  EXPECT_EQ(EvaluateText(x + "  ROOT r = s32[3,2]{0,1} reshape(x)"),
            "{ { 1, 2 }, { 3, 4 }, { 5, 6 } }");
}

TEST(Reduce, FollowsTheOperandsLayout) {
  // Subtraction tells the order: ((10 - a) - b) .. is the same, so use 2 * acc - x.
  const std::string body =
      "f { a = s32[] parameter(0)\n b = s32[] parameter(1)\n t = s32[] add(a, a)\n"
      " ROOT r = s32[] subtract(t, b) }\n";
  const auto reduce = [&](const std::string& layout) {
    return EvaluateText("  x = s32[2,2]" + layout +
                            " constant({{1, 2}, {3, 4}})\n  z = s32[] constant(0)\n"
                            "  ROOT r = s32[] reduce(x, z), dimensions={0,1}, to_apply=f",
                        body);
  };
  EXPECT_EQ(reduce("{1,0}"), "-26");  // 1 2 3 4: -(8 + 8 + 6 + 4)
  EXPECT_EQ(reduce("{0,1}"), "-28");  // 1 3 2 4: -(8 + 12 + 4 + 4)
}

TEST(Reduce, FloatSumsRunInF64) {
  // In f32 1e8 + 1 is 1e8: the ones would be lost.
  EXPECT_EQ(EvaluateText("  x = f32[4] constant({1e8, 1, 1, -1e8})\n  z = f32[] constant(0)\n"
                         "  ROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=add",
                         kAddF32),
            "2");
}

TEST(Reduce, NarrowSumsRoundOnce) {
  for (const std::string type : {"bf16", "f16", "f8e5m2"}) {
    EXPECT_EQ(EvaluateText("  o = " + type + "[] constant(1)\n  x = " + type +
                               "[2,96] broadcast(o), dimensions={}\n  z = " + type +
                               "[] constant(0)\n  ROOT r = " + type +
                               "[2] reduce(x, z), dimensions={1}, to_apply=add",
                           "add { a = " + type + "[] parameter(0)\n b = " + type +
                               "[] parameter(1)\n ROOT r = " + type + "[] add(a, b) }\n"),
              "{96, 96}")
        << type;  // one by one an f8e5m2 would stop at 8
  }
}

TEST(Reduce, NoTermsLeaveTheInitialValue) {
  EXPECT_EQ(EvaluateText("  x = f32[0,2] constant({})\n  z = f32[] constant(-0)\n"
                         "  ROOT r = f32[2] reduce(x, z), dimensions={0}, to_apply=max",
                         kMaxF32),
            "{-0.0, -0.0}");
}

TEST(Reduce, LongRowsOfIntegersAlongAndAcross) {
  const auto sum = [](const std::string& dimension) {
    return EvaluateText(
        "  x = s32[3,2000] iota(), iota_dimension=1\n  z = s32[] constant(5)\n"
        "  s = s32[" +
            std::string(dimension == "1" ? "3" : "2000") + "] reduce(x, z), dimensions={" +
            dimension +
            "}, to_apply=add\n"
            "  ROOT r = s32[2] slice(s), slice={[1:3]}",
        kAddS32);
  };
  EXPECT_EQ(sum("1"), "{1999005, 1999005}");
  EXPECT_EQ(sum("0"), "{8, 11}");
}

TEST(Reduce, SeveralOperandsTogether) {
  const std::string argmax =
      "f { v = f32[] parameter(0)\n i = s32[] parameter(1)\n w = f32[] parameter(2)\n"
      " j = s32[] parameter(3)\n g = pred[] compare(v, w), direction=GE\n"
      " m = f32[] select(g, v, w)\n k = s32[] select(g, i, j)\n"
      " ROOT t = (f32[], s32[]) tuple(m, k) }\n";
  EXPECT_EQ(EvaluateText("  x = f32[2,3] constant({{1, 7, 7}, {-1, -3, -2}})\n"
                         "  i = s32[2,3] iota(), iota_dimension=1\n"
                         "  a = f32[] constant(-inf)\n  b = s32[] constant(0)\n"
                         "  ROOT r = (f32[2], s32[2]) reduce(x, i, a, b), dimensions={1}, "
                         "to_apply=f",
                         argmax),
            "({7, -1}, {1, 0})");
}

TEST(Gather, ClampsAndScatterDrops) {
  EXPECT_EQ(
      EvaluateText("  x = s32[4] constant({0, 1, 2, 3})\n  i = s32[2,1] constant({{-5}, {9}})\n"
                   "  ROOT r = s32[2,2] gather(x, i), offset_dims={1}, "
                   "collapsed_slice_dims={}, start_index_map={0}, index_vector_dim=1, "
                   "slice_sizes={2}"),
      "{ { 0, 1 }, { 2, 3 } }");
  EXPECT_EQ(
      EvaluateText("  x = s32[4] constant({0, 1, 2, 3})\n  i = s32[2,1] constant({{3}, {1}})\n"
                   "  u = s32[2,2] constant({{10, 20}, {30, 40}})\n"
                   "  ROOT r = s32[4] scatter(x, i, u), update_window_dims={1}, "
                   "inserted_window_dims={}, scatter_dims_to_operand_dims={0}, "
                   "index_vector_dim=1, to_apply=add",
                   kAddS32),
      "{0, 31, 42, 3}");
}

TEST(Dot, NarrowResultsRoundInputsFirst) {
  // 1 + 2^-9 is 1 in bf16; products sum in f32 and round once.
  EXPECT_EQ(
      EvaluateText("  x = f32[2] constant({1.001953125, 256})\n  y = f32[2] constant({1, 1})\n"
                   "  ROOT r = bf16[] dot(x, y), lhs_contracting_dims={0}, "
                   "rhs_contracting_dims={0}"),
      "256");
  EXPECT_EQ(EvaluateText("  x = bf16[3] constant({256, 1, 1})\n  y = bf16[3] constant({1, 1, 1})\n"
                         "  ROOT r = bf16[] dot(x, y), lhs_contracting_dims={0}, "
                         "rhs_contracting_dims={0}"),
            "258");
}

TEST(Dot, OrdersBatchThenFreeDimensions) {
  EXPECT_EQ(EvaluateText("  x = s32[2,3,2] iota(), iota_dimension=1\n"
                         "  y = s32[2,2] constant({{1, 10}, {100, 1000}})\n"
                         "  ROOT r = s32[2,3] dot(x, y), lhs_batch_dims={2}, rhs_batch_dims={0}, "
                         "lhs_contracting_dims={0}, rhs_contracting_dims={1}"),
            "{ { 0, 11, 22 }, { 0, 1100, 2200 } }");
  EXPECT_EQ(EvaluateText("  x = s4[2] constant({7, 7})\n  y = s4[2] constant({7, 7})\n"
                         "  ROOT r = s4[] dot(x, y), lhs_contracting_dims={0}, "
                         "rhs_contracting_dims={0}"),
            "2");  // 98 modulo 16
}

// Every matrix product is the plain sum over ascending k, whatever the shape and the machine.
TEST(Dot, BitsOfTheSequentialSum) {
  for (const auto [m, n, k] :
       {std::array{7, 33, 300}, std::array{50, 5, 19}, std::array{1, 40, 100},
        std::array{40, 1, 70}, std::array{100, 70, 513}}) {
    const std::string mk = std::to_string(m) + "," + std::to_string(k);
    const std::string kn = std::to_string(k) + "," + std::to_string(n);
    const Module module =
        Parse("  x = f32[" + mk + "] parameter(0)\n  y = f32[" + kn +
              "] parameter(1)\n  ROOT r = f32[" + std::to_string(m) + "," + std::to_string(n) +
              "] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}");
    std::vector<Value> arguments;
    for (size_t p = 0; p < 2; ++p) {
      arguments.push_back(Value::NewNative(module.Entry().At(module.Entry().parameters[p]).shape));
      float x = 0.37f + static_cast<float>(p);
      for (float& f : arguments[p].MutableAs<float>()) f = x = 3.9f * x * (1 - x * 0.3f) - 1;
    }
    const std::unique_ptr<Domain> domain = MakeNativeDomain();
    const Value product = *Evaluate(*domain, module, arguments);
    const auto x = arguments[0].As<float>(), y = arguments[1].As<float>();
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < n; ++j) {
        float sum = 0;
        for (int p = 0; p < k; ++p) {
          const float term = x[static_cast<size_t>(i * k + p)] * y[static_cast<size_t>(p * n + j)];
          sum += term;
        }
        const float got = product.As<float>()[static_cast<size_t>(i * n + j)];
        ASSERT_TRUE(got == sum || (std::isnan(got) && std::isnan(sum)))
            << m << " " << i << " " << j;
      }
    }
  }
}

// bf16 and f16 take the paths that read them as stored: the same bits as widened first.
TEST(Dot, HalvesSumLikeTheirWidenedValues) {
  for (const std::string half : {"bf16", "f16"}) {
    for (const std::string k : {"3", "200"}) {
      const std::string operands =
          "  i = " + half + "[20," + k + "] iota(), iota_dimension=1\n  h = " + half + "[20," + k +
          "] tanh(i)\n  j = " + half + "[" + k + ",9] iota(), iota_dimension=1\n";
      const std::string dims = ", lhs_contracting_dims={1}, rhs_contracting_dims={0}";
      EXPECT_EQ(EvaluateText(operands + "  ROOT r = " + half + "[20,9] dot(h, j)" + dims),
                EvaluateText(operands + "  x = f32[20," + k + "] convert(h)\n  y = f32[" + k +
                             ",9] convert(j)\n  d = f32[20,9] dot(x, y)" + dims +
                             "\n  ROOT r = " + half + "[20,9] convert(d)"));
    }
  }
}

TEST(Window, PaddingContributesNothing) {
  EXPECT_EQ(EvaluateText("  x = f32[3] constant({-1, -2, -3})\n  z = f32[] constant(-5)\n"
                         "  ROOT r = f32[3] reduce-window(x, z), window={size=3 pad=1_1}, "
                         "to_apply=max",
                         kMaxF32),
            "{-1, -1, -2}");
}

TEST(Convolution, IntegersSaturate) {
  EXPECT_EQ(EvaluateText("  x = s8[1,2,1] constant({{{100}, {100}}})\n"
                         "  k = s8[2,1,1] constant({{{1}}, {{1}}})\n"
                         "  ROOT r = s8[1,1,1] convolution(x, k), window={size=2}, "
                         "dim_labels=b0f_0io->b0f"),
            "{ { { 127 } } }");
}

TEST(Sort, StableAndByTotalOrder) {
  const std::string by_value =
      "lt { a = f32[] parameter(0)\n b = f32[] parameter(1)\n c = s32[] parameter(2)\n"
      " d = s32[] parameter(3)\n ROOT r = pred[] compare(a, b), direction=LT, type=TOTALORDER }\n";
  EXPECT_EQ(EvaluateText("  x = f32[5] constant({2, nan, -0, 2, 0})\n"
                         "  i = s32[5] iota(), iota_dimension=0\n"
                         "  ROOT r = (f32[5], s32[5]) sort(x, i), dimensions={0}, is_stable=true, "
                         "to_apply=lt",
                         by_value),
            "({-0.0, 0, 2, 2, nan}, {2, 4, 0, 3, 1})");
  EXPECT_EQ(EvaluateText("  x = u64[4] constant({18446744073709551615, 3, 9, 9})\n"
                         "  ROOT r = (u64[3], s32[3]) topk(x), k=3, largest=true"),
            "({18446744073709551615, 9, 9}, {0, 2, 3})");
}

// Inside computations too a bitcast reads the bits: as integers, negative floats stand upside down.
TEST(Bitcast, ReadsAnotherTypeInsideComputations) {
  for (const std::string cast : {"bitcast", "bitcast-convert"}) {
    const std::string computations =
        "lt { a = f32[] parameter(0)\n b = f32[] parameter(1)\n x = s32[] " + cast +
        "(a)\n y = s32[] " + cast + "(b)\n ROOT r = pred[] compare(x, y), direction=LT }\n" +
        "bits { a = f32[] parameter(0)\n x = s32[] " + cast +
        "(a)\n y = s32[] add(x, x)\n ROOT r = s32[] add(y, y) }\n";
    EXPECT_EQ(EvaluateText("  x = f32[4] constant({-1, 3, -2, 0.5})\n"
                           "  ROOT r = f32[4] sort(x), dimensions={0}, to_apply=lt",
                           computations),
              "{-1, -2, 0.5, 3}");
    EXPECT_EQ(EvaluateText("  x = f32[2] constant({1e-45, 3e-45})\n"
                           "  ROOT r = s32[2] map(x), dimensions={0}, to_apply=bits",
                           computations),
              "{4, 8}");
  }
}

// Published check values of both ciphers for key and counter zero.
TEST(RandomBits, CheckValues) {
  const auto bits = [](const std::string& algorithm, const std::string& shape) {
    return EvaluateText("  s = u64[2] constant({0, 0})\n  ROOT r = (u64[2], " + shape +
                        ") rng-bit-generator(s), algorithm=" + algorithm);
  };
  EXPECT_EQ(bits("rng_philox", "u32[4]"),
            "({0, 1}, {1713891541, 3781805453, 3159862348, 2600524760})");
  EXPECT_EQ(bits("rng_three_fry", "u32[2]"), "({0, 1}, {1797259609, 2579123966})");
}

// Rows long and short, results side by side and apart, by one thread and by three.
TEST(NativeReduce, ThreadsChangeNothing) {
  const std::string max =
      "max { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT r = f32[] maximum(a, b) }\n"
      "xor { a = s32[] parameter(0)\n b = s32[] parameter(1)\n ROOT r = s32[] xor(a, b) }\n";
  const auto run = [&](const std::string& dims, const std::string& result) {
    return EvaluateText(
        "  i = s32[7,301,257] iota(), iota_dimension=1\n  j = s32[7,301,257] iota(), "
        "iota_dimension=2\n  c = s32[] constant(40503)\n  k = s32[7,301,257] broadcast(c), "
        "dimensions={}\n  m = s32[7,301,257] multiply(i, k)\n  x = s32[7,301,257] xor(m, j)\n"
        "  f = f32[7,301,257] convert(x)\n  z = f32[] constant(-1)\n  y = s32[] constant(0)\n"
        "  a = f32" +
            result + " reduce(f, z), dimensions={" + dims +
            "}, to_apply=max\n"
            "  b = s32" +
            result + " reduce(x, y), dimensions={" + dims +
            "}, to_apply=xor\n"
            "  ROOT t = (f32" +
            result + ", s32" + result + ") tuple(a, b)",
        max);
  };
  for (const auto& [dims, result] : {std::pair{"2", "[7,301]"}, std::pair{"1", "[7,257]"},
                                     std::pair{"0", "[301,257]"}, std::pair{"0,2", "[301]"}}) {
    const std::string alone = run(dims, result);
    SetThreadCount(3);
    EXPECT_EQ(run(dims, result), alone) << dims;
    SetThreadCount(1);
  }
}

}  // namespace
}  // namespace hv::test
