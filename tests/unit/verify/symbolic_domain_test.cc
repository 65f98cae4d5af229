// Random modules run natively and on terms: the terms, evaluated at the inputs, must give the
// native outputs. This checks every rule of the normal forms, all movement and the collectives at
// once.
#include "verify/symbolic_domain.h"

#include <gtest/gtest.h>

#include <cmath>

#include "hlo/parser.h"
#include "hlo/validator.h"
#include "random_inputs.h"
#include "random_module.h"
#include "sim/run.h"
#include "sim/transport.h"
#include "symbolic_evaluator.h"
#include "verify/lockstep.h"

namespace hv {
namespace {

std::string NameOf(DeviceId device, int64_t parameter) {
  return std::to_string(parameter) + "@" + std::to_string(device.value);
}

struct Experiment {
  RandomModuleOptions options;
  Strictness strictness = Strictness::kBitwise;
  bool small = false;         // inputs; floats are then compared as numbers
  double largest = INFINITY;  // beyond this magnitude sums round: not compared
};

bool Same(const Element& a, const Element& b, ElementType canonical, ElementType native,
          bool bits) {
  const Element want = SymbolicEvaluator::Converted(native, b, canonical);
  if (!IsFloat(canonical)) return a == want;
  const double x = SymbolicEvaluator::ToDouble(a, canonical);
  const double y = SymbolicEvaluator::ToDouble(want, canonical);
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
  return bits ? std::memcmp(&x, &y, sizeof x) == 0 : x == y;
}

// The arrays of all devices as one, under the names that a run in lockstep gives them.
std::map<std::string, Value> Together(const std::map<std::string, Value>& inputs,
                                      const Module& module, const Mesh& mesh) {
  std::map<std::string, Value> together;
  const size_t parameters = module.Entry().parameters.size();
  for (size_t p = 0; p < parameters; ++p) {
    const Shape& shape = *module.Entry().At(module.Entry().parameters[p]).shape;
    std::vector<int64_t> dims = {mesh.devices()};
    dims.insert(dims.end(), shape.dims.begin(), shape.dims.end());
    Value all = Value::NewNative(module.context->shapes.Array(shape.type, dims));
    std::byte* out = all.MutableBytes().data();
    for (int64_t d = 0; d < mesh.devices(); ++d) {
      const auto own = inputs.at(NameOf(DeviceId(d), static_cast<int64_t>(p))).bytes();
      out = std::copy(own.begin(), own.end(), out);
    }
    together["parameter " + std::to_string(p) + ".0 of all devices"] = std::move(all);
  }
  return together;
}

// The terms of all devices at once, where the module runs so, against the native outputs.
void CheckLockstep(const Module& module, const RandomModule& random, const Experiment& experiment,
                   const std::map<std::string, Value>& inputs,
                   const std::map<DeviceId, Value>& expected, int64_t* ran) {
  SymbolicDomain domain(experiment.strictness, 10000);
  Lockstep lockstep(&domain, module, random.mesh, {});
  const auto outputs = lockstep.Run();
  if (!outputs) return;
  ++*ran;
  SymbolicEvaluator evaluator(&domain, Together(inputs, module, random.mesh));
  for (size_t i = 0; i < outputs->size(); ++i) {
    const int64_t count = (*outputs)[i].count;
    const auto elements = evaluator.Evaluate((*outputs)[i].tensor, count * random.mesh.devices());
    EXPECT_TRUE(evaluator.covers()) << random.text;
    for (const auto& [device, value] : expected) {
      const Value leaf = Leaves(value)[i];
      const ElementType type = leaf.shape()->type;
      for (int64_t k = 0; k < count; ++k) {
        const Element want = SymbolicEvaluator::Read(leaf.bytes(), type, k);
        if (!Same(elements[static_cast<size_t>(device.value * count + k)], want,
                  domain.algebra().Canonical(type), type, !experiment.small)) {
          ADD_FAILURE() << "in lockstep, device " << device.value << ", output " << i
                        << ", element " << k << "\n"
                        << random.text;
          return;
        }
      }
    }
  }
}

int64_t lockstep_runs = 0;

// Returns false if the module was not comparable.
bool Check(uint64_t seed, const Experiment& experiment) {
  const RandomModule random(seed, experiment.options);
  auto module = ParseModule("random", random.text);
  EXPECT_TRUE(module.has_value()) << FormatError(module.error()) << random.text;
  if (!module) return false;
  const Status valid = Validate(*module);
  EXPECT_TRUE(valid.has_value()) << FormatError(valid.error()) << random.text;
  if (!valid) return false;

  std::map<std::string, Value> inputs;
  const auto native_input = [&](DeviceId d, int64_t p) -> Result<Value> {
    const Computation& entry = module->Entry();
    const Shape* shape = entry.At(entry.parameters[static_cast<size_t>(p)]).shape;
    const Value value =
        RandomInput(shape, seed, static_cast<uint64_t>(d.value * 8 + p) + 1000, experiment.small);
    inputs[NameOf(d, p)] = value;
    return value;
  };
  const auto native = MakeNativeDomain();
  const auto transport = MakeLocalTransport();
  RunOptions run;
  run.transport = transport.get();
  run.domain = native.get();
  auto expected = RunModule(*module, random.mesh, native_input, run);
  EXPECT_TRUE(expected.has_value()) << FormatError(expected.error()) << random.text;
  if (!expected) return false;

  SymbolicDomain domain(experiment.strictness, 10000);
  run.domain = &domain;
  auto terms = RunModule(
      *module, random.mesh,
      [&](DeviceId d, int64_t p) -> Result<Value> {
        const Computation& entry = module->Entry();
        return domain.Unknown(entry.At(entry.parameters[static_cast<size_t>(p)]).shape,
                              NameOf(d, p));
      },
      run);
  EXPECT_TRUE(terms.has_value()) << FormatError(terms.error()) << random.text;
  if (!terms) return false;

  SymbolicEvaluator evaluator(&domain, inputs);
  for (const auto& [device, value] : expected->outputs) {
    const std::vector<Value> leaves = Leaves(value);
    const std::vector<SymbolicTensor> tensors = domain.LeavesOf(terms->outputs.at(device));
    for (size_t i = 0; i < leaves.size(); ++i) {
      const Shape& shape = *leaves[i].shape();
      const ElementType canonical = domain.algebra().Canonical(shape.type);
      const auto elements = evaluator.Evaluate(tensors[i], shape.element_count);
      EXPECT_TRUE(evaluator.covers()) << random.text;
      for (int64_t k = 0; k < shape.element_count; ++k) {
        const Element want = SymbolicEvaluator::Read(leaves[i].bytes(), shape.type, k);
        if (IsFloat(shape.type) &&
            std::fabs(SymbolicEvaluator::ToDouble(want, shape.type)) > experiment.largest) {
          return false;
        }
        if (!Same(elements[static_cast<size_t>(k)], want, canonical, shape.type,
                  !experiment.small)) {
          ADD_FAILURE() << "seed " << seed << ", device " << device.value << ", output " << i
                        << ", element " << k << "\n"
                        << random.text;
          return false;
        }
      }
    }
  }
  CheckLockstep(*module, random, experiment, inputs, expected->outputs, &lockstep_runs);
  return true;
}

void CheckMany(const Experiment& experiment, uint64_t first, uint64_t count) {
  uint64_t compared = 0;
  lockstep_runs = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    compared += Check(seed, experiment) ? 1 : 0;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(compared, count / 2);
  EXPECT_GT(lockstep_runs, static_cast<int64_t>(count / 20));
}

TEST(SymbolicDomain, IntegersBitForBit) { CheckMany({}, 0, CasesToRun(3000)); }

TEST(SymbolicDomain, FloatsBitForBit) {
  Experiment experiment;
  experiment.options.each.types = {"f32", "bf16", "f64"};
  experiment.options.each.float_reductions = false;
  CheckMany(experiment, 100000, CasesToRun(3000));
}

TEST(SymbolicDomain, MixedTypesBitForBit) {
  Experiment experiment;
  experiment.options.each.types = {"f32", "s32", "pred", "u8"};
  experiment.options.each.float_reductions = false;
  experiment.options.steps = 14;
  CheckMany(experiment, 200000, CasesToRun(3000));
}

TEST(SymbolicDomain, FloatSumsUpToOrder) {
  Experiment experiment;
  experiment.options.each.types = {"f32", "f64"};
  experiment.options.each.exact_floats = true;
  experiment.small = true;
  experiment.largest = 1 << 20;
  for (const Strictness strictness : {Strictness::kReassociation, Strictness::kNestedSums,
                                      Strictness::kReal, Strictness::kRoundedConstant}) {
    experiment.strictness = strictness;
    CheckMany(experiment, 300000, CasesToRun(3000));
  }
}

}  // namespace
}  // namespace hv
