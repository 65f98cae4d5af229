// Mutants 1 to 16, 53, 54: who takes part.
#include <algorithm>

#include "tests/fuzz/mutants.h"

namespace hv {
namespace {

// Takes over other ids; false if that changes nothing.
bool SetIds(SketchStep* step, Groups ids) {
  SketchGroups changed = *step->groups;
  changed.ids = std::move(ids);
  changed.spelling.clear();
  if (changed.ids == step->groups->ids) return false;
  step->groups = std::move(changed);
  return true;
}

int64_t IdCount(const SketchGroups& groups) {
  int64_t count = 0;
  for (const std::vector<int64_t>& group : groups.ids) count += static_cast<int64_t>(group.size());
  return count;
}

// Groups of `size` ids: 0, 1, 2, ... if contiguous, otherwise every count/size-th.
Groups Regular(int64_t count, int64_t size, bool contiguous) {
  Groups groups(static_cast<size_t>(count / size));
  for (int64_t id = 0; id < count; ++id) {
    const int64_t group = contiguous ? id / size : id % (count / size);
    groups[static_cast<size_t>(group)].push_back(id);
  }
  return groups;
}

bool RotateMembers(MutantSite& s) {
  Groups ids = s.step().groups->ids;
  for (std::vector<int64_t>& group : ids) std::rotate(group.begin(), group.begin() + 1, group.end());
  return SetIds(&s.step(), std::move(ids));
}

// The first ids of two groups change places.
bool CrossGroups(MutantSite& s) {
  Groups ids = s.step().groups->ids;
  if (ids.size() < 2) return false;
  std::swap(ids[0][0], ids[1][0]);
  return SetIds(&s.step(), std::move(ids));
}

bool IsOneOf(const SketchStep* step, std::initializer_list<const char*> opcodes) {
  return step != nullptr && std::any_of(opcodes.begin(), opcodes.end(),
                                        [&](const char* o) { return step->opcode == o; });
}

}  // namespace

bool SpoilScatterMembers(MutantSite& s) { return RotateMembers(s); }

bool SpoilReduceMembers(MutantSite& s) { return RotateMembers(s); }

bool SpoilDropMember(MutantSite& s) {
  Groups ids = s.step().groups->ids;
  if (ids[0].size() < 2) return false;
  const int64_t lost = ids[0].back();
  ids[0].pop_back();
  ids.push_back({lost});
  return SetIds(&s.step(), std::move(ids));
}

bool SpoilMoveMember(MutantSite& s) {
  Groups ids = s.step().groups->ids;
  if (ids.size() < 2 || ids[0].size() < 2) return false;
  ids[1].push_back(ids[0].back());
  ids[0].pop_back();
  return SetIds(&s.step(), std::move(ids));
}

bool SpoilMergeGroups(MutantSite& s) {
  Groups ids = s.step().groups->ids;
  if (ids.size() < 2) return false;
  ids[0].insert(ids[0].end(), ids[1].begin(), ids[1].end());
  ids.erase(ids.begin() + 1);
  return SetIds(&s.step(), std::move(ids));
}

bool SpoilSplitGroup(MutantSite& s) {
  Groups ids = s.step().groups->ids;
  if (ids[0].size() < 2) return false;
  const auto middle = ids[0].begin() + static_cast<std::ptrdiff_t>(ids[0].size() / 2);
  ids.emplace_back(middle, ids[0].end());
  ids[0].resize(ids[0].size() / 2);
  return SetIds(&s.step(), std::move(ids));
}

bool SpoilEmptyGroups(MutantSite& s) {
  SketchGroups& groups = *s.step().groups;
  if (groups.spelling == "{}") {
    groups.channel = !groups.channel;
    return true;
  }
  groups.spelling = "{}";
  groups.global = false;
  return groups.ids.size() > 1;
}

bool SpoilDropChannel(MutantSite& s) {
  SketchGroups& groups = *s.step().groups;
  if (!groups.channel) return false;
  groups.channel = groups.global = false;
  return true;
}

bool SpoilFlipGlobalIds(MutantSite& s) {
  SketchGroups& groups = *s.step().groups;
  groups.global = !groups.global;
  return groups.channel;
}

bool SpoilSwapIds(MutantSite& s) {
  s.step().opcode = s.Is("partition-id") ? "replica-id" : "partition-id";
  return true;
}

bool SpoilTransposeDevices(MutantSite& s) {
  const SketchStep *scaled = s.Def(0), *partition = s.Def(1);
  if (!IsOneOf(scaled, {"multiply"}) || !IsOneOf(partition, {"partition-id"})) return false;
  const SketchStep* replica = s.Find(scaled->operands[0]);
  if (!IsOneOf(replica, {"replica-id"})) return false;
  const SketchValue r = MutantSite::ValueOf(*replica), p = MutantSite::ValueOf(*partition);
  SketchWriter w = s.Before();
  const SketchValue product = w.Binary("multiply", p, w.Constant("u32", s.sketch.mesh.replicas));
  s.step().operands = {product.name, r.name};
  return true;
}

bool SpoilIotaUntransposed(MutantSite& s) {
  const SketchGroups& groups = *s.step().groups;
  if (groups.spelling.find("T(1,0)") == std::string::npos) return false;
  const int64_t size = static_cast<int64_t>(groups.ids[0].size());
  return SetIds(&s.step(), Regular(IdCount(groups), size, true));
}

bool SpoilMeshAxesSwapped(MutantSite& s) {
  const SketchGroups& groups = *s.step().groups;
  if (!groups.spelling.starts_with("mesh")) return false;
  const bool inner = groups.spelling.ends_with("{'b'}");
  const int64_t size = static_cast<int64_t>(groups.ids[0].size());
  return SetIds(&s.step(), Regular(IdCount(groups), size, !inner));
}

bool SpoilFirstGroupSize(MutantSite& s) {
  if (s.Is("constant")) {
    std::vector<int64_t> sizes = NumbersIn(s.step().inside);
    std::fill(sizes.begin(), sizes.end(), sizes[0]);
    s.step().inside = Braced(sizes);
    return true;
  }
  // A reduce-scatter over the groups, as wide as the first one, for the slice of the all-reduce.
  const Groups& ids = s.step().groups->ids;
  const bool equal = std::all_of(ids.begin(), ids.end(), [&](const auto& group) {
    return group.size() == ids[0].size();
  });
  for (SketchStep& user : s.body().steps) {
    if (equal || user.opcode != "dynamic-slice" || user.operands[0] != s.step().name) continue;
    user.opcode = "reduce-scatter";
    user.operands = s.step().operands;
    user.groups = s.step().groups;
    user.attributes = {{"dimensions", "{0}"}, {"to_apply", *s.step().Find("to_apply")}};
    return true;
  }
  return false;
}

bool SpoilPositionIsId(MutantSite& s) {
  std::vector<int64_t> ids = NumbersIn(s.step().inside);
  for (size_t d = 0; d < ids.size(); ++d) ids[d] = static_cast<int64_t>(d);
  s.step().inside = Braced(ids);
  return true;
}

bool SpoilGroupsDerived(MutantSite& s) {
  if (s.step().IsTuple()) return false;
  const std::vector<int64_t> in = s.Operand(0).dims, out = s.step().dims;
  const size_t along = in[0] == out[0] ? 1 : 0;
  const int64_t size = out[along] == 0 ? 0 : in[along] / out[along];
  if (size == 0) return false;  // nothing, or less, is left of the dimension
  const Mesh& mesh = s.sketch.mesh;
  const SketchGroups old = *s.step().groups;
  SketchGroups anew{Regular(mesh.devices(), size, true), "", true, true};
  if (size == mesh.replicas) anew = {Regular(size, size, true), "{}", false, false};
  if (anew.ids == old.ids && anew.channel == old.channel && anew.global == old.global) return false;
  s.step().groups = anew;
  return true;
}

bool SpoilCrossedGrid(MutantSite& s) {
  return IsOneOf(s.Def(0), {"all-reduce", "reduce-scatter"}) && CrossGroups(s);
}

bool SpoilOtherGatherGroups(MutantSite& s) {
  if (!IsOneOf(s.Def(0), {"reduce-scatter", "all-reduce"})) return false;
  return CrossGroups(s) || RotateMembers(s);
}

}  // namespace hv
