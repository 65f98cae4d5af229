#include "verify/loop_relation.h"

#include <algorithm>
#include <set>
#include <utility>

#include "hlo/view.h"

namespace hv {
namespace {

using Kind = LoopRelation::Kind;

Value AsValue(const Shape* shape, const SymbolicTensor& tensor) {
  return Value::Extended(shape, std::make_unique<SymbolicTensor>(tensor));
}

std::vector<Value> MembersOf(const std::vector<DeviceId>& group, const Shape* shape,
                             const ByDevice& x) {
  std::vector<Value> members;
  for (const DeviceId device : group) members.push_back(AsValue(shape, x.at(device)));
  return members;
}

// The parts one after the other along a dimension of the whole.
Pieces Concatenation(const LoopRelation& relation, size_t parts) {
  const std::vector<int64_t> in = RowMajorStrides(relation.shape->dims);
  const std::vector<int64_t> out = RowMajorStrides(relation.whole->dims);
  Pieces pieces;
  for (size_t p = 0; p < parts; ++p) {
    Piece piece;
    piece.operand = static_cast<int>(p);
    piece.out_base = static_cast<int64_t>(p) * relation.shape->dims[relation.dimension] *
                     out[relation.dimension];
    for (size_t d = 0; d < in.size(); ++d) {
      piece.digits.push_back({relation.shape->dims[d], in[d], out[d]});
    }
    Normalize(&piece);
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

// Part `place` along a dimension of x.
Pieces SliceAt(const LoopRelation& relation, int64_t place) {
  const std::vector<int64_t> in = RowMajorStrides(relation.shape->dims);
  const std::vector<int64_t> out = RowMajorStrides(relation.whole->dims);
  Piece piece;
  piece.operand = 0;
  piece.in_base = place * relation.whole->dims[relation.dimension] * in[relation.dimension];
  for (size_t d = 0; d < in.size(); ++d) {
    piece.digits.push_back({relation.whole->dims[d], in[d], out[d]});
  }
  Normalize(&piece);
  return {piece};
}

Result<Value> Fold(SymbolicDomain* domain, const LoopRelation& relation,
                   const std::vector<DeviceId>& group, std::vector<Value> members) {
  const KnownFold& fold = relation.fold;
  domain->EnterCollective(*fold.collective, group);
  return domain->Fold(*fold.module, fold.collective->Computation(Attr::kToApply),
                      std::move(members), false);
}

// What the members of a group hold, without the offset; one value if they all hold the same.
Result<std::vector<Value>> HeldBy(SymbolicDomain* domain, const LoopRelation& relation,
                                  const std::vector<DeviceId>& group, const ByDevice& x) {
  std::vector<Value> held = MembersOf(group, relation.shape, x);
  if (relation.kind == Kind::kGather) {
    const Pieces pieces = Concatenation(relation, group.size());
    HV_ASSIGN(Value whole, domain->Move(relation.whole, pieces, std::move(held)));
    return std::vector<Value>{std::move(whole)};
  }
  if (relation.Folds()) {
    HV_ASSIGN(Value folded, Fold(domain, relation, group, std::move(held)));
    held.assign(relation.kind == Kind::kFold ? 1 : group.size(), folded);
  }
  if (relation.kind == Kind::kFold) return held;
  for (size_t place = 0; place < held.size(); ++place) {
    const Pieces pieces = SliceAt(relation, static_cast<int64_t>(place));
    HV_ASSIGN(held[place], domain->Move(relation.whole, pieces, {held[place]}));
  }
  return held;
}

// The dimension along which `parts` of one shape make the other.
std::optional<size_t> GatheredDimension(const Shape& part, const Shape& whole, int64_t parts) {
  if (part.type != whole.type || part.dims.size() != whole.dims.size()) return std::nullopt;
  std::optional<size_t> found;
  for (size_t d = 0; d < part.dims.size(); ++d) {
    if (part.dims[d] == whole.dims[d]) continue;
    if (found || part.dims[d] * parts != whole.dims[d]) return std::nullopt;
    found = d;
  }
  return found;
}

// The relations that shapes allow, strongest first.
std::vector<LoopRelation> RelationsOf(const Shape* first, const Shape* second,
                                      const std::vector<KnownFold>& folds) {
  std::vector<LoopRelation> relations;
  const Shape* sides[] = {first, second};
  const bool same = SameShape(*first, *second);
  for (const Kind kind : {Kind::kSame, Kind::kEqual}) {
    if (same) relations.push_back({kind, 0, {}, 0, first, second, {}});
  }
  for (const size_t part : {size_t{1}, size_t{0}}) {
    for (const KnownFold& fold : folds) {
      const Shape *x = sides[part], *whole = sides[1 - part];
      const bool reduces =
          fold.collective->Has(Attr::kToApply) &&
          RecognizeReducer(*fold.module, fold.collective->Computation(Attr::kToApply)).element ==
              first->type;
      if (same && reduces) relations.push_back({Kind::kFold, part, fold, 0, x, whole, {}});
      const auto size = static_cast<int64_t>(fold.grouping->groups[0].size());
      const auto gathered = GatheredDimension(*x, *whole, size);
      if (gathered) relations.push_back({Kind::kGather, part, fold, *gathered, x, whole, {}});
      const auto sliced = GatheredDimension(*whole, *x, size);
      if (sliced) relations.push_back({Kind::kSlice, part, fold, *sliced, x, whole, {}});
      if (sliced && reduces) {
        relations.push_back({Kind::kScatter, part, fold, *sliced, x, whole, {}});
      }
    }
  }
  return relations;
}

// What the whole holds at first beyond the parts: kept apart through all iterations.
std::optional<ByDevice> OffsetOf(SymbolicDomain* domain, const LoopRelation& relation,
                                 const ByDevice& parts, const ByDevice& whole) {
  const KnownFold& fold = relation.fold;
  if (!relation.Folds() || IsPred(relation.shape->type)) return std::nullopt;
  const Reducer reducer =
      RecognizeReducer(*fold.module, fold.collective->Computation(Attr::kToApply));
  if (reducer.fn != ScalarFn::kAdd) return std::nullopt;
  const auto folded = Held(domain, relation, 1 - relation.part, parts);
  if (!folded || Same(domain, *folded, whole)) return std::nullopt;
  return Elementwise(domain, ScalarFn::kSubtract, relation.shape->type, whole, *folded);
}

}  // namespace

std::vector<KnownFold> FoldsOf(const Module& module, const ModulePlan& plan) {
  std::vector<KnownFold> folds;
  std::set<std::pair<const Grouping*, ScalarFn>> known;
  for (const Collective& collective : plan.collectives) {
    const Grouping& grouping = *collective.grouping;
    const bool in_groups = collective.opcode != Opcode::kCollectivePermute &&
                           collective.opcode != Opcode::kSend && collective.opcode != Opcode::kRecv;
    if (!in_groups || grouping.groups.empty()) continue;
    const bool equal_sizes =
        std::all_of(grouping.groups.begin(), grouping.groups.end(),
                    [&](const auto& group) { return group.size() == grouping.groups[0].size(); });
    ScalarFn fn = ScalarFn::kNone;
    if (collective.instruction->Has(Attr::kToApply)) {
      fn = RecognizeReducer(module, collective.instruction->Computation(Attr::kToApply)).fn;
    }
    if (!equal_sizes || !known.emplace(&grouping, fn).second) continue;
    folds.push_back({&module, collective.instruction, collective.grouping});
  }
  return folds;
}

std::vector<LoopRelation> RelationsBetween(SymbolicDomain* domain, const Shape* first_shape,
                                           const Shape* second_shape, const ByDevice& first,
                                           const ByDevice& second,
                                           const std::vector<KnownFold>& folds) {
  std::vector<LoopRelation> holding;
  const ByDevice* sides[] = {&first, &second};
  for (LoopRelation& relation : RelationsOf(first_shape, second_shape, folds)) {
    relation.offset =
        OffsetOf(domain, relation, *sides[relation.part], *sides[1 - relation.part]);
    if (Holds(domain, relation, first, second)) holding.push_back(std::move(relation));
  }
  return holding;
}

std::optional<ByDevice> Held(SymbolicDomain* domain, const LoopRelation& relation, size_t side,
                             const ByDevice& x) {
  if (side == relation.part || !relation.Derives()) return x;
  ByDevice held;
  for (const std::vector<DeviceId>& group : relation.fold.grouping->groups) {
    const auto values = HeldBy(domain, relation, group, x);
    if (!values) return std::nullopt;
    for (size_t place = 0; place < group.size(); ++place) {
      const Value& value = (*values)[std::min(place, values->size() - 1)];
      held.insert_or_assign(group[place], domain->LeavesOf(value)[0]);
    }
  }
  if (held.size() != x.size()) return std::nullopt;  // a device in no group
  if (!relation.offset) return held;
  return Elementwise(domain, ScalarFn::kAdd, relation.shape->type, held, *relation.offset);
}

bool Holds(SymbolicDomain* domain, const LoopRelation& relation, const ByDevice& first,
           const ByDevice& second) {
  if (relation.kind == Kind::kNone) return true;
  const ByDevice* sides[] = {&first, &second};
  const auto held = Held(domain, relation, 1 - relation.part, *sides[relation.part]);
  if (!held || !Same(domain, *held, *sides[1 - relation.part])) return false;
  return relation.kind != Kind::kSame || SameOnAllDevices(domain, first);
}

}  // namespace hv
