// Groups of elementwise instructions: which ones form, and that their bits are those of one
// instruction at a time, on random graphs and for any number of threads.
#include "sim/fusion_plan.h"

#include <random>

#include "base/parallel.h"
#include "tests/unit/sim/sim_testing.h"

namespace hv {
namespace {

std::string Entry(const std::string& body) { return "HloModule m\nENTRY e {\n" + body + "\n}\n"; }

// The number of steps of ENTRY that run, by kind.
struct Steps {
  int64_t fused = 0, others = 0;
  friend bool operator==(const Steps&, const Steps&) = default;
};
Steps StepsOf(const std::string& text) {
  const Module module = ParseOrDie(text);
  const DeviceCounts counts = DeduceCounts(module);
  const Result<ModulePlan> plan =
      MakePlan(module, {counts.replicas, counts.partitions}, Fusion::kElementwise);
  Steps steps;
  for (const Step& step : plan->Entry().steps) {
    steps.fused += step.kind == StepKind::kFused ? 1 : 0;
    steps.others += step.kind != StepKind::kFused && step.kind != StepKind::kSkip ? 1 : 0;
  }
  const ComputationPlan& entry = plan->Entry();
  EXPECT_EQ(static_cast<int>(entry.order.size() + entry.pinned.size()), steps.fused + steps.others);
  return steps;
}

// Runs with an observer are not fused.
void ExpectSameBits(const std::string& text) {
  RunOptions observed;
  observed.observer = [](auto&&...) {};
  TestRun one_by_one(text, observed), fused(text);
  one_by_one.Run();
  fused.Run();
  ASSERT_EQ(one_by_one.error.has_value(), fused.error.has_value()) << text;
  if (one_by_one.error) {
    EXPECT_EQ(one_by_one.error->Message(), fused.error->Message()) << text;
    return;
  }
  for (const auto& [device, value] : one_by_one.outcome.outputs) {
    EXPECT_TRUE(SameBits(value, fused.outcome.outputs.at(device))) << text;
  }
}

TEST(Fusion, AChainIsOneLoopAndTakesItsLeavesIn) {
  EXPECT_EQ(StepsOf(Entry(R"(
  x = f32[4,3] parameter(0)  b = f32[3] parameter(1)  c = f32[] constant(2)
  cs = f32[4,3] broadcast(c), dimensions={}  bs = f32[4,3] broadcast(b), dimensions={1}
  i = s32[4,3] iota(), iota_dimension=0  f = f32[4,3] convert(i)
  y = f32[4,3] multiply(x, cs)  z = f32[4,3] add(y, bs)  l = pred[4,3] compare(z, f), direction=LT
  s = f32[4,3] select(l, y, z)  ROOT r = f32[12] reshape(s))")),
            (Steps{1, 1}));  // the constant is left
}

TEST(Fusion, WhatOthersReadIsComputedForItself) {
  EXPECT_EQ(StepsOf(Entry(R"(
  x = f32[4] parameter(0)  y = f32[4] negate(x)  z = f32[4] exponential(y)
  t = f32[4] slice(y), slice={[0:4]}  ROOT r = f32[4] add(z, t))")),
            (Steps{2, 1}));
  // Both arms leave the same value.
  EXPECT_EQ(StepsOf(Entry(R"(
  x = f32[4] parameter(0)  y = f32[4] negate(x)  a = f32[4] sine(y)  b = f32[4] cosine(y)
  ROOT r = (f32[4], f32[4]) tuple(a, b))")),
            (Steps{3, 1}));
}

// Each slice could be dropped after its sum: one loop over all would keep all of them.
TEST(Fusion, OperandsThatComeLaterAreNotWaitedFor) {
  EXPECT_EQ(StepsOf(Entry(R"(
  x = f32[9] parameter(0)  a = f32[4] slice(x), slice={[0:4]}  b = f32[4] slice(x), slice={[1:5]}
  s = f32[4] add(a, b)  c = f32[4] slice(x), slice={[2:6]}  t = f32[4] add(s, c)
  d = f32[4] slice(x), slice={[3:7]}  ROOT u = f32[4] add(t, d))")),
            (Steps{3, 4}));
  // One array in place of another is no loss.
  EXPECT_EQ(StepsOf(Entry(R"(
  x = f32[9] parameter(0)  a = f32[4] slice(x), slice={[0:4]}  n = f32[4] negate(a)
  c = f32[4] slice(x), slice={[2:6]}  ROOT t = f32[4] add(n, c))")),
            (Steps{1, 2}));
}

TEST(Fusion, ControlEdgesAndRefusedTypesStayAlone) {
  EXPECT_EQ(StepsOf(Entry(R"(
  x = f32[4] parameter(0)  y = f32[4] negate(x)  o = f32[4] sine(x), control-predecessors={y}
  z = f32[4] cosine(y)  ROOT r = f32[4] add(z, o))")),
            (Steps{1, 2}));
  EXPECT_EQ(StepsOf(Entry(R"(
  x = c64[4] parameter(0)  y = c64[4] negate(x)  ROOT r = f32[4] convert(y))")),
            (Steps{1, 1}));
}

TEST(Fusion, ManyOperandsMakeSeveralLoops) {
  std::string body, last = "p0";
  for (int k = 0; k < 40; ++k) {
    body += "  p" + std::to_string(k) + " = f32[8] parameter(" + std::to_string(k) + ")\n";
  }
  for (int k = 1; k < 40; ++k) {
    const std::string sum = "sum" + std::to_string(k);
    body += std::string(k == 39 ? "  ROOT " : "  ") + sum + " = f32[8] add(" + last + ", p" +
            std::to_string(k) + ")\n";
    last = sum;
  }
  EXPECT_EQ(StepsOf(Entry(body)), (Steps{3, 0}));
  ExpectSameBits(Entry(body));
}

// Random graphs over a few arrays: unary, binary, compare and select, converts, reshapes, leaves.
class RandomGraph {
 public:
  RandomGraph(uint32_t seed, int64_t rows, int64_t columns) : random_(seed) {
    dims_ = "[" + std::to_string(rows) + "," + std::to_string(columns) + "]";
    flat_ = "[" + std::to_string(rows * columns) + "]";
    rows_ = rows;
    columns_ = columns;
  }
  std::string Text(int size) {
    for (int k = 0; k < 4; ++k) Define(kTypes[k], "parameter(" + std::to_string(k) + ")");
    while (static_cast<int>(values_.size()) < size) AddOne();
    std::string names, shapes;
    for (size_t k = 0; k < 3; ++k) {
      const Item& item = values_[values_.size() - 1 - Pick(6)];
      names += (k > 0 ? ", " : "") + item.name;
      shapes += (k > 0 ? ", " : "") + item.type + dims_;
    }
    return Entry(body_ + "  ROOT out = (" + shapes + ") tuple(" + names + ")");
  }

 private:
  struct Item {
    std::string name, type;
  };
  static constexpr const char* kTypes[] = {"f32", "s32", "bf16", "pred", "f64", "s8", "f8e4m3fn"};

  size_t Pick(size_t count) { return random_() % count; }
  const Item& Any() { return values_[values_.size() - 1 - Pick(std::min<size_t>(9, values_.size()))]; }
  std::string Of(const std::string& type) {
    for (int attempt = 0; attempt < 30; ++attempt) {
      if (const Item& item = Any(); item.type == type) return item.name;
    }
    return Define(type, "convert(" + Any().name + ")");
  }
  std::string Define(const std::string& type, const std::string& op) {
    values_.push_back({"v" + std::to_string(values_.size()), type});
    body_ += "  " + values_.back().name + " = " + type + dims_ + " " + op + "\n";
    return values_.back().name;
  }
  void Leaf(const std::string& type) {
    const std::string name = "l" + std::to_string(values_.size());
    const size_t kind = Pick(4);
    if (kind == 3) {
      Define(type, "iota(), iota_dimension=" + std::to_string(Pick(2)));
      return;
    }
    const bool one = kind == 2;
    const std::string shape = one ? "[]" : "[" + std::to_string(kind == 0 ? rows_ : columns_) + "]";
    body_ += "  " + name + " = " + type + shape +
             (one ? " constant(" + std::string(type == "pred" ? "true" : "3") + ")\n"
                  : " iota(), iota_dimension=0\n");
    Define(type, "broadcast(" + name + "), dimensions={" + (one ? "" : std::to_string(kind)) + "}");
  }
  void AddOne() {
    const Item chosen = Any();
    const std::string& type = chosen.type;
    const bool number = type != "pred";
    const std::string other = Of(type);
    switch (Pick(10)) {
      case 0: Leaf(type == "pred" ? "s32" : type); break;
      case 1: Define(kTypes[Pick(7)], "convert(" + chosen.name + ")"); break;
      case 2: Define("pred", "compare(" + chosen.name + ", " + other + "), direction=LT"); break;
      case 3: Define(type, "select(" + Of("pred") + ", " + chosen.name + ", " + other + ")"); break;
      case 4: {
        const std::string name = "flat" + std::to_string(values_.size());
        body_ += "  " + name + " = " + type + flat_ + " reshape(" + chosen.name + ")\n";
        Define(type, "reshape(" + name + ")");
        break;
      }
      case 5: Define(type, (number ? "abs(" : "not(") + chosen.name + ")"); break;
      default: {
        const char* kOps[] = {"add", "subtract", "multiply", "maximum", "minimum"};
        Define(type, std::string(number ? kOps[Pick(5)] : "xor") + "(" + chosen.name + ", " + other +
                         ")");
      }
    }
  }

  std::mt19937 random_;
  int64_t rows_, columns_;
  std::string dims_, flat_, body_;
  std::vector<Item> values_;
};

TEST(Fusion, RandomGraphsHaveTheBitsOfSingleSteps) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const int64_t rows = seed % 3 == 0 ? 1 : 7 + seed, columns = seed % 4 == 0 ? 1 : 61;
    ExpectSameBits(RandomGraph(seed, rows, columns).Text(30));
  }
}

TEST(Fusion, ThreadsChangeNothing) {
  SetThreadCount(3);
  for (uint32_t seed = 0; seed < 4; ++seed) ExpectSameBits(RandomGraph(seed, 301, 257).Text(24));
  SetThreadCount(1);
}

// The sum reads what the conversion would have written: as many bits, half the bytes.
TEST(Fusion, ASumMakesTheConversionThatItAloneReads) {
  for (const auto& [from, to] : {std::pair("f32", "f64"), std::pair("bf16", "f32"),
                                 std::pair("f8e5m2", "f64"), std::pair("f16", "f32")}) {
    for (const char* dims : {"0", "1", "0,1"}) {
      const std::string_view kept = std::string_view(dims) == "0"   ? "700"
                                    : std::string_view(dims) == "1" ? "600"
                                                                    : "";
      const std::string type(to), sum = type + "[" + std::string(kept) + "]";
      ExpectSameBits("HloModule m\nsum { a = " + type + "[] parameter(0)  b = " + type +
                     "[] parameter(1)  ROOT r = " + type + "[] add(a, b) }\nENTRY e { x = " + from +
                     "[600,700] parameter(0)  w = " + type + "[600,700] convert(x)  z = " + type +
                     "[] constant(0.5)  ROOT s = " + sum + " reduce(w, z), dimensions={" + dims +
                     "}, to_apply=sum }");
    }
  }
}

}  // namespace
}  // namespace hv
