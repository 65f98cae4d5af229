// Rules of single ops: operands, attributes, result shapes, called computations.
#include "rule_case.h"

namespace hv {
namespace {

class OpRulesTest : public testing::TestWithParam<RuleCase> {};
TEST_P(OpRulesTest, Refuses) { ExpectRefused(GetParam()); }

constexpr RuleCase kCommonRules[] = {
    {"operand-count", "x = f32[4] parameter(0)  ROOT @r = f32[4] add(x)"},
    {"operand-count", "x = f32[4] parameter(0)  ROOT @r = f32[4] negate(x, x)"},
    {"attribute-conflict",
     "x = f32[4] parameter(0)  ROOT r = f32[4] custom-call(x), custom_call_target=\"t\", "
     "to_apply=same, @called_computations={same}"},
    {"unbounded-dimension", "@x = f32[?] parameter(0)  ROOT r = f32[4] constant({1,2,3,4})"},
    {"operand-array", "t = token[] after-all()  ROOT @r = f32[] negate(t)"},
    {"operand-type", "x = f32[4] parameter(0)  ROOT @r = f32[4] and(x, x)"},
    {"operand-type", "x = pred[4] parameter(0)  ROOT @r = pred[4] subtract(x, x)"},
    {"operand-type", "x = u8[4] parameter(0)  ROOT @r = u8[4] abs(x)"},
    {"operand-types", "x = f32[4] parameter(0)  i = s32[4] parameter(1)  ROOT @r = f32[4] add(x, i)"},
    {"operand-types",
     "x = s32[4] parameter(0)  i = u32[4] parameter(1)  "
     "ROOT @r = pred[4] compare(x, i), direction=EQ"},
    {"operand-dims", "x = f32[4] parameter(0)  y = f32[1] parameter(1)  ROOT @r = f32[4] add(x, y)"},
    {"operand-dims",
     "p = pred[1] parameter(0)  x = f32[4] parameter(1)  ROOT @r = f32[4] select(p, x, x)"},
    {"operand-dims",
     "l = f32[1] parameter(0)  x = f32[4] parameter(1)  ROOT @r = f32[4] clamp(l, x, l)"},
    {"result-shape", "x = f32[4] parameter(0)  ROOT @r = f32[3] negate(x)"},
    {"result-shape", "x = f32[4] parameter(0)  ROOT @r = s32[4] negate(x)"},
    {"result-shape", "x = f32[4] parameter(0)  ROOT @r = bf16[4] copy(x)"},
    {"result-shape", "x = f32[4] parameter(0)  ROOT @r = f32[5] convert(x)"},
    {"result-shape", "ROOT @r = s32[] partition-id()"},
    {"result-shape", "x = f32[4] parameter(0)  ROOT @r = f32[2,2] tuple(x)"},
    {"result-shape", "ROOT @r = pred[4] iota(), iota_dimension=0"},
    {"result-shape", "x = f32[] parameter(0)  ROOT @r = s32[4] broadcast(x), dimensions={}"},
    {"replication-count",
     "x = f32[4] parameter(0), @parameter_replication={true,false}  ROOT r = f32[4] negate(x)"},
};

constexpr RuleCase kElementwiseRules[] = {
    {"compare-complex",
     "x = c64[4] parameter(0)  ROOT r = pred[4] compare(x, x), @direction=LT"},
    {"compare-type",
     "x = s32[4] parameter(0)  ROOT r = pred[4] compare(x, x), direction=LT, @type=UNSIGNED"},
    {"operand-type", "x = bf16[4] parameter(0)  ROOT @r = c64[4] complex(x, x)"},
    {"operand-type", "x = c64[4] parameter(0)  ROOT @r = s32[4] bitcast-convert(x)"},
    {"operand-dims", "x = u8[4,3] parameter(0)  ROOT @r = u16[4] bitcast-convert(x)"},
    {"precision-bits",
     "x = f32[4] parameter(0)  ROOT r = f32[4] reduce-precision(x), @exponent_bits=0, "
     "mantissa_bits=3"},
    {"precision-bits",
     "x = f32[4] parameter(0)  ROOT r = f32[4] reduce-precision(x), exponent_bits=5, "
     "@mantissa_bits=-1"},
    {"operand-type",
     "x = f32[4] parameter(0)  b = u16[4] parameter(1)  ROOT @r = s8[4] stochastic-convert(x, b)"},
};

constexpr RuleCase kMovementRules[] = {
    {"bitcast-size", "x = f32[4] parameter(0)  ROOT @r = f32[5] bitcast(x)"},
    {"broadcast-size",
     "x = f32[1] parameter(0)  ROOT r = f32[4] broadcast(x), @dimensions={0}"},
    {"dimension-count", "x = f32[4] parameter(0)  ROOT @r = f32[4,4] broadcast(x)"},
    {"dimension-count",
     "x = f32[4,2] parameter(0)  ROOT r = f32[4,2] transpose(x), @dimensions={0}"},
    {"dimension-range",
     "x = f32[4] parameter(0)  ROOT r = f32[4] reverse(x), @dimensions={1}"},
    {"dimension-range",
     "x = f32[4] parameter(0)  ROOT r = f32[8] concatenate(x, x), @dimensions={-1}"},
    {"dimension-range", "ROOT r = s32[4] iota(), @iota_dimension=1"},
    {"dimension-twice",
     "x = f32[4,4] parameter(0)  ROOT r = f32[4,4] transpose(x), @dimensions={1,1}"},
    {"operand-dims",
     "x = f32[4,2] parameter(0)  y = f32[4,3] parameter(1)  "
     "ROOT @r = f32[8,2] concatenate(x, y), dimensions={0}"},
    {"operand-types",
     "x = f32[4] parameter(0)  y = bf16[4] parameter(1)  "
     "ROOT @r = f32[8] concatenate(x, y), dimensions={0}"},
    {"size-overflow",
     "x = s8[35184372088832] parameter(0)  "
     "ROOT @r = s8[4] concatenate(x, x, x), dimensions={0}"},
    {"padding-size",
     "x = f32[4] parameter(0)  v = f32[] parameter(1)  ROOT r = f32[0] pad(x, v), @padding=-3_-2"},
    {"size-overflow",
     "x = f32[4] parameter(0)  v = f32[] parameter(1)  "
     "ROOT @r = f32[0] pad(x, v), padding=0_0_9223372036854775807"},
    {"operand-rank",
     "x = f32[4] parameter(0)  v = f32[1] parameter(1)  ROOT @r = f32[6] pad(x, v), padding=1_1"},
    {"reshape-size", "x = f32[4] parameter(0)  ROOT @r = f32[2,3] reshape(x)"},
    {"slice-bounds", "x = f32[4] parameter(0)  ROOT r = f32[4] slice(x), @slice={[0:5]}"},
    {"slice-bounds", "x = f32[4] parameter(0)  ROOT r = f32[0] slice(x), @slice={[3:2]}"},
    {"slice-bounds", "x = f32[4] parameter(0)  ROOT r = f32[4] slice(x), @slice={[0:4:0]}"},
    {"slice-size",
     "x = f32[4] parameter(0)  i = s32[] parameter(1)  "
     "ROOT r = f32[5] dynamic-slice(x, i), @dynamic_slice_sizes={5}"},
    {"slice-size",
     "x = f32[4] parameter(0)  u = f32[5] parameter(1)  i = s32[] parameter(2)  "
     "ROOT @r = f32[4] dynamic-update-slice(x, u, i)"},
    {"start-count",
     "x = f32[4,4] parameter(0)  i = s32[] parameter(1)  "
     "ROOT @r = f32[1,1] dynamic-slice(x, i), dynamic_slice_sizes={1,1}"},
    {"operand-types",
     "x = f32[4,4] parameter(0)  i = s32[] parameter(1)  j = u32[] parameter(2)  "
     "ROOT @r = f32[1,1] dynamic-slice(x, i, j), dynamic_slice_sizes={1,1}"},
    {"operand-type",
     "x = f32[4] parameter(0)  i = pred[] parameter(1)  "
     "ROOT @r = f32[1] dynamic-slice(x, i), dynamic_slice_sizes={1}"},
    {"tuple-index",
     "x = (f32[4]) parameter(0)  ROOT r = f32[4] get-tuple-element(x), @index=1"},
    {"operand-tuple", "x = f32[4] parameter(0)  ROOT @r = f32[4] get-tuple-element(x), index=0"},
    {"operand-token", "x = f32[4] parameter(0)  ROOT @r = f32[4] add-dependency(x, x)"},
    {"operand-token", "x = f32[4] parameter(0)  ROOT @r = token[] after-all(x)"},
};

constexpr RuleCase kCallRules[] = {
    {"computation-parameters",
     "x = f32[4] parameter(0)  ROOT r = f32[4] call(x, x), @to_apply=same"},
    {"computation-parameters",
     "x = f32[3] parameter(0)  ROOT r = f32[4] fusion(x), kind=kLoop, @calls=same"},
    {"computation-result",
     "x = f32[4] parameter(0)  ROOT r = f32[4] while(x), @condition=same, body=same"},
    {"computation-result",
     "x = f32[4] parameter(0)  ROOT r = f32[4] while(x), condition=yes, @body=yes"},
    {"computation-result",
     "i = s32[] parameter(0)  x = f32[4] parameter(1)  "
     "ROOT r = f32[4] conditional(i, x, x), @branch_computations={same, yes}"},
    {"conditional-branches",
     "p = pred[] parameter(0)  x = f32[4] parameter(1)  "
     "ROOT @r = f32[4] conditional(p, x, x), branch_computations={same, once}"},
    {"conditional-branches",
     "i = s32[] parameter(0)  x = f32[4] parameter(1)  "
     "ROOT @r = f32[4] conditional(i, x), branch_computations={same, once}"},
    {"computation-parameters",
     "x = f32[4] parameter(0)  z = f32[] constant(0)  "
     "ROOT r = f32[] reduce(x, z), dimensions={0}, @to_apply=addi"},
    {"computation-result",
     "x = f32[4] parameter(0)  z = f32[] constant(0)  "
     "ROOT r = f32[] reduce(x, z), dimensions={0}, @to_apply=less"},
    {"computation-result",
     "x = f32[4] parameter(0)  ROOT r = f32[4] sort(x), dimensions={0}, @to_apply=add"},
    {"map-dimensions",
     "x = f32[4,4] parameter(0)  ROOT r = f32[4,4] map(x, x), @dimensions={1,0}, to_apply=add"},
    {"scan-carries",
     "x = f32[4,2] parameter(0)  c = f32[] parameter(1)  "
     "ROOT r = (f32[4,2], f32[]) scan(x, c), dimensions={0}, @num_carries=2, to_apply=pair"},
    {"operand-count",
     "x = f32[4] parameter(0)  z = f32[] constant(0)  "
     "ROOT @r = f32[] reduce(x, z, z), dimensions={0}, to_apply=add"},
    {"execution-thread", "x = f32[4] parameter(0)  ROOT @r = f32[4] call(x), to_apply=side"},
};

constexpr RuleCase kLargeOpRules[] = {
    {"dot-sizes",
     "x = f32[2,3] parameter(0)  y = f32[4,5] parameter(1)  "
     "ROOT r = f32[2,5] dot(x, y), lhs_contracting_dims={1}, @rhs_contracting_dims={0}"},
    {"dimension-twice",
     "x = f32[2,2] parameter(0)  ROOT r = f32[2,2,2] dot(x, x), @lhs_batch_dims={0}, "
     "rhs_batch_dims={0}, lhs_contracting_dims={0}, rhs_contracting_dims={0}"},
    {"operand-types",
     "x = f32[2] parameter(0)  y = s32[2] parameter(1)  "
     "ROOT @r = f32[2,2] dot(x, y)"},
    {"conv-labels",
     "x = f32[2,6,4] parameter(0)  k = f32[3,3,4,6] parameter(1)  ROOT r = f32[2,4,4,6] "
     "convolution(x, k), window={size=3x3}, @dim_labels=b01f_01io->b01f"},
    {"conv-groups",
     "x = f32[2,6,5] parameter(0)  k = f32[3,4,6] parameter(1)  ROOT @r = f32[2,4,6] "
     "convolution(x, k), window={size=3}, dim_labels=b0f_0io->b0f"},
    {"window-range",
     "x = f32[2,6,4] parameter(0)  k = f32[3,4,6] parameter(1)  ROOT r = f32[2,4,6] "
     "convolution(x, k), @window={size=2}, dim_labels=b0f_0io->b0f"},
    {"window-range",
     "x = f32[4] parameter(0)  z = f32[] constant(0)  ROOT r = f32[4] reduce-window(x, z), "
     "@window={size=2 stride=0}, to_apply=add"},
    {"window-rank",
     "x = f32[4] parameter(0)  z = f32[] constant(0)  ROOT r = f32[4] reduce-window(x, z), "
     "@window={size=2x2}, to_apply=add"},
    {"operand-dims",
     "x = f32[4] parameter(0)  s = f32[4] parameter(1)  z = f32[] constant(0)  ROOT @r = f32[4] "
     "select-and-scatter(x, s, z), window={size=2 stride=2}, select=less, scatter=add"},
    {"topk-count",
     "x = f32[4] parameter(0)  ROOT r = (f32[5], s32[5]) topk(x), @k=5, largest=true"},
    {"fft-length",
     "x = f32[8] parameter(0)  ROOT r = c64[3] fft(x), fft_type=RFFT, @fft_length={4}"},
    {"dimension-count",
     "x = f32[8] parameter(0)  ROOT r = c64[5] fft(x), fft_type=RFFT, @fft_length={8,8}"},
    {"operand-dims", "a = f32[2,3] parameter(0)  ROOT @r = f32[2,3] cholesky(a), lower=true"},
    {"gather-dims",
     "x = f32[8,4] parameter(0)  i = s32[5,1] parameter(1)  ROOT r = f32[5] gather(x, i), "
     "offset_dims={}, @collapsed_slice_dims={1,0}, start_index_map={0}, index_vector_dim=1, "
     "slice_sizes={1,1}"},
    {"slice-size",
     "x = f32[8,4] parameter(0)  i = s32[5,1] parameter(1)  ROOT r = f32[5] gather(x, i), "
     "offset_dims={}, collapsed_slice_dims={0,1}, start_index_map={0}, index_vector_dim=1, "
     "@slice_sizes={1,2}"},
    {"dimension-count",
     "x = f32[8,4] parameter(0)  i = s32[5,1] parameter(1)  ROOT r = f32[5] gather(x, i), "
     "offset_dims={}, collapsed_slice_dims={0,1}, @start_index_map={0,1}, index_vector_dim=1, "
     "slice_sizes={1,1}"},
    {"operand-dims",
     "x = f32[8,3] parameter(0)  i = s32[5] parameter(1)  u = f32[5,4] parameter(2)  "
     "ROOT @r = f32[8,3] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0}, "
     "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add"},
};

INSTANTIATE_TEST_SUITE_P(Common, OpRulesTest, testing::ValuesIn(kCommonRules), NameOf);
INSTANTIATE_TEST_SUITE_P(Elementwise, OpRulesTest, testing::ValuesIn(kElementwiseRules), NameOf);
INSTANTIATE_TEST_SUITE_P(Movement, OpRulesTest, testing::ValuesIn(kMovementRules), NameOf);
INSTANTIATE_TEST_SUITE_P(Call, OpRulesTest, testing::ValuesIn(kCallRules), NameOf);
INSTANTIATE_TEST_SUITE_P(LargeOp, OpRulesTest, testing::ValuesIn(kLargeOpRules), NameOf);

}  // namespace
}  // namespace hv
