// Mutants 46 to 60 but for groups: what is reduced, in which type, in whose order.
#include <algorithm>

#include "tests/fuzz/mutants.h"

namespace hv {
namespace {

std::string FunctionOf(const SketchStep& step) {
  const std::string& name = *step.Find("to_apply");
  return name.substr(0, name.find('_'));
}

size_t At(int64_t i) { return static_cast<size_t>(i); }

// Members of the group of every device, and its place there, if all groups are equal and ids are
// devices.
std::optional<std::vector<int64_t>> Places(MutantSite& s, int64_t* size) {
  const SketchGroups& groups = *s.step().groups;
  const int64_t devices = s.sketch.mesh.devices();
  if (!groups.global && !(s.sketch.mesh.partitions == 1 && !groups.channel)) return std::nullopt;
  *size = static_cast<int64_t>(groups.ids[0].size());
  std::vector<int64_t> places(At(devices), 0);
  for (const std::vector<int64_t>& group : groups.ids) {
    if (static_cast<int64_t>(group.size()) != *size) return std::nullopt;
    for (size_t i = 0; i < group.size(); ++i) places[At(group[i])] = static_cast<int64_t>(i);
  }
  return places;
}

// The operand as gathered: [members, ...].
SketchValue Gathered(MutantSite& s, SketchWriter* w, int64_t size) {
  const SketchValue x = s.Operand(0);
  Extent stacked = x.dims;
  stacked.insert(stacked.begin(), 1);
  const SketchGroups groups = *s.step().groups;
  return w->AllGather(w->Op("reshape", x.type, stacked, {x}), groups, 0, size);
}

// The rows of `all`, added one after the other: a reduce would leave the order open.
SketchValue SumInOrder(SketchWriter* w, const SketchValue& all) {
  SketchValue sum;
  for (int64_t row = 0; row < all.dims[0]; ++row) {
    const SketchValue part = w->Op("reshape", all.type, {all.dims.begin() + 1, all.dims.end()},
                                   {w->Slice(all, 0, row, row + 1)});
    sum = row == 0 ? part : w->Binary("add", sum, part);
  }
  return sum;
}

// A sum of floats; of one value several times, an all-reduce of an all-reduce, every order gives
// the same.
bool IsPlainFloatSum(MutantSite& s) {
  if (s.Def(0)->opcode == "all-reduce") return false;
  return !s.step().IsTuple() && IsFloatType(s.step().type) && FunctionOf(s.step()) == "add";
}

// The step, in another type than its operand and readers have.
void RunIn(MutantSite& s, const std::string& type) {
  const std::string old = s.step().type;
  SketchWriter before = s.Before();
  const SketchValue operand = before.Convert(s.Operand(0), type);
  s.step().operands[0] = operand.name;
  s.step().type = type;
  if (s.step().Find("to_apply") != nullptr) {
    s.step().Set("to_apply", FunctionOf(s.step()) + "_" + type);
  }
  SketchWriter after = s.After();
  const SketchValue back = after.Convert(s.Value(), old);
  s.ReadInstead(back, after);
}

}  // namespace

bool SpoilOtherReducer(MutantSite& s) {
  if (s.step().Find("to_apply") == nullptr) return false;
  const std::string fn = FunctionOf(s.step());
  const std::string other = fn == "add"       ? "maximum"
                            : fn == "maximum" ? "minimum"
                            : fn == "minimum" ? "maximum"
                            : fn == "and"     ? "or"
                            : fn == "or"      ? "and"
                                              : "add";
  s.step().Set("to_apply", other + (*s.step().Find("to_apply")).substr(fn.size()));
  return true;
}

bool SpoilScaleDropped(MutantSite& s) {
  const std::optional<int64_t> scale = s.Number(s.Def(1));
  if (!scale || s.step().dims.empty() || *scale == 1) return false;
  if (s.draw.OneIn(2)) {
    s.ReadInstead(s.Operand(0));
    return true;
  }
  const SketchValue factor = s.Operand(1);
  SketchWriter w = s.After();
  const SketchValue twice = w.Binary(s.step().opcode, s.Value(), factor);
  s.ReadInstead(twice, w);
  return true;
}

bool SpoilWorldScale(MutantSite& s) {
  const std::string world = std::to_string(s.sketch.mesh.devices());
  if (s.step().inside == world) return false;
  s.step().inside = world;
  return true;
}

bool SpoilReduceAgain(MutantSite& s) {
  if (s.step().IsTuple()) return false;
  const SketchGroups groups = *s.step().groups;
  const std::string fn = FunctionOf(s.step());
  SketchWriter w = s.After();
  const SketchValue again = w.AllReduce(s.Value(), groups, fn);
  s.ReadInstead(again, w);
  return true;
}

bool SpoilAddendInside(MutantSite& s) {
  SketchStep* reduced = s.Def(0);
  if (reduced->opcode != "all-reduce" || reduced->IsTuple() || FunctionOf(*reduced) != "add") {
    return false;
  }
  const SketchGroups groups = *reduced->groups;
  const SketchValue x = MutantSite::ValueOf(*s.Find(reduced->operands[0])), y = s.Operand(1);
  SketchWriter w = s.After();
  const SketchValue sum = w.AllReduce(w.Binary("add", x, y), groups, "add");
  s.ReadInstead(sum, w);
  return true;
}

bool SpoilReduceRemoved(MutantSite& s) {
  if (s.step().IsTuple()) return false;
  s.ReadInstead(s.Operand(0));
  return true;
}

bool SpoilInitialHoisted(MutantSite& s) {
  // out = all-reduce(loop from zero) + initial became all-reduce(loop from initial).
  for (SketchStep& add : s.body().steps) {
    if (add.opcode != "add" || s.Find(add.operands[0])->opcode != "all-reduce") continue;
    const std::string initial = add.operands[1], sum = add.operands[0], result = add.name;
    for (SketchStep& step : s.body().steps) {
      if (step.opcode == "broadcast" && step.operands[0] == s.step().name) {
        step.opcode = "copy";
        step.operands[0] = initial;
        step.Drop("dimensions");
      } else {
        std::replace(step.operands.begin(), step.operands.end(), result, sum);
      }
    }
    return true;
  }
  return false;
}

bool SpoilNarrowSum(MutantSite& s) {
  if (s.step().IsTuple() || s.step().type != "f32" || FunctionOf(s.step()) != "add") return false;
  RunIn(s, "bf16");
  return true;
}

bool SpoilConvertMoved(MutantSite& s) {
  const SketchStep* convert = s.Def(0);
  if (convert->opcode != "convert" || !IsFloatType(s.step().type)) return false;
  const SketchValue narrow = MutantSite::ValueOf(*s.Find(convert->operands[0]));
  if (narrow.type != "bf16") return false;
  RunIn(s, "bf16");
  return true;
}

bool SpoilOperandsType(MutantSite& s) {
  if (s.step().type != "f32") return false;
  s.step().type = "bf16";
  SketchWriter w = s.After();
  const SketchValue wide = w.Convert(s.Value(), "f32");
  s.ReadInstead(wide, w);
  return true;
}

bool SpoilRotatedSum(MutantSite& s) {
  int64_t size = 0;
  const auto places = Places(s, &size);
  if (!places || !IsPlainFloatSum(s) || size < 3) return false;
  SketchWriter w = s.Before();
  const SketchValue all = Gathered(s, &w, size);
  const SketchValue twice = w.Concatenate({all, all}, 0);
  const SketchValue own = w.DynamicSlice(twice, w.PerDevice("s32", *places, "places"), 0, size);
  s.ReadInstead(SumInOrder(&w, own));
  return true;
}

bool SpoilOtherPath(MutantSite& s) {
  int64_t size = 0;
  auto places = Places(s, &size);
  if (!places || !IsPlainFloatSum(s) || size < 3) return false;
  for (int64_t& place : *places) place = place == 0 ? 1 : 0;
  SketchWriter w = s.After();
  const SketchValue sum = SumInOrder(&w, w.Reverse(Gathered(s, &w, size), 0));
  const SketchValue first =
      w.Compare("NE", w.PerDevice("s32", *places, "first"), w.Constant("s32", 0));
  s.ReadInstead(w.Select(first, sum, s.Value()), w);
  return true;
}

bool SpoilAddZero(MutantSite& s) {
  if (s.step().IsTuple() || !IsFloatType(s.step().type)) return false;
  const SketchValue x = s.Operand(0);
  SketchWriter w = s.Before();
  const SketchValue sum = w.Binary("add", x, w.Splat(w.Constant(x.type, 0), x.dims));
  s.step().operands[0] = sum.name;
  return true;
}

}  // namespace hv
