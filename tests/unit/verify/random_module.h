// Random small modules over a random mesh, as text. The same seed gives the same text everywhere;
// `mutate` redraws one step, which gives a module that may or may not mean the same.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "tests/fuzz/random_steps.h"

namespace hv {

struct RandomModuleOptions {
  RandomStepOptions each;
  int steps = 8;
  int mutate = -1;  // the step that is drawn anew
};

struct RandomModule {
  RandomModule(uint64_t seed, const RandomModuleOptions& options) {
    Draw draw(seed, 0);
    mesh = draw.Of(std::vector<Mesh>{{1, 2}, {1, 3}, {1, 4}, {2, 2}, {3, 1}});
    Sketch sketch;
    sketch.mesh = mesh;
    SketchWriter w(&sketch);
    RandomSteps random(&w, options.each);
    const std::string& type = draw.Of(options.each.types);
    for (parameters = draw.In(1, 2); random.items.size() < static_cast<size_t>(parameters);) {
      Extent dims;
      for (int64_t r = draw.Below(4); r > 0; --r) dims.push_back(draw.In(1, 4));
      random.Keep(w.Parameter(type, dims));
    }
    for (int step = 0; step < options.steps; ++step) {
      const bool anew = step == options.mutate;
      Draw own(seed + (anew ? 0x9E3779B97F4A7C15 : 0), static_cast<uint64_t>(step) + 1);
      random.Step(&own);
    }
    const size_t last = std::min<size_t>(random.items.size(), 3);
    w.Root(w.Tuple({random.items.end() - static_cast<std::ptrdiff_t>(last), random.items.end()}));
    text = sketch.Text();
  }

  std::string text;
  Mesh mesh;
  int64_t parameters = 0;
};

}  // namespace hv
