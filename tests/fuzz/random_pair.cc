#include "tests/fuzz/random_pair.h"

#include "tests/fuzz/random_steps.h"

namespace hv {
namespace {

constexpr uint64_t kLawStream = 1000;

void Finish(SketchWriter* w, std::vector<SketchValue> results) {
  w->Root(w->Tuple(results));
}

// What both sides share: the same draws give the same common steps and the same laws.
struct Plan {
  Mesh mesh;
  std::string type;
  int64_t steps = 0;  // common ones before each law
  std::vector<const Law*> laws;
};

Plan DrawPlan(uint64_t seed) {
  static const std::vector<Mesh> meshes = {{1, 2}, {1, 3}, {1, 4}, {2, 2}, {3, 1}, {4, 1},
                                           {2, 3}, {3, 2}, {1, 6}, {1, 8}, {4, 2}};
  static const std::vector<std::string> types = {"f32", "f32", "f32", "s32", "s8", "u8",
                                                 "pred", "bf16"};
  Draw draw(seed, 0);
  Plan plan{draw.Of(meshes), draw.Of(types), draw.Below(3), {}};
  const int64_t count = plan.type == "bf16" ? 1 : draw.In(1, 2);
  while (static_cast<int64_t>(plan.laws.size()) < count) {
    const Law& law = Laws()[static_cast<size_t>(draw.Below(static_cast<int64_t>(Laws().size())))];
    if (Suits(law.types, plan.type)) plan.laws.push_back(&law);
  }
  return plan;
}

Sketch Write(const Plan& plan, bool after, uint64_t seed, std::vector<std::string>* laws) {
  Sketch sketch;
  sketch.mesh = plan.mesh;
  SketchWriter w(&sketch);
  RandomStepOptions options;
  options.types = {plan.type};
  if (plan.type == "s32" || plan.type == "s8") options.types.push_back("u8");
  options.exact_floats = true;
  options.float_products = false;
  RandomSteps steps(&w, options);
  steps.Keep(w.Parameter(plan.type, {3, 2}));
  std::vector<SketchValue> results;
  uint64_t stream = 1;
  for (const Law* law : plan.laws) {
    for (int64_t i = 0; i < plan.steps; ++i) {
      Draw draw(seed, stream++);
      steps.Step(&draw);
    }
    const bool bare = plan.type == "bf16";  // sums of sums would round
    LawContext context(&w, after, plan.type, Draw(seed, kLawStream + stream++),
                       bare ? std::vector<SketchValue>() : steps.items);
    if (!law->write(context)) continue;
    laws->emplace_back(law->name);
    for (const SketchValue& value : context.results) {
      steps.Keep(value);
      results.push_back(value);
    }
  }
  results.push_back(steps.items.back());
  Finish(&w, results);
  return sketch;
}

}  // namespace

std::optional<SketchPair> PairOfLaw(const Law& law, const Mesh& mesh, const std::string& type,
                                    uint64_t seed) {
  if (!Suits(law.types, type)) return std::nullopt;
  const bool swapped = Draw(seed, 0).OneIn(2);
  SketchPair pair{{}, {}, {std::string(law.name)}, type};
  for (const bool after : {false, true}) {
    Sketch& sketch = after != swapped ? pair.after : pair.before;
    sketch.mesh = mesh;
    SketchWriter w(&sketch);
    LawContext context(&w, after, type, Draw(seed, kLawStream), {});
    if (!law.write(context)) return std::nullopt;
    Finish(&w, context.results);
  }
  return pair;
}

SketchPair RandomPair(uint64_t seed) {
  const Plan plan = DrawPlan(seed);
  SketchPair pair;
  pair.type = plan.type;
  pair.before = Write(plan, false, seed, &pair.laws);
  pair.laws.clear();
  pair.after = Write(plan, true, seed, &pair.laws);
  if (Draw(seed, 1).OneIn(2)) std::swap(pair.before, pair.after);
  return pair;
}

}  // namespace hv
