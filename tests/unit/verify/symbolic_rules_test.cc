// Every rule of the normal forms as laws in HLO: each is proved at the level that its rule says, on
// every type that it names, and whatever is proved, on any type, native runs of both sides agree.
// docs/proof.md names the same rules.
#include <gmock/gmock.h>

#include <fstream>
#include <map>
#include <set>

#include "proof_text.h"
#include "random_inputs.h"
#include "sim/run.h"
#include "sim/transport.h"

namespace hv {
namespace {

using Types = std::vector<std::string>;

const Types kInts = {"s8", "u8", "s32", "u32", "s64", "u64"};
const Types kIntsAndPred = {"s8", "u8", "s32", "u32", "s64", "u64", "pred"};
const Types kFloats = {"bf16", "f16", "f32", "f64"};
const Types kAll = {"s8",       "u8",        "s32",    "u32",        "s64",        "u64",
                    "pred",     "bf16",      "f16",    "f32",        "f64",        "s4",
                    "f8e4m3fn", "f8e8m0fnu", "f8e5m2", "f8e4m3fnuz", "f8e5m2fnuz", "f8e4m3b11fnuz",
                    "f4e2m1fn", "f8e3m4",    "u4",     "s16"};

// Texts over x, y, z: $[16]; p, q: pred[16]; k: s32[]; i: s32[2,1]; w: $[4,4]. The last line yields
// the root. `where`: computations that they call.
struct Law {
  std::string rule;
  std::string left, right;
  std::map<ProofLevel, Types> holds;
  std::string where = "";
};

const std::map<ProofLevel, Types> kExactTypes = {{ProofLevel::kBitwise, kIntsAndPred}};
const std::map<ProofLevel, Types> kRingTypes = {{ProofLevel::kBitwise, kInts},
                                                {ProofLevel::kReal, kFloats}};
const std::map<ProofLevel, Types> kRealTypes = {{ProofLevel::kReal, kFloats}};
const std::map<ProofLevel, Types> kSumTypes = {{ProofLevel::kBitwise, kInts},
                                               {ProofLevel::kReassociation, kFloats}};
const std::map<ProofLevel, Types> kLatticeTypes = {{ProofLevel::kBitwise, kIntsAndPred},
                                                   {ProofLevel::kReassociation, kFloats}};
const std::map<ProofLevel, Types> kEverywhere = {{ProofLevel::kBitwise, kAll}};

constexpr char kSum[] =
    "sum {\n  a = $[] parameter(0)\n  b = $[] parameter(1)\n  ROOT r = $[] add(a, b)\n}\n\n";
constexpr char kGreatest[] =
    "greatest {\n  a = $[] parameter(0)\n  b = $[] parameter(1)\n  ROOT r = $[] maximum(a, b)\n}\n\n";
constexpr char kSecond[] = "second {\n  a = $[] parameter(0)\n  ROOT b = $[] parameter(1)\n}\n\n";
constexpr char kBranches[] =
    "same {\n  a = $[16] parameter(0)\n  ROOT r = $[16] copy(a)\n}\n\n"
    "back {\n  a = $[16] parameter(0)\n  ROOT r = $[16] reverse(a), dimensions={0}\n}\n\n";

std::string Constant(const std::string& name, const std::string& value) {
  return name + "1 = $[] constant(" + value + ")\n" + name + " = $[16] broadcast(" + name +
         "1), dimensions={}\n";
}

std::vector<Law> Laws() {
  const std::string select = "a = $[16] select(p, x, y)\n";
  const std::string two = Constant("two", "2"), zero = Constant("zero", "0");
  const std::string one = Constant("one", "1");
  const std::string halves = "hx = bf16[16] convert(x)\nhy = bf16[16] convert(y)\n";
  const std::string scatter =
      ", i, u), update_window_dims={}, inserted_window_dims={0}, "
      "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum\n";
  const std::string update = "u = $[2] slice(z), slice={[0:2]}\n";
  const std::string window = "), window={size=3 pad=1_1}, to_apply=sum\n";
  return {
      {"ring", "s = $[16] add(x, y)\nr = $[16] multiply(s, z)",
       "a = $[16] multiply(z, x)\nb = $[16] multiply(y, z)\nr = $[16] add(b, a)", kRingTypes},
      {"ring", "r = $[16] subtract(x, x)", zero + "r = $[16] copy(zero)", kRingTypes},
      {"ring", "a = $[16] add(x, x)\nr = $[16] add(a, y)",
       two + "a = $[16] multiply(two, x)\nr = $[16] add(a, y)", kRingTypes},
      {"set",
       "a = $[16] maximum(x, y)\nr = $[16] maximum(a, x)",
       "r = $[16] maximum(y, x)",
       {{ProofLevel::kBitwise, kInts}, {ProofLevel::kReassociation, kFloats}}},
      {"set", "a = $[16] and(x, y)\nb = $[16] or(y, z)\nr = $[16] and(a, x)", "r = $[16] and(y, x)",
       kExactTypes},
      {"xor", "a = $[16] xor(x, y)\nr = $[16] xor(a, x)", "r = $[16] copy(y)", kExactTypes},
      {"commute", "r = $[16] add(x, y)", "r = $[16] add(y, x)", kEverywhere},
      {"commute", "r = $[16] multiply(x, y)", "r = $[16] multiply(y, x)", kEverywhere},
      {"unit",
       one + "r = $[16] multiply(one, x)",
       "r = $[16] copy(x)",
       {{ProofLevel::kBitwise, {"s8", "u32", "f32", "bf16", "f64", "pred", "f8e4m3fn"}}}},
      {"unit",
       one + "r = $[16] divide(x, one)",
       "r = $[16] copy(x)",
       {{ProofLevel::kBitwise, {"s8", "u32", "f32", "bf16", "f64", "f8e4m3fn"}}}},
      {"power-of-two",
       Constant("c", "-4") + "r = $[16] divide(x, c)",
       Constant("d", "-0.25") + "r = $[16] multiply(d, x)",
       {{ProofLevel::kBitwise, kFloats}}},
      {"sum", "r = $[16] subtract(x, y)", "n = $[16] negate(y)\nr = $[16] add(n, x)", kSumTypes},
      {"sum", zero + "r = $[16] add(x, zero)", "r = $[16] copy(x)", kSumTypes},
      {"sum", "a = $[16] add(x, y)\nr = $[16] add(a, z)",
       "a = $[16] add(z, y)\nr = $[16] add(x, a)", kSumTypes},
      {"zeros",
       zero + "a = $[16] add(x, zero)\nr = $[16] add(zero, a)",
       zero + "r = $[16] add(x, zero)",
       {{ProofLevel::kBitwise, kFloats}}},
      {"compare", "r = pred[16] compare(x, y), direction=GT",
       "r = pred[16] compare(y, x), direction=LT", kEverywhere},
      {"compare", "r = pred[16] compare(x, y), direction=NE",
       "r = pred[16] compare(y, x), direction=NE", kEverywhere},
      {"select", select + "r = $[16] select(q, a, a)", select + "r = $[16] copy(a)", kEverywhere},
      {"select",
       "t = pred[] constant(true)\nts = pred[16] broadcast(t), dimensions={}\n"
       "r = $[16] select(ts, x, y)",
       "r = $[16] copy(x)", kEverywhere},
      {"involution",
       "a = $[16] negate(x)\nr = $[16] negate(a)",
       "r = $[16] copy(x)",
       {{ProofLevel::kBitwise, {"s8", "u8", "s32", "f32", "bf16", "f64"}}}},
      {"involution", "a = $[16] not(x)\nr = $[16] not(a)", "r = $[16] copy(x)", kExactTypes},
      {"integer-convert",
       "a = s64[16] convert(x)\nr = s8[16] convert(a)",
       "r = s8[16] convert(x)",
       {{ProofLevel::kBitwise, {"s32", "u32", "u8", "s64"}}}},
      {"integer-convert",
       "a = u8[16] convert(x)\nr = s32[16] convert(a)",
       "r = s32[16] convert(x)",
       {{ProofLevel::kBitwise, {"pred"}}}},
      {"float-convert",
       "a = f32[16] convert(x)\nr = $[16] convert(a)",
       "r = $[16] copy(x)",
       {{ProofLevel::kBitwise, {"bf16", "f16", "f32"}}}},
      {"float-convert",
       "a = bf16[16] convert(x)\nr = $[16] convert(a)",
       "r = $[16] copy(x)",
       {{ProofLevel::kReal, {"f16", "f32", "f64"}}}},
      {"narrow",
       "a = f32[16] convert(x)\nb = f32[16] convert(y)\ns = f32[16] add(a, b)\nr = $[16] "
       "convert(s)",
       "r = $[16] add(x, y)",
       {{ProofLevel::kBitwise, {"bf16", "f16"}}}},
      {"narrow",
       "a = f32[16] convert(x)\nb = f32[16] convert(y)\ns = f32[16] multiply(a, b)\nr = $[16] "
       "convert(s)",
       "r = $[16] multiply(x, y)",
       {{ProofLevel::kBitwise, {"bf16", "f16"}}}},
      {"narrow",
       halves + "a = f32[16] convert(hx)\nb = f32[16] convert(hy)\ns = f32[16] divide(a, b)\n"
                "hq = bf16[16] convert(s)\nr = $[16] convert(hq)",
       halves + "hq = bf16[16] divide(hx, hy)\nr = $[16] convert(hq)",
       {{ProofLevel::kBitwise, kFloats}}},
      {"narrow",
       "a = f32[16] convert(x)\nb = f32[16] convert(y)\ns = f32[16] maximum(a, b)\nr = $[16] "
       "convert(s)",
       "r = $[16] maximum(x, y)",
       {{ProofLevel::kBitwise, {"bf16", "f16"}}}},
      {"shift",
       Constant("by", "3") + "r = $[16] shift-left(x, by)",
       Constant("e", "8") + "r = $[16] multiply(x, e)",
       {{ProofLevel::kBitwise, {"s32", "u32", "s64", "u64", "s16"}}}},
      {"shift",
       Constant("by", "7") + "r = $[16] shift-left(x, by)",
       Constant("by", "6") + two + "a = $[16] multiply(x, two)\nr = $[16] shift-left(a, by)",
       {{ProofLevel::kBitwise, kInts}}},
      {"low-bits",
       "a = s64[16] convert(x)\nb = s64[16] convert(y)\ns = s64[16] add(a, b)\n"
       "d = s64[16] multiply(s, a)\nr = $[16] convert(d)",
       "s = $[16] add(x, y)\nr = $[16] multiply(s, x)",
       {{ProofLevel::kBitwise, kInts}}},
      {"ring",
       Constant("a", "0.1") + Constant("b", "0.7") + Constant("c", "1.3") +
           "d = $[16] multiply(x, a)\ne = $[16] multiply(d, b)\nr = $[16] multiply(c, e)",
       Constant("a", "0.1") + Constant("b", "0.7") + Constant("c", "1.3") +
           "d = $[] multiply(b1, c1)\ne = $[] multiply(d, a1)\n"
           "f = $[16] broadcast(e), dimensions={}\nr = $[16] multiply(x, f)",
       {{ProofLevel::kReal, {"f32", "f64"}}}},
      {"reals", "r = $[16] rsqrt(x)", one + "a = $[16] sqrt(x)\nr = $[16] divide(one, a)",
       kRealTypes},
      {"reals", "r = $[16] logistic(x)",
       one + "a = $[16] negate(x)\nb = $[16] exponential(a)\nc = $[16] add(b, one)\n"
             "r = $[16] divide(one, c)",
       kRealTypes},
      {"reals",
       two + "a = $[16] exponential-minus-one(x)\nb = $[16] add(a, two)\nr = $[16] log-plus-one(b)",
       one + "a = $[16] exponential(x)\nb = $[16] add(a, one)\nc = $[16] add(one, b)\n"
             "r = $[16] log(c)",
       kRealTypes},
      {"reals", two + "r = $[16] power(x, two)", "r = $[16] multiply(x, x)", kRealTypes},
      {"reals", "a = $[16] divide(y, z)\nr = $[16] divide(x, a)",
       "a = $[16] multiply(x, z)\nr = $[16] divide(a, y)", kRealTypes},
      {"mask", zero + "r = $[16] select(p, x, zero)",
       "a = $[16] convert(p)\nr = $[16] multiply(a, x)", kRealTypes},
      {"mask", zero + "r = $[16] select(p, zero, x)",
       "a = pred[16] not(p)\nb = $[16] convert(a)\nr = $[16] multiply(b, x)", kRealTypes},
      {"bits",
       "a = f32[16] convert(x)\nb = u32[16] bitcast-convert(a)\nc = s32[16] bitcast(b)\n"
       "r = f32[16] bitcast-convert(c)",
       "r = f32[16] convert(x)", kEverywhere},
      {"bits", "a = u32[16] convert(x)\nr = s32[16] bitcast(a)", "r = s32[16] convert(x)",
       kExactTypes},
      {"select", "a = pred[16] compare(x, y), direction=LE\nr = $[16] select(a, x, z)",
       "a = pred[16] compare(y, x), direction=LT\nr = $[16] select(a, z, x)", kExactTypes},
      {"select", "a = pred[16] compare(x, y), direction=NE\nr = $[16] select(a, x, z)",
       "a = pred[16] compare(y, x), direction=EQ\nr = $[16] select(a, z, x)", kEverywhere},
      {"predicates", "r = pred[16] xor(p, q)", "r = pred[16] compare(p, q), direction=NE",
       kEverywhere},
      {"predicates", "a = pred[16] xor(p, q)\nr = pred[16] not(a)",
       "r = pred[16] compare(p, q), direction=EQ", kEverywhere},
      {"predicates", "a = pred[16] not(p)\nr = pred[16] xor(a, q)",
       "a = pred[16] not(q)\nr = pred[16] compare(p, a), direction=NE", kEverywhere},
      {"predicates", "a = pred[16] and(p, q)\nr = pred[16] not(a)",
       "a = pred[16] not(p)\nb = pred[16] not(q)\nr = pred[16] maximum(a, b)", kEverywhere},
      {"predicates", "r = pred[16] compare(p, q), direction=LT",
       "a = pred[16] not(p)\nr = pred[16] minimum(a, q)", kEverywhere},
      {"predicates", "r = pred[16] compare(p, q), direction=GE",
       "a = pred[16] not(q)\nr = pred[16] or(a, p)", kEverywhere},
      {"predicates", "a = pred[16] compare(x, y), direction=EQ\nr = pred[16] not(a)",
       "r = pred[16] compare(x, y), direction=NE", kEverywhere},
      {"predicates", "a = pred[16] compare(x, y), direction=LT\nr = pred[16] not(a)",
       "r = pred[16] compare(x, y), direction=GE", kExactTypes},
      {"select", "a = pred[16] not(p)\nr = $[16] select(a, x, y)", "r = $[16] select(p, y, x)",
       kEverywhere},
      {"not-a-number",
       Constant("n", "nan") + "r = $[16] maximum(x, n)",
       Constant("n", "nan") + "r = $[16] minimum(n, y)",
       {{ProofLevel::kBitwise, kFloats}}},
      {"complex",
       "c = c64[16] complex(x, y)\nm = f32[16] imag(c)\nn = f32[16] negate(m)\n"
       "e = f32[16] real(c)\nd = c64[16] complex(e, n)\nf = f32[16] imag(d)\n"
       "r = f32[16] negate(f)",
       "r = f32[16] copy(y)",
       {{ProofLevel::kBitwise, {"f32"}}}},
      {"complex",
       "c = c64[16] complex(x, y)\ne = c64[16] multiply(c, c)\na = f32[16] real(e)\n"
       "b = f32[16] imag(e)\nd = c64[16] complex(a, b)\nr = f32[16] imag(d)",
       "c = c64[16] complex(x, y)\ne = c64[16] multiply(c, c)\nr = f32[16] imag(e)",
       {{ProofLevel::kBitwise, {"f32"}}}},
      {"clamp",
       Constant("c1", "1") + Constant("c3", "3") + Constant("c5", "5") +
           "r = $[16] clamp(c1, c5, c3)",
       Constant("c3", "3") + "r = $[16] copy(c3)",
       {{ProofLevel::kBitwise, kInts}}},
      {"clamp",
       "r = $[16] clamp(x, y, z)",
       "a = $[16] maximum(x, y)\nr = $[16] minimum(z, a)",
       {{ProofLevel::kBitwise, kInts}, {ProofLevel::kReassociation, kFloats}}},
      {"range",
       Constant("three", "3") + Constant("four", "4") +
           "a = $[16] and(x, three)\nr = pred[16] compare(a, four), direction=LT",
       "t = pred[] constant(true)\nr = pred[16] broadcast(t), dimensions={}",
       {{ProofLevel::kBitwise, kInts}}},
      {"range",
       one + "a = $[16] add(x, one)\nr = pred[16] compare(a, x), direction=GT",
       "t = pred[] constant(true)\nr = pred[16] broadcast(t), dimensions={}",
       {}},  // wraps
      {"range",
       two + "a = $[16] remainder(x, two)\nr = $[16] minimum(a, two)",
       two + "r = $[16] remainder(x, two)",
       {{ProofLevel::kBitwise, kInts}}},
      {"window",
       "a = $[14] dynamic-slice(x, k), dynamic_slice_sizes={14}\n"
       "r = $[3] slice(a), slice={[5:8]}",
       "lo = s32[] constant(0)\nhi = s32[] constant(2)\nc = s32[] clamp(lo, k, hi)\n"
       "b = $[11] slice(x), slice={[5:16]}\nr = $[3] dynamic-slice(b, c), dynamic_slice_sizes={3}",
       kEverywhere},
      {"branch",
       "h = s32[] constant(0)\nc = pred[] compare(k, h), direction=LT\n"
       "r = $[16] conditional(c, x, y), true_computation=same, false_computation=back",
       "h = s32[] constant(0)\nc = pred[] compare(k, h), direction=LT\n"
       "b = $[16] reverse(y), dimensions={0}\ncs = pred[16] broadcast(c), dimensions={}\n"
       "r = $[16] select(cs, x, b)",
       kEverywhere, kBranches},
      {"cases",
       select + "b = $[16] select(p, y, x)\nr = $[16] add(a, b)",
       "r = $[16] add(x, y)",
       {{ProofLevel::kBitwise, {"s8", "u64", "f32", "bf16", "f64"}}}},
      {"cases", select + "n = pred[16] not(p)\nr = $[16] select(n, y, a)", "r = $[16] copy(a)", {}},
      {"cases", select + "r = $[16] select(p, a, y)", select + "r = $[16] copy(a)", kEverywhere},
      {"scatter", update + "s = $[16] scatter(x" + scatter + "r = $[16] add(s, y)",
       update + zero + "t = $[16] add(y, x)\ns = $[16] scatter(zero" + scatter +
           "r = $[16] add(t, s)",
       kSumTypes, kSum},
      {"moves",
       "j = s32[3,1] constant({{0},{3},{0}})\na = $[3,4] slice(w), slice={[0:3], [0:4]}\n"
       "v = $[4,4] reshape(x)\nr = $[4,4] scatter(v, j, a), update_window_dims={1}, "
       "inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, "
       "to_apply=second",
       "v = $[4,4] reshape(x)\na = $[1,4] slice(w), slice={[2:3], [0:4]}\n"
       "b = $[2,4] slice(v), slice={[1:3], [0:4]}\nc = $[1,4] slice(w), slice={[1:2], [0:4]}\n"
       "r = $[4,4] concatenate(a, b, c), dimensions={0}",
       kEverywhere, kSecond},
      {"digits",
       "h = $[] constant(0)\nt = $[4,4] transpose(w), dimensions={1,0}\n"
       "r = $[] reduce(t, h), dimensions={0,1}, to_apply=sum",
       "h = $[] constant(0)\nt = $[4,4] reverse(w), dimensions={0}\nf = $[16] reshape(t)\n"
       "r = $[] reduce(f, h), dimensions={0}, to_apply=sum",
       kSumTypes, kSum},
      {"ranges", "h = $[] constant(0)\nr = $[] reduce(x, h), dimensions={0}, to_apply=sum",
       "h = $[] constant(0)\na = $[5] slice(x), slice={[0:5]}\nb = $[11] slice(x), slice={[5:16]}\n"
       "s = $[] reduce(b, h), dimensions={0}, to_apply=sum\n"
       "t = $[] reduce(a, h), dimensions={0}, to_apply=sum\nr = $[] add(s, t)",
       kSumTypes, kSum},
      {"ranges", "h = $[] constant(0)\nr = $[] reduce(x, h), dimensions={0}, to_apply=greatest",
       "h = $[] constant(0)\na = $[9] slice(x), slice={[0:9]}\nb = $[11] slice(x), slice={[5:16]}\n"
       "s = $[] reduce(b, h), dimensions={0}, to_apply=greatest\n"
       "t = $[] reduce(a, h), dimensions={0}, to_apply=greatest\nr = $[] maximum(s, t)",
       kLatticeTypes, kGreatest},
      {"positions",
       "h = $[] constant(0)\nr = $[16] reduce-window(x, h), window={size=3 pad=1_1}, to_apply=sum",
       "h = $[] constant(0)\na = $[18] pad(x, h), padding=1_1\nb = $[16] slice(a), slice={[0:16]}\n"
       "c = $[16] slice(a), slice={[1:17]}\nd = $[16] slice(a), slice={[2:18]}\n"
       "t = $[16] add(b, c)\nr = $[16] add(t, d)",
       kSumTypes, kSum},
      {"positions",
       "a = $[1,16,1] reshape(x)\nb = $[3] slice(y), slice={[0:3]}\nf = $[3,1,1] reshape(b)\n"
       "r = $[1,16,1] convolution(a, f), window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f",
       "a = $[1,16,1] reshape(x)\nb = $[3] slice(y), slice={[0:3]}\nc = $[3] reverse(b), "
       "dimensions={0}\nf = $[3,1,1] reshape(c)\nr = $[1,16,1] convolution(a, f), "
       "window={size=3 pad=1_1 rhs_reversal=1}, dim_labels=b0f_0io->b0f",
       {{ProofLevel::kReassociation, kFloats}}},
      {"positions",
       "a = $[4,4] reshape(x)\nr = $[4,4] dot(w, a), lhs_contracting_dims={1}, "
       "rhs_contracting_dims={0}",
       "a = $[4,4] reshape(x)\nr = $[4,4] convolution(w, a), dim_labels=bf_io->bf",
       {{ProofLevel::kReassociation, kFloats}}},
      {"positions",
       "h = $[] constant(0)\nr = $[4] reduce-window(x, h), window={size=4 stride=4}, "
       "to_apply=greatest",
       "h = $[] constant(0)\na = $[4,4] reshape(x)\n"
       "r = $[4] reduce(a, h), dimensions={1}, to_apply=greatest",
       kLatticeTypes, kGreatest},
      {"positions",
       "h = $[] constant(0)\na = $[15] reduce-window(x, h), window={size=2}, to_apply=greatest\n"
       "r = $[14] reduce-window(a, h), window={size=2}, to_apply=greatest",
       "h = $[] constant(0)\nr = $[14] reduce-window(x, h), window={size=3}, to_apply=greatest",
       kLatticeTypes, kGreatest},
      {"factors",
       "a = $[16] add(x, y)\nr = $[] dot(a, z), lhs_contracting_dims={0}, "
       "rhs_contracting_dims={0}",
       "a = $[] dot(x, z), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
       "b = $[] dot(y, z), lhs_contracting_dims={0}, rhs_contracting_dims={0}\nr = $[] add(b, a)",
       kRingTypes},
      {"opaque",
       "h = $[] constant(0)\na = $[16] add(x, y)\nr = $[16] reduce-window(a, h" + window,
       "h = $[] constant(0)\na = $[16] add(y, x)\nr = $[16] reduce-window(a, h" + window,
       {{ProofLevel::kBitwise, {"s8", "s32", "f32", "bf16", "f64"}}},
       kSum},
      {"constants",
       two + Constant("three", "3") + "a = $[16] multiply(two, three)\nr = $[16] divide(x, a)",
       Constant("six", "6") + "r = $[16] divide(x, six)",
       {{ProofLevel::kBitwise, {"s8", "u32", "f32", "bf16"}}}},
  };
}

std::string Module(const Law& law, std::string body, const std::string& type) {
  if (body.back() == '\n') body.pop_back();
  const size_t root = body.rfind('\n') == std::string::npos ? 0 : body.rfind('\n') + 1;
  body.insert(root, "ROOT ");
  std::string text = law.where +
                     "ENTRY main {\nx = $[16] parameter(0)\ny = $[16] parameter(1)\n"
                     "z = $[16] parameter(2)\np = pred[16] parameter(3)\nq = pred[16] "
                     "parameter(4)\nk = s32[] parameter(5)\ni = s32[2,1] parameter(6)\n"
                     "w = $[4,4] parameter(7)\n" +
                     body + "\n}\n";
  for (size_t at = text.find('$'); at != std::string::npos; at = text.find('$', at)) {
    text.replace(at, 1, type);
  }
  return "HloModule law\n\n" + text;
}

Value Run(const hv::Module& module, uint64_t seed, bool small) {
  const auto native = MakeNativeDomain();
  const auto transport = MakeLocalTransport();
  RunOptions run;
  run.transport = transport.get();
  run.domain = native.get();
  auto outcome = RunModule(
      module, {1, 1},
      [&](DeviceId, int64_t p) -> Result<Value> {
        const Computation& entry = module.Entry();
        return RandomInput(entry.At(entry.parameters[static_cast<size_t>(p)]).shape, seed,
                           static_cast<uint64_t>(p), small);
      },
      run);
  EXPECT_TRUE(outcome.has_value()) << FormatError(outcome.error());
  return outcome->outputs.at(DeviceId(0));
}

double NumberAt(const Value& value, int64_t i) {
  double x = 0;
  const size_t width = static_cast<size_t>(HostBytes(value.shape()->type));
  const std::byte* in = value.bytes().data() + static_cast<size_t>(i) * width;
  ScalarOp::Convert(value.shape()->type, ElementType::kF64)
      ->Run({&in, 1}, reinterpret_cast<std::byte*>(&x), 1);
  return x;
}

// Bits, NaNs being one value; or numbers, that differ by at most `rounding` of themselves.
bool Agree(const Value& a, const Value& b, bool bits, double rounding) {
  if (SameBits(a, b)) return true;
  if (!IsFloat(a.shape()->type)) return false;
  for (int64_t i = 0; i < a.element_count(); ++i) {
    const double x = NumberAt(a, i), y = NumberAt(b, i);
    if (std::isnan(x) && std::isnan(y)) continue;
    const double apart = x == y ? 0 : std::fabs(x - y) / std::max(std::fabs(x), std::fabs(y));
    if (!(apart <= rounding) || (bits && std::signbit(x) != std::signbit(y))) return false;
  }
  return true;
}

// Below `bitwise` sides may round apart, so numbers that do not round are compared, in types that
// hold them.
void ExpectNoContradiction(const hv::Module& left, const hv::Module& right, ProofLevel level,
                           const std::string& type, double rounding) {
  const bool bits = level == ProofLevel::kBitwise;
  if (!bits && type != "f32" && type != "f64") return;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    ASSERT_TRUE(Agree(Run(left, seed, !bits), Run(right, seed, !bits), bits, rounding)) << "seed " << seed;
  }
}

TEST(Rules, LawsHoldWhereTheySayAndNoProofIsWrong) {
  int proofs = 0;
  for (const Law& law : Laws()) {
    for (const std::string& type : kAll) {
      SCOPED_TRACE(law.rule + " on " + type + ":\n" + law.left + "\n=\n" + law.right);
      auto left = ParseModule("left", Module(law, law.left, type));
      auto right = ParseModule("right", Module(law, law.right, type));
      const bool valid = left && right && Validate(*left) && Validate(*right);
      const ProofResult result = valid ? ProvePair(*left, *right, {1, 1}, {}) : ProofResult{};
      for (const auto& [level, types] : law.holds) {
        if (std::find(types.begin(), types.end(), type) == types.end()) continue;
        if (!valid && types == kAll) continue;  // the op does not have the type
        ASSERT_TRUE(left.has_value()) << FormatError(left.error());
        ASSERT_TRUE(right.has_value()) << FormatError(right.error());
        EXPECT_TRUE(IsProved(result)) << result.reason;
        EXPECT_EQ(ToString(result.level), ToString(level));
      }
      if (!IsProved(result)) continue;
      ++proofs;
      const double rounding = law.rule == "reals" || law.rule == "ring" ? 1e-5 : 0;
      ExpectNoContradiction(*left, *right, result.level, type, rounding);
    }
  }
  EXPECT_GT(proofs, 300);
}

// The first cells of the table of rules.
std::set<std::string> RulesInTheDocument() {
  std::ifstream in(std::string(HV_SOURCE_DIR) + "/docs/proof.md");
  std::set<std::string> names;
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("## ")) inside = line.starts_with("## Rules");
    if (!inside || !line.starts_with("| `")) continue;
    names.insert(line.substr(3, line.find('`', 3) - 3));
  }
  return names;
}

TEST(Rules, TheDocumentNamesTheRulesThatAreTested) {
  std::set<std::string> tested;
  for (const Law& law : Laws()) tested.insert(law.rule);
  EXPECT_EQ(RulesInTheDocument(), tested);
}

}  // namespace
}  // namespace hv
