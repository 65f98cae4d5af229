#include "verify/loop_relation.h"

#include <algorithm>
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

Result<Value> Fold(SymbolicDomain* domain, const LoopRelation& relation,
                   const std::vector<DeviceId>& group, const ByDevice& x) {
  const KnownFold& fold = relation.fold;
  domain->EnterCollective(*fold.collective, group);
  return domain->Fold(*fold.module, fold.collective->Computation(Attr::kToApply),
                      MembersOf(group, relation.shape, x), false);
}

// Both summands added elementwise.
std::optional<SymbolicTensor> Sum(SymbolicDomain* domain, const SymbolicTensor& a,
                                  const SymbolicTensor& b, ElementType type) {
  const SymbolicTensor* both[] = {&a, &b};
  auto cells = domain->maker().Zip(both);
  if (!cells) return std::nullopt;
  std::vector<SymbolicPiece> pieces;
  for (ZippedCell& cell : *cells) {
    Term term = domain->algebra().Scalar(ScalarFn::kAdd, type, std::move(cell.terms));
    pieces.push_back({std::move(cell.region), std::move(term)});
  }
  return domain->maker().Simplified(std::move(pieces));
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

}  // namespace

std::vector<LoopRelation> RelationsOf(const Shape* before, const Shape* after,
                                      const std::vector<KnownFold>& folds) {
  std::vector<LoopRelation> relations;
  const Shape* sides[] = {before, after};
  const bool same = SameShape(*before, *after);
  for (const Kind kind : {Kind::kSame, Kind::kEqual}) {
    if (same) relations.push_back({kind, 0, {}, 0, before, after});
  }
  for (const size_t part : {size_t{1}, size_t{0}}) {
    for (const KnownFold& fold : folds) {
      const bool reduces =
          fold.collective->Has(Attr::kToApply) &&
          RecognizeReducer(*fold.module, fold.collective->Computation(Attr::kToApply)).element ==
              before->type;
      if (same && reduces) relations.push_back({Kind::kFold, part, fold, 0, before, before});
      const auto size = static_cast<int64_t>(fold.grouping->groups[0].size());
      const auto dimension = GatheredDimension(*sides[part], *sides[1 - part], size);
      if (dimension) {
        relations.push_back({Kind::kGather, part, fold, *dimension, sides[part], sides[1 - part]});
      }
    }
  }
  return relations;
}

std::optional<ByDevice> Held(SymbolicDomain* domain, const LoopRelation& relation, size_t side,
                             const ByDevice& x, const ByDevice* offset) {
  const bool derives = relation.kind == Kind::kFold || relation.kind == Kind::kGather;
  if (side == relation.part || !derives) return x;
  ByDevice held;
  for (const std::vector<DeviceId>& group : relation.fold.grouping->groups) {
    Result<Value> value = relation.kind == Kind::kFold
                              ? Fold(domain, relation, group, x)
                              : domain->Move(relation.whole, Concatenation(relation, group.size()),
                                             MembersOf(group, relation.shape, x));
    if (!value) return std::nullopt;
    const SymbolicTensor tensor = domain->LeavesOf(*value)[0];
    for (const DeviceId device : group) held.insert_or_assign(device, tensor);
  }
  if (held.size() != x.size()) return std::nullopt;  // a device in no group
  if (offset == nullptr || relation.kind != Kind::kFold) return held;
  for (auto& [device, tensor] : held) {
    auto sum = Sum(domain, tensor, offset->at(device), relation.shape->type);
    if (!sum) return std::nullopt;
    tensor = std::move(*sum);
  }
  return held;
}

}  // namespace hv
