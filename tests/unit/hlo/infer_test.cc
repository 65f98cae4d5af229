// Result shapes left out of the text, op by op. The expectations are what XLA infers.
#include <gtest/gtest.h>

#include "hlo/parser.h"
#include "hlo/validator.h"

namespace hv {
namespace {

struct InferCase {
  const char* operands;  // shapes of p0, p1, ...; separated by ';'
  const char* root;      // without result shape
  const char* shape;     // expected
};

constexpr InferCase kCases[] = {
    {"c64[2]", "abs(p0)", "f32[2]"},
    {"f32[2]; f32[2]", "complex(p0, p1)", "c64[2]"},
    {"f64[3]", "is-finite(p0)", "pred[3]"},
    {"f32[3]; f32[3]", "compare(p0, p1), direction=LT", "pred[3]"},
    {"bf16[3]; f32[3]", "add(p0, p1)", "f32[3]"},
    {"pred[]; f32[2,2]; f32[2,2]", "select(p0, p1, p2)", "f32[2,2]"},
    {"f32[]; f32[5]; f32[]", "clamp(p0, p1, p2)", "f32[5]"},
    {"f32[2,3]; f32[2,4]", "concatenate(p0, p1), dimensions={1}", "f32[2,7]"},
    {"f32[3,4]; f32[]", "pad(p0, p1), padding=1_2x-1_0_2", "f32[6,9]"},
    {"f32[2,3,4]", "transpose(p0), dimensions={2,0,1}", "f32[4,2,3]"},
    {"f32[2]; s32[]", "tuple(p1, p0)", "(s32[], f32[2])"},
    {"(s32[], f32[2])", "get-tuple-element(p0), index=1", "f32[2]"},
    {"f32[2,3,4]; f32[]", "reduce(p0, p1), dimensions={1}, to_apply=add", "f32[2,4]"},
    {"f32[7]; f32[]", "reduce-window(p0, p1), window={size=3 stride=2 pad=1_0}, to_apply=add",
     "f32[3]"},
    {"f32[5]; f32[]",
     "reduce-window(p0, p1), window={size=2 lhs_dilate=2 rhs_dilate=3}, to_apply=add", "f32[6]"},
    {"f32[2,3]; f32[2,3]", "map(p0, p1), dimensions={0,1}, to_apply=add", "f32[2,3]"},
    {"f32[4,2,3]; f32[4,3,5]",
     "dot(p0, p1), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, "
     "rhs_contracting_dims={1}",
     "f32[4,2,5]"},
    {"f32[2]; f32[3]", "dot(p0, p1)", "f32[2,3]"},
    {"f32[1,5,5,3]; f32[3,3,3,8]",
     "convolution(p0, p1), window={size=3x3 stride=2x2 pad=1_1x1_1}, dim_labels=b01f_01io->b01f",
     "f32[1,3,3,8]"},
    {"f32[9,4]; s32[2,6]",
     "gather(p0, p1), offset_dims={0}, collapsed_slice_dims={0}, start_index_map={0,1}, "
     "index_vector_dim=0, slice_sizes={1,3}",
     "f32[3,6]"},
    {"f32[2,16]", "topk(p0), k=5, largest=true", "(f32[2,5], s32[2,5])"},
    {"f32[2,10]", "fft(p0), fft_type=RFFT, fft_length={10}", "c64[2,6]"},
    {"f32[6]; s32[]", "set-dimension-size(p0, p1), dimensions={0}", "f32[<=6]"},
    {"f32[6,2]", "get-dimension-size(p0), dimensions={1}", "s32[]"},
    {"f32[4]", "call(p0), to_apply=flag", "pred[]"},
    {"token[]; token[]", "after-all(p0, p1)", "token[]"},
    {"f32[4]", "partition-id()", "u32[]"},
};

class InferTest : public testing::TestWithParam<InferCase> {};

TEST_P(InferTest, Shape) {
  std::string text =
      "HloModule m\nadd { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT r = add(a, b) }\n"
      "flag { a = f32[4] parameter(0)  ROOT r = pred[] constant(true) }\nENTRY e {\n";
  int number = 0;
  const std::string operands = GetParam().operands;
  for (size_t begin = 0; begin < operands.size(); ++number) {
    const size_t end = std::min(operands.find(';', begin), operands.size());
    text += "  p" + std::to_string(number) + " = " + operands.substr(begin, end - begin) +
            " parameter(" + std::to_string(number) + ")\n";
    begin = end + 1;
  }
  text += std::string("  ROOT r = ") + GetParam().root + "\n}\n";
  auto module = ParseModule("m.hlo", text);
  ASSERT_TRUE(module) << FormatError(module.error());
  EXPECT_EQ(ToString(*module->Entry().Root().shape, false), GetParam().shape);
  const Status valid = Validate(*module);
  EXPECT_TRUE(valid) << FormatError(valid.error());
}

INSTANTIATE_TEST_SUITE_P(All, InferTest, testing::ValuesIn(kCases));

}  // namespace
}  // namespace hv
