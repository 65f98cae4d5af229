// Mutants 61 to 81: permutes, order and asynchrony, loops.
#include <algorithm>

#include "tests/fuzz/mutants.h"

namespace hv {
namespace {

// Another step of the same opcode.
SketchStep* Twin(MutantSite& s) {
  for (SketchStep& other : s.body().steps) {
    if (other.name != s.step().name && other.opcode == s.step().opcode) return &other;
  }
  return nullptr;
}

bool HasCollective(const SketchBody& body) {
  return std::any_of(body.steps.begin(), body.steps.end(),
                     [](const SketchStep& step) { return step.groups.has_value(); });
}

bool ChangeNumber(SketchStep* constant, int64_t amount) {
  constant->inside = std::to_string(NumbersIn(constant->inside)[0] + amount);
  return true;
}

}  // namespace

bool SpoilDropSelfPairs(MutantSite& s) {
  const auto self = [](const auto& pair) { return pair.first == pair.second; };
  return std::erase_if(*s.step().pairs, self) > 0;
}

bool SpoilReversePairs(MutantSite& s) {
  for (auto& [source, target] : *s.step().pairs) std::swap(source, target);
  return true;
}

bool SpoilPermuteDeleted(MutantSite& s) {
  if (s.step().IsTuple()) return false;
  s.ReadInstead(s.Operand(0));
  return true;
}

bool SpoilKeepsOwn(MutantSite& s) {
  if (s.step().IsTuple()) return false;
  const Mesh& mesh = s.sketch.mesh;
  const bool channel = s.step().groups->channel;
  std::vector<int64_t> targeted;
  for (int64_t d = 0; d < mesh.devices(); ++d) {
    const int64_t id = channel ? d % mesh.partitions : d / mesh.partitions;
    const Pairs& pairs = *s.step().pairs;
    targeted.push_back(std::any_of(pairs.begin(), pairs.end(),
                                   [&](const auto& pair) { return pair.second == id; }));
  }
  const SketchValue own = s.Operand(0);
  SketchWriter w = s.After();
  const SketchValue p =
      w.Compare("NE", w.PerDevice("s32", targeted, "targeted"), w.Constant("s32", 0));
  s.ReadInstead(w.Select(p, s.Value(), own), w);
  return true;
}

bool SpoilOneBackEdge(MutantSite& s) {
  std::vector<int64_t> flags = NumbersIn(s.step().inside);
  const auto first = std::find(flags.begin(), flags.end(), 1);
  if (first == flags.end()) return false;
  const bool several = std::find(first + 1, flags.end(), 1) != flags.end();
  std::fill(first + 1, flags.end(), 0);
  s.step().inside = Braced(flags);
  return several;
}

bool SpoilOrderOfPermutes(MutantSite& s) {
  SketchStep* first = s.Def(0);
  if (first->opcode != "collective-permute" || first->pairs == s.step().pairs) return false;
  std::swap(first->pairs, s.step().pairs);
  return true;
}

bool SpoilDuplicateTarget(MutantSite& s) {
  Pairs& pairs = *s.step().pairs;
  if (pairs.size() < 2) return false;
  pairs[1].second = pairs[0].second;
  return true;
}

bool SpoilControlDropped(MutantSite& s) {
  if (s.step().Find("control-predecessors") == nullptr) return false;
  s.step().Drop("control-predecessors");
  return true;
}

bool SpoilDonesCrossed(MutantSite& s) {
  SketchStep* other = Twin(s);
  if (other == nullptr || s.NumberOf(other->name) < s.at()) return false;
  std::swap(other->operands, s.step().operands);
  return true;
}

bool SpoilNeverDone(MutantSite& s) {
  const SketchStep* start = s.Def(0);
  if (start->opcode == "all-reduce-start") {
    s.ReadInstead(MutantSite::ValueOf(*start));
  } else {
    SketchWriter w = s.Before();
    s.ReadInstead(w.Element(MutantSite::ValueOf(*start), 1, s.Value()));
  }
  std::erase_if(s.body().steps, [name = s.step().name](const auto& o) { return o.name == name; });
  return true;
}

bool SpoilOperandUpdated(MutantSite& s) {
  // The first value of the same shape made from the operand afterwards.
  const SketchValue x = s.Operand(0);
  for (size_t i = s.at() + 1; i < s.body().steps.size(); ++i) {
    const SketchStep update = s.body().steps[i];
    const bool reads = std::count(update.operands.begin(), update.operands.end(), x.name) > 0;
    if (!reads || update.type != x.type || update.dims != x.dims) continue;
    if (update.operands.size() != 2 || update.opcode != "add") continue;
    std::vector<SketchStep>& steps = s.body().steps;
    const std::string start = s.step().name;
    steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(i));
    steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(s.at()), update);
    s.Find(start)->operands[0] = update.name;
    return true;
  }
  return false;
}

