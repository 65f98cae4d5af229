// Random pairs: a module against itself is proved, and against itself with one step drawn anew a
// proof is never contradicted by a native run.
#include <gtest/gtest.h>

#include "hlo/parser.h"
#include "random_inputs.h"
#include "random_module.h"
#include "sim/run.h"
#include "sim/transport.h"
#include "verify/prover.h"

namespace hv {
namespace {

RandomModuleOptions Options(uint64_t seed, int steps) {
  RandomModuleOptions options;
  const std::vector<std::vector<std::string>> types = {
      {"s8", "u8", "pred"}, {"s32", "pred"}, {"f32"}, {"f32", "bf16"}};
  options.each.types = types[seed % types.size()];
  options.steps = steps;
  return options;
}

void NativeOutputs(const Module& module, const Mesh& mesh, uint64_t seed, bool small,
                    std::map<DeviceId, Value>* outputs) {
  const auto native = MakeNativeDomain();
  const auto transport = MakeLocalTransport();
  RunOptions run;
  run.transport = transport.get();
  run.domain = native.get();
  auto outcome = RunModule(
      module, mesh,
      [&](DeviceId d, int64_t p) -> Result<Value> {
        const Computation& entry = module.Entry();
        return RandomInput(entry.At(entry.parameters[static_cast<size_t>(p)]).shape, seed,
                           static_cast<uint64_t>(d.value * 8 + p), small);
      },
      run);
  EXPECT_TRUE(outcome.has_value());
  *outputs = std::move(outcome->outputs);
}

// Bit for bit, NaNs as one value; numerically if `bits` is false.
bool Agree(const Value& a, const Value& b, bool bits) {
  const ElementType type = a.shape()->type;
  if (!IsFloat(type)) return SameBits(a, b);
  for (int64_t i = 0; i < a.element_count(); ++i) {
    double x[2];
    for (const Value* v : {&a, &b}) {
      const size_t width = static_cast<size_t>(HostBytes(type));
      const std::byte* in = v->bytes().data() + static_cast<size_t>(i) * width;
      ScalarOp::Convert(type, ElementType::kF64)
          ->Run({&in, 1}, reinterpret_cast<std::byte*>(&x[v == &b ? 1 : 0]), 1);
    }
    if (std::isnan(x[0]) && std::isnan(x[1])) continue;
    // Beyond this, small inputs have met roundings.
    if (!bits && (std::isnan(x[0]) || std::isnan(x[1]) || std::fabs(x[0]) > 64)) continue;
    if (bits ? std::memcmp(&x[0], &x[1], sizeof(double)) != 0 : x[0] != x[1]) return false;
  }
  return true;
}

void ExpectNoContradiction(const RandomModule& a, const RandomModule& b, uint64_t seed,
                           const ProofResult& result) {
  auto before = ParseModule("a", a.text), after = ParseModule("b", b.text);
  for (uint64_t trial = 0; trial < 3; ++trial) {
    const bool bits = result.level == ProofLevel::kBitwise;
    std::map<DeviceId, Value> x, y;
    NativeOutputs(*before, a.mesh, seed * 16 + trial, !bits, &x);
    NativeOutputs(*after, a.mesh, seed * 16 + trial, !bits, &y);
    for (const auto& [device, value] : x) {
      const std::vector<Value> left = Leaves(value), right = Leaves(y.at(device));
      for (size_t i = 0; i < left.size(); ++i) {
        ASSERT_TRUE(Agree(left[i], right[i], bits))
            << "wrong proof (" << ToString(result.level) << ", " << result.sub_class << "), seed "
            << seed << ", device " << device.value << ", output " << i << "\n"
            << a.text << b.text;
      }
    }
  }
}

TEST(ProverRandom, AModuleIsProvedAgainstItself) {
  for (uint64_t seed = 0; seed < CasesToRun(500); ++seed) {
    const RandomModule random(seed, Options(seed, 10));
    auto module = ParseModule("m", random.text);
    ASSERT_TRUE(module.has_value()) << random.text;
    const ProofResult result = ProvePair(*module, *module, random.mesh, {});
    ASSERT_EQ(result.outcome, ProofOutcome::kProved) << result.reason << "\n" << random.text;
    ASSERT_EQ(result.level, ProofLevel::kBitwise) << random.text;
  }
}

TEST(ProverRandom, NoProofIsContradictedByARun) {
  uint64_t proved = 0, refused = 0;
  for (uint64_t seed = 0; seed < CasesToRun(3000); ++seed) {
    RandomModuleOptions options = Options(seed, 7);
    const RandomModule a(seed, options);
    options.mutate = static_cast<int>(seed % 7);
    const RandomModule b(seed, options);
    auto before = ParseModule("a", a.text), after = ParseModule("b", b.text);
    ASSERT_TRUE(before.has_value() && after.has_value()) << a.text << b.text;
    if (a.text == b.text || a.parameters != b.parameters ||
        !SameShape(*before->Entry().Root().shape, *after->Entry().Root().shape)) {
      continue;
    }
    const ProofResult result = ProvePair(*before, *after, a.mesh, {});
    ++(result.outcome == ProofOutcome::kProved ? proved : refused);
    if (result.outcome != ProofOutcome::kProved) continue;
    ExpectNoContradiction(a, b, seed, result);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(proved, 10u);
  EXPECT_GT(refused, 100u);
}

}  // namespace
}  // namespace hv
