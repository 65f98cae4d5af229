// The language: kinds of input, names, operands, nested computations, asynchronous sugar, and how
// each instruction prints (attribute order as XLA's own printer has it).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hlo/parser.h"
#include "hlo/printer.h"

namespace hv {
namespace {

using ::testing::HasSubstr;

Module Parse(const std::string& text) {
  auto module = ParseModule("test.hlo", text);
  EXPECT_TRUE(module) << FormatError(module.error()) << text;
  return module ? std::move(*module) : Module{};
}

// Every line of the body of ENTRY as printed, without indentation.
std::string Reprint(const std::string& text) {
  const Module module = Parse(text);
  if (module.computations.empty()) return {};
  std::string lines;
  for (size_t i = 0; i < module.Entry().instructions.size(); ++i) {
    lines += PrintInstruction(module, module.Entry(), static_cast<InstructionIndex>(i)) + "\n";
  }
  return lines;
}

constexpr char kSum[] =
    "sum { x = f32[] parameter(0) y = f32[] parameter(1) ROOT s = f32[] add(x, y) }\n";

TEST(KindsOfInputTest, WithoutHeaderEntryRootPercentAndShapes) {
  const Module module = Parse(
      "plus { x = s32[] parameter(0)  y = s32[] parameter(1)  z = add(x, y) }\n"
      "main {\n  a = s32[4] parameter(0)\n  zero = s32[] constant(0)\n"
      "  total = reduce(a, zero), dimensions={0}, to_apply=plus\n}\n");
  EXPECT_EQ(PrintModule(module),
            "HloModule module_main\n\n"
            "%plus (x: s32[], y: s32[]) -> s32[] {\n  %x = s32[] parameter(0)\n"
            "  %y = s32[] parameter(1)\n  ROOT %z = s32[] add(%x, %y)\n}\n\n"
            "ENTRY %main (a: s32[4]) -> s32[] {\n  %a = s32[4] parameter(0)\n"
            "  %zero = s32[] constant(0)\n"
            "  ROOT %total = s32[] reduce(%a, %zero), dimensions={0}, to_apply=%plus\n}\n");
}

TEST(KindsOfInputTest, SingleInstructions) {
  EXPECT_EQ(Reprint("r = f32[4] add(f32[4] x, f32[4] y)"),
            "%x = f32[4] parameter(0)\n%y = f32[4] parameter(1)\n%r = f32[4] add(%x, %y)\n");
  EXPECT_EQ(Reprint("f32[4] add(f32[4] x, f32[4] x)"),
            "%x = f32[4] parameter(0)\n%result = f32[4] add(%x, %x)\n");
  EXPECT_EQ(Reprint("f32[4] subtract(f32[4], f32[4])"),
            "%parameter.anon = f32[4] parameter(0)\n%parameter.anon.1 = f32[4] parameter(1)\n"
            "%result = f32[4] subtract(%parameter.anon, %parameter.anon.1)\n");
}

TEST(HeaderTest, AttributesPrintInXlasOrder) {
  const Module module = Parse(
      "HloModule m: , num_partitions=4, frontend_attributes={b=\"2\"}, replica_count=2,\n"
      "  entry_computation_layout={(f32[2,2]{0,1})->f32[2,2]{1,0}}, buffer_donor={ (0, {}) },\n"
      "  allow_spmd_sharding_propagation_to_output={true}, is_scheduled=true // done\n"
      "FileNames 1 \"a.py\" FunctionNames 1 \"f\"\n"
      "FileLocations 1 {file_name_id=1 line=7} StackFrames 1 {file_location_id=1}\n"
      "ENTRY e { p = f32[2,2] parameter(0) }, execution_thread=\"t\"");
  EXPECT_EQ(module.replicas(), 2);
  EXPECT_EQ(module.partitions(), 4);
  EXPECT_TRUE(module.is_scheduled);
  ASSERT_EQ(module.entry_parameter_layouts.size(), 1u);
  EXPECT_EQ(ToString(*module.entry_parameter_layouts[0]), "f32[2,2]{0,1}");
  EXPECT_EQ(PrintModule(module),
            "HloModule m, is_scheduled=true, buffer_donor={ (0, {}) }, "
            "entry_computation_layout={(f32[2,2]{0,1})->f32[2,2]{1,0}}, "
            "allow_spmd_sharding_propagation_to_output={true}, replica_count=2, "
            "num_partitions=4, frontend_attributes={b=\"2\"}\n\n"
            "FileNames 1 \"a.py\" FunctionNames 1 \"f\"\n"
            "FileLocations 1 {file_name_id=1 line=7} StackFrames 1 {file_location_id=1}\n\n\n"
            "ENTRY %e (p: f32[2,2]) -> f32[2,2] {\n  ROOT %p = f32[2,2] parameter(0)\n}, "
            "execution_thread=\"t\"\n");
}

TEST(NamesTest, KeywordsBehindPercentAndForeignWords) {
  EXPECT_EQ(Reprint("ENTRY %ENTRY { %ROOT = f32[] parameter(0)  %true=f32[] negate(%ROOT) "
                    "ROOT add.1-b_ = f32[] negate(%true) }"),
            "%ROOT = f32[] parameter(0)\n%true = f32[] negate(%ROOT)\n"
            "%add.1-b_ = f32[] negate(%true)\n");
}

TEST(CommentsTest, BetweenAnyTokens) {
  EXPECT_EQ(Reprint("HloModule m // x\n/* y */ENTRY/**/e{/*a b*/p/**/=/**/f32/**/[/**/2/**/]/**/"
                    "parameter/**/(/**/0/**/)/**/,/**/metadata={op_name=\"/*\" /*}*/}//z\n}"),
            "%p = f32[2] parameter(0), metadata={op_name=\"/*\" /*}*/}\n");
}

TEST(OperandsTest, ShapesNestedInstructionsAndTuplePaths) {
  EXPECT_EQ(Reprint("ENTRY e {\n t = (f32[4], (f32[4], s32[])) parameter(0)\n"
                    " a = f32[4] add(f32[4]{0} %t#1#0, negate(t#0))\n"
                    " ROOT b = f32[4] add(t#1#0, f32[4] constant({1,2,3,4})) }"),
            "%t = (f32[4], (f32[4], s32[])) parameter(0)\n"
            "%get-tuple-element.anon = (f32[4], s32[]) get-tuple-element(%t), index=1\n"
            "%get-tuple-element.anon.1 = f32[4] get-tuple-element(%get-tuple-element.anon), "
            "index=0\n"
            "%get-tuple-element.anon.2 = f32[4] get-tuple-element(%t), index=0\n"
            "%negate.anon = f32[4] negate(%get-tuple-element.anon.2)\n"
            "%a = f32[4] add(%get-tuple-element.anon.1, %negate.anon)\n"
            "%constant.anon = f32[4] constant({1, 2, 3, 4})\n"
            "%b = f32[4] add(%get-tuple-element.anon.1, %constant.anon)\n");
}

TEST(ComputationsTest, NestedOnesGetNamesThatClashWithNothing) {
  const Module module = Parse(
      "w.body { p = s32[] parameter(0) }\n"
      "ENTRY e { i = s32[] parameter(0)\n"
      "  ROOT w = s32[] while(i), condition={ p = s32[] parameter(0) ROOT c = pred[] constant(1) },"
      " body={ p = s32[] parameter(0) ROOT n = s32[] negate(p) } }");
  ASSERT_EQ(module.computations.size(), 4u);
  EXPECT_EQ(module.entry, 3);
  EXPECT_EQ(module.computations[1].name, "w.condition");
  EXPECT_EQ(module.computations[2].name, "w.body.1");
  EXPECT_THAT(PrintModule(module), HasSubstr("while(%i), condition=%w.condition, body=%w.body.1"));
}

TEST(AsyncSugarTest, BecomesAWrappedComputation) {
  const Module module = Parse(
      std::string("HloModule m, replica_count=2\n") + kSum +
      "ENTRY e {\n p = f32[8] parameter(0)\n"
      " go = ((f32[8]), f32[4], u32[]) reduce-scatter-start(p), metadata={op_name=\"rs\"}, "
      "to_apply=sum, replica_groups={{0,1}}, dimensions={0}, async_execution_thread=\"side\"\n"
      " up = ((f32[8]), f32[4], u32[]) reduce-scatter-update(go)\n"
      " ROOT end = f32[4] reduce-scatter-done(up)\n}\n");
  EXPECT_EQ(PrintModule(module).substr(PrintModule(module).find("%async_go")),
            "%async_go (operand.0: f32[8]) -> f32[4] {\n"
            "  %operand.0 = f32[8] parameter(0)\n"
            "  ROOT %result = f32[4] reduce-scatter(%operand.0), replica_groups={{0,1}}, "
            "dimensions={0}, to_apply=%sum\n"
            "}, execution_thread=\"side\"\n\n"
            "ENTRY %e (p: f32[8]) -> f32[4] {\n"
            "  %p = f32[8] parameter(0)\n"
            "  %go = ((f32[8]), f32[4], u32[]) async-start(%p), async_execution_thread=\"side\", "
            "calls=%async_go, metadata={op_name=\"rs\"}\n"
            "  %up = ((f32[8]), f32[4], u32[]) async-update(%go)\n"
            "  ROOT %end = f32[4] async-done(%up)\n"
            "}\n");
}

TEST(AsyncSugarTest, LateBindingUpdatesTakeFurtherOperands) {
  EXPECT_THAT(Reprint("ENTRY e { p = f32[4] parameter(0) q = f32[4] parameter(1)\n"
                      " s = ((f32[4], f32[4]), f32[4], u32[]) add-start(p, q)\n"
                      " u = ((f32[4], f32[4]), f32[4], u32[]) async-update(s, q)\n"
                      " ROOT d = f32[4] add-done(u) }"),
              HasSubstr("%u = ((f32[4], f32[4]), f32[4], u32[]) async-update(%s, %q)\n"));
}

// Text in another order or spelling, and the line XLA prints for it.
struct Golden {
  std::string written;
  std::string printed;
};

void PrintTo(const Golden& golden, std::ostream* out) { *out << golden.written; }

class GoldenPrintTest : public testing::TestWithParam<Golden> {};

TEST_P(GoldenPrintTest, AttributesInOrder) {
  const std::string text = std::string("HloModule m, num_partitions=8\n") + kSum +
                           "ENTRY e {\n p = f32[8,8]{1,0} parameter(0)\n z = f32[] constant(0)\n" +
                           " i = s32[2] parameter(1)\n c = pred[] parameter(2)\n" + " ROOT " +
                           GetParam().written + "\n}";
  const std::string lines = Reprint(text);
  EXPECT_THAT(lines, HasSubstr("\n" + GetParam().printed + "\n"));
}

INSTANTIATE_TEST_SUITE_P(
    All, GoldenPrintTest,
    testing::Values(
        Golden{"r = f32[8,8]{1,0} all-reduce(p), metadata={op_name=\"x\"}, to_apply=sum, "
               "use_global_device_ids=true, replica_groups=[2,4]<=[8], channel_id=3, "
               "sharding={replicated}, backend_config={\"a\":{}}, "
               "frontend_attributes={z=\"q\",a={{0,1}}}, constrain_layout=true",
               "%r = f32[8,8]{1,0} all-reduce(%p), channel_id=3, replica_groups=[2,4]<=[8], "
               "constrain_layout=true, use_global_device_ids=true, to_apply=%sum, "
               "sharding={replicated}, frontend_attributes={a={{0,1}},z=\"q\"}, "
               "metadata={op_name=\"x\"}, backend_config={\"a\":{}}"},
        Golden{"r = f32[8,8]{1,0} all-reduce(p), to_apply=sum, use_global_device_ids=false",
               "%r = f32[8,8]{1,0} all-reduce(%p), replica_groups={}, to_apply=%sum"},
        Golden{"r = f32[64,8]{1,0} all-gather(p), use_global_device_ids=true, dimensions={0}, "
               "channel_id=1, replica_groups=mesh['x'=2,'y'=4], device_ids=(7,6,5,4,3,2,1,0) "
               "{'x', 'y':(2)2}",
               "%r = f32[64,8]{1,0} all-gather(%p), channel_id=1, replica_groups="
               "mesh['x'=2,'y'=4], device_ids=(7,6,5,4,3,2,1,0) {'x','y':(2)2}, dimensions={0}, "
               "use_global_device_ids=true"},
        Golden{"r = f32[1,8]{1,0} reduce-scatter(p), to_apply=sum, dimensions={0}, channel_id=1, "
               "use_global_device_ids=true, replica_groups={{0,1,2,3,4,5,6,7}}",
               "%r = f32[1,8]{1,0} reduce-scatter(%p), channel_id=1, replica_groups="
               "{{0,1,2,3,4,5,6,7}}, use_global_device_ids=true, dimensions={0}, to_apply=%sum"},
        Golden{"r = f32[8,8]{1,0} all-to-all(p), dimensions={1}, replica_groups=[2,4]<=[4,2]T(1,0)",
               "%r = f32[8,8]{1,0} all-to-all(%p), replica_groups=[2,4]<=[4,2]T(1,0), "
               "dimensions={1}"},
        Golden{"r = f32[8,8]{1,0} collective-permute(p), source_target_pairs={{0,1},{1,0}}, "
               "channel_id=2",
               "%r = f32[8,8]{1,0} collective-permute(%p), channel_id=2, "
               "source_target_pairs={{0,1},{1,0}}"},
        Golden{"r = f32[4,2]{1,0} slice(p), slice={[0:8:2], [1:3]}",
               "%r = f32[4,2]{1,0} slice(%p), slice={[0:8:2], [1:3:1]}"},
        Golden{"r = f32[8,2]{1,0} slice(p), slice={[0:8:1], [1:3]}",
               "%r = f32[8,2]{1,0} slice(%p), slice={[0:8], [1:3]}"},
        Golden{"r = f32[9,16]{1,0} pad(p, z), padding=0_1x-1_2_1",
               "%r = f32[9,16]{1,0} pad(%p, %z), padding=0_1_0x-1_2_1"},
        Golden{"r = f32[8,8]{1,0} dot(p, p), algorithm=DOT_BF16_BF16_F32, rhs_contracting_dims={0},"
               " operand_precision={Highest,default}, lhs_contracting_dims={1}, lhs_batch_dims={}",
               "%r = f32[8,8]{1,0} dot(%p, %p), lhs_contracting_dims={1}, "
               "rhs_contracting_dims={0}, operand_precision={highest,default}, "
               "algorithm=dot_bf16_bf16_f32"},
        Golden{"r = pred[8,8]{1,0} compare(p, p), type=FLOAT, direction=LT",
               "%r = pred[8,8]{1,0} compare(%p, %p), direction=LT"},
        Golden{"r = pred[8,8]{1,0} compare(p, p), type=TOTALORDER, direction=LT",
               "%r = pred[8,8]{1,0} compare(%p, %p), direction=LT, type=TOTALORDER"},
        Golden{"r = f32[2,8]{1,0} gather(p, i), slice_sizes={1,8}, index_vector_dim=1, "
               "start_index_map={0}, collapsed_slice_dims={0}, offset_dims={1}",
               "%r = f32[2,8]{1,0} gather(%p, %i), offset_dims={1}, collapsed_slice_dims={0}, "
               "start_index_map={0}, index_vector_dim=1, slice_sizes={1,8}"},
        Golden{"r = f32[4,4]{1,0} reduce-window(p, z), to_apply=sum, window={stride=2x2 size=2x2 "
               "rhs_reversal=0x0}",
               "%r = f32[4,4]{1,0} reduce-window(%p, %z), window={size=2x2 stride=2x2}, "
               "to_apply=%sum"},
        Golden{"r = f32[8,8]{1,0} custom-call(p), api_version=API_VERSION_TYPED_FFI, "
               "custom_call_target=\"it's\\n\", literal=( s32[2]{0} {1,2}, f32[] 3 ), "
               "custom_call_has_side_effect=true, operand_layout_constraints={f32[8,8]{1,0}}, "
               "backend_config=\"{a\"",
               "%r = f32[8,8]{1,0} custom-call(%p), custom_call_target=\"it\\'s\\n\", "
               "operand_layout_constraints={f32[8,8]{1,0}}, custom_call_has_side_effect=true, "
               "literal=( s32[2]{0} {1, 2}, f32[] 3 ), api_version=API_VERSION_TYPED_FFI, "
               "backend_config=\"{a\""},
        Golden{"r = f32[8,8]{1,0} sine(p), origin={{\"x\"}}, statistics={visualizing_index=0}, "
               "control-predecessors={z, %p}, result_accuracy={mode=highest}",
               "%r = f32[8,8]{1,0} sine(%p), result_accuracy={mode=highest}, "
               "control-predecessors={%z, %p}, statistics={visualizing_index=0}, "
               "origin={{\"x\"}}"},
        Golden{"r = f32[] conditional(c, z, z), branch_computations={{ x = f32[] parameter(0) }, "
               "{ x = f32[] parameter(0) }}",
               "%r = f32[] conditional(%c, %z, %z), "
               "branch_computations={%r.branch_computations, %r.branch_computations.1}"},
        Golden{"r = (f32[8,8]{1,0}, f32[]{:S(5)}, f32[], f32[], f32[], f32[]) "
               "tuple(p, z, z, z, z, z)",
               "%r = (f32[8,8]{1,0}, f32[]{:S(5)}, f32[], f32[], f32[], /*index=5*/f32[]) "
               "tuple(%p, %z, %z, %z, %z, /*index=5*/%z)"}));

TEST(GoldenPrintTest, SendAndDefaultsOfHostTransfers) {
  EXPECT_THAT(Reprint("ENTRY e { t = token[] after-all()\n p = f32[] parameter(0)\n"
                      " s = (f32[], u32[], token[]) send(p, t), is_host_transfer=true, "
                      "channel_id=2\n ROOT d = token[] send-done(s), channel_id=2, "
                      "is_host_transfer=true }"),
              HasSubstr("send(%p, %t), channel_id=2, is_host_transfer=true\n"));
}

}  // namespace
}  // namespace hv
