// Mutants 35 to 45: users, tuples, computations, layouts.
#include <algorithm>

#include "tests/fuzz/mutants.h"

namespace hv {
namespace {

// Another step of the body with this opcode for which `suits` holds.
template <class Suits>
SketchStep* Other(MutantSite& s, const std::string& opcode, const Suits& suits) {
  for (SketchStep& other : s.body().steps) {
    if (other.name != s.step().name && other.opcode == opcode && suits(other)) return &other;
  }
  return nullptr;
}

SketchStep* SiblingScatter(MutantSite& s) {
  return Other(s, "reduce-scatter",
               [&](const SketchStep& o) { return o.operands == s.step().operands; });
}

// An all-reduce earlier in the text of the same shape.
template <class Suits>
SketchStep* EarlierReduce(MutantSite& s, const Suits& suits) {
  if (s.step().IsTuple()) return nullptr;
  return Other(s, "all-reduce", [&](const SketchStep& o) {
    return s.NumberOf(o.name) < s.at() && o.ShapeText() == s.step().ShapeText() && suits(o);
  });
}

}  // namespace

bool SpoilOtherUserShard(MutantSite& s) {
  const SketchStep* scatter = SiblingScatter(s);
  if (scatter == nullptr) return false;
  const SketchValue shard = MutantSite::ValueOf(*scatter);
  for (size_t d = 0; d < shard.dims.size(); ++d) {
    const int64_t size = s.step().dims[d] / shard.dims[d];
    if (size < 2) continue;
    const size_t end = std::max(s.at(), s.NumberOf(shard.name)) + 1;
    const size_t body = static_cast<size_t>(&s.body() - s.sketch.bodies.data());
    SketchWriter w(&s.sketch, body, end);
    const std::vector<SketchValue> shards(static_cast<size_t>(size), shard);
    s.ReadInstead(w.Concatenate(shards, static_cast<int64_t>(d)), w);
    return true;
  }
  return false;
}

bool SpoilOtherUserOperand(MutantSite& s) {
  if (SiblingScatter(s) == nullptr) return false;
  s.ReadInstead(s.Operand(0));
  return true;
}

bool SpoilSwapOperands(MutantSite& s) {
  std::vector<std::string>& operands = s.step().operands;
  if (operands.size() < 2 || operands[0] == operands[1]) return false;
  std::swap(operands[0], operands[1]);
  return true;
}

bool SpoilOtherElement(MutantSite& s) {
  const SketchStep* tuple = s.Def(0);
  const int64_t index = NumbersIn(*s.step().Find("index"))[0];
  const bool combined = tuple->groups && tuple->IsTuple();
  if (!combined) return false;  // elsewhere the shapes differ
  s.step().Set("index", std::to_string(index == 0 ? 1 : index - 1));
  return true;
}

bool SpoilDropOperand(MutantSite& s) {
  const SketchStep* combined = s.Def(0);
  const size_t index = static_cast<size_t>(NumbersIn(*s.step().Find("index"))[0]);
  if (!combined->groups || !combined->IsTuple()) return false;
  const SketchValue operand = MutantSite::ValueOf(*s.Find(combined->operands[index]));
  if (operand.dims != s.step().dims) return false;
  s.ReadInstead(operand);
  return true;
}

bool SpoilMergeReducers(MutantSite& s) {
  const SketchStep* other = EarlierReduce(s, [&](const SketchStep& o) {
    return *o.Find("to_apply") != *s.step().Find("to_apply");
  });
  if (other == nullptr) return false;
  s.step().Set("to_apply", *other->Find("to_apply"));
  return true;
}

bool SpoilMergeByGroups(MutantSite& s) {
  const SketchStep* other = EarlierReduce(s, [&](const SketchStep& o) {
    return o.groups != s.step().groups;
  });
  if (other == nullptr) return false;
  s.step().groups = other->groups;
  return true;
}

bool SpoilCommonGroups(MutantSite& s) {
  const SketchStep* other = EarlierReduce(s, [&](const SketchStep& o) {
    return o.operands == s.step().operands && o.groups != s.step().groups;
  });
  if (other == nullptr) return false;
  s.ReadInstead(MutantSite::ValueOf(*other));
  return true;
}

bool SpoilReducerOfOtherType(MutantSite& s) {
  if (s.step().IsTuple() || s.step().type == "pred") return false;
  const std::string& fn = *s.step().Find("to_apply");
  const std::string other = s.step().type == "f32"    ? "bf16"
                            : s.step().type == "bf16" ? "f32"
                            : s.step().type == "s32"  ? "f32"
                                                      : "s32";
  s.step().Set("to_apply", fn.substr(0, fn.find('_') + 1) + other);
  return true;
}

bool SpoilTransposeIgnored(MutantSite& s) {
  s.step().opcode = "reshape";
  s.step().Drop("dimensions");
  return true;
}

bool SpoilLayoutConstrained(MutantSite& s) {
  s.step().Set("constrain_layout", "true");
  return true;
}

}  // namespace hv