// f(x) becomes a conditional by device with f(x) and f(-x) in both branches, in two orders.
bool SpoilSunkOutOfOrder(MutantSite& s) {
  if (s.step().IsTuple()) return false;
  const SketchValue x = s.Operand(0);
  const SketchGroups groups = *s.step().groups;
  std::string branches;
  for (const bool first : {true, false}) {
    SketchWriter branch(&s.sketch, s.sketch.NewBody("branch"));
    const SketchValue y = branch.Parameter(x.type, x.dims);
    const SketchValue negated = branch.Unary("negate", y);
    const SketchValue a = branch.AllReduce(first ? y : negated, groups, "add");
    const SketchValue b = branch.AllReduce(first ? negated : y, groups, "add");
    branch.Root(branch.Binary("subtract", first ? a : b, first ? b : a));
    branches += (branches.empty() ? "{" : ", ") + branch.body().name;
  }
  SketchWriter w = s.Before();
  std::vector<int64_t> flags;
  for (int64_t d = 0; d < s.sketch.mesh.devices(); ++d) flags.push_back(d % 2);
  const SketchValue index = w.PerDevice("s32", flags, "taken");
  const SketchValue result = w.Op("conditional", x.type, x.dims, {index, x, x});
  w.Last().Set("branch_computations", branches + "}");
  s.ReadInstead(result);
  return true;
}

bool SpoilBranchPartly(MutantSite& s) {
  bool collective = false;
  for (const SketchBody& body : s.sketch.bodies) {
    collective |= body.name.starts_with("branch") && HasCollective(body);
  }
  std::vector<int64_t> flags = NumbersIn(s.step().inside);
  if (!collective || flags.size() < 2) return false;
  flags.back() = 1 - flags.back();
  s.step().inside = Braced(flags);
  return true;
}

bool SpoilTripsByDevice(MutantSite& s) {
  const std::string count = s.step().name;
  SketchWriter w = s.After();
  const SketchValue id = w.Convert(w.DeviceNumber(), "s32");
  s.ReadInstead(w.Binary("add", s.Value(), id), w);
  return true;
}

bool SpoilTwoStreams(MutantSite& s) {
  const SketchStep* other = Twin(s);
  if (other == nullptr || s.step().IsTuple() || other->groups == s.step().groups) return false;
  const SketchValue value = s.Value();
  s.step().opcode = "all-reduce-start";
  // Waited for as late as possible: before the first reader.
  size_t reader = s.at() + 1;
  while (std::count(s.body().steps[reader].operands.begin(),
                    s.body().steps[reader].operands.end(), value.name) == 0) {
    if (++reader == s.body().steps.size()) return false;
  }
  const size_t body = static_cast<size_t>(&s.body() - s.sketch.bodies.data());
  SketchWriter w(&s.sketch, body, reader);
  s.ReadInstead(w.Op("all-reduce-done", value.type, value.dims, {value}), w);
  return true;
}

bool SpoilSameChannel(MutantSite& s) {
  SketchStep* other = Twin(s);
  if (other == nullptr || !s.step().groups->channel || !other->groups->channel) return false;
  s.step().channel_number = other->channel_number = 77;
  return true;
}

bool SpoilOtherPeer(MutantSite& s) {
  Pairs reversed;
  for (const auto& [source, target] : *s.step().pairs) reversed.emplace_back(target, source);
  if (reversed == *s.step().pairs) return false;
  s.step().pairs = reversed;
  return true;
}

bool SpoilSendRemoved(MutantSite& s) {
  const std::string send = s.step().name;
  std::erase_if(s.body().steps, [&](const SketchStep& step) {
    return step.name == send || (!step.operands.empty() && step.operands[0] == send);
  });
  return true;
}

bool SpoilTripsByOne(MutantSite& s) { return ChangeNumber(&s.step(), -1); }

bool SpoilPeeledStart(MutantSite& s) { return ChangeNumber(&s.step(), -1); }

bool SpoilIdFolded(MutantSite& s) {
  s.step().opcode = "constant";
  s.step().inside = "0";
  return true;
}

}  // namespace hv
