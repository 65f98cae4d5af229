#include "verify/symbolic_tensor.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "verify/symbolic_pieces.h"

namespace hv {
namespace {

// A pred array with more runs than this stays a literal.
constexpr size_t kMostRuns = 4096;
constexpr int64_t kMostSingly = 64;  // elements that are compared one by one

std::vector<int64_t> RowOf(const Region& region) {
  std::vector<int64_t> row = {region.base};
  for (const RegionDigit& d : region.digits) row.push_back(d.stride);
  return row;
}

Extents ExtentsOf(const Region& region) {
  Extents extents;
  for (const RegionDigit& d : region.digits) extents.push_back(d.extent);
  return extents;
}

bool IsIdentity(const DigitMap& map, const Region& region) {
  return map == DigitMap::Identity(region.digits);
}

// Terms whose views differ as a whole may still agree at each element, as different parts of a sum
// or a set do; few elements are compared one by one.
bool EqualByElement(Algebra* algebra, const Term& a, const Term& b, const Extents& extents,
                    int64_t budget) {
  if (extents.empty()) return algebra->Equal(a, b, extents, budget);
  Extents inner(extents.begin() + 1, extents.end());
  DigitMap map;
  map.offset.assign(extents.size(), 0);
  for (size_t d = 1; d < extents.size(); ++d) {
    map.columns.push_back({extents[d], static_cast<int>(d), 1});
  }
  for (int64_t& at = map.offset[0]; at < extents[0]; ++at) {
    const Term first = algebra->Substitute(a, map), second = algebra->Substitute(b, map);
    if (!EqualByElement(algebra, first, second, inner, budget)) return false;
  }
  return true;
}

}  // namespace

Region WholeRegion(int64_t count) {
  Region region;
  if (count > 1) region.digits.push_back({count, 1});
  return region;
}

Region AccessOf(const Piece& piece) {
  Region region{piece.in_base, {}};
  for (const Digit& d : piece.digits) region.digits.push_back({d.extent, d.in_stride});
  return region;
}

Region TargetOf(const Piece& piece) {
  Region region{piece.out_base, {}};
  for (const Digit& d : piece.digits) region.digits.push_back({d.extent, d.out_stride});
  return region;
}

SymbolicTensor::SymbolicTensor(std::vector<SymbolicPiece> pieces) : pieces_(std::move(pieces)) {
  std::stable_sort(
      pieces_.begin(), pieces_.end(),
      [](const SymbolicPiece& a, const SymbolicPiece& b) { return a.region.base < b.region.base; });
  int64_t reach = -1;
  for (const SymbolicPiece& piece : pieces_) {
    reach = std::max(reach, piece.region.highest());
    reach_.push_back(reach);
  }
}

uint64_t SymbolicTensor::Hash() const {
  uint64_t hash = pieces_.size();
  const auto add = [&hash](int64_t value) {
    hash = (hash ^ static_cast<uint64_t>(value)) * 0x9E3779B97F4A7C15;
    hash ^= hash >> 29;
  };
  for (const SymbolicPiece& piece : pieces_) {
    add(piece.region.base);
    for (const RegionDigit& d : piece.region.digits) {
      add(d.extent);
      add(d.stride);
    }
    add(piece.term.node->id);
    for (const int64_t v : piece.term.views) add(v);
  }
  return hash;
}

std::span<const SymbolicPiece> SymbolicTensor::Around(int64_t lowest, int64_t highest) const {
  const auto first = std::lower_bound(reach_.begin(), reach_.end(), lowest);
  const auto last = std::upper_bound(
      pieces_.begin(), pieces_.end(), highest,
      [](int64_t offset, const SymbolicPiece& p) { return offset < p.region.base; });
  const size_t begin = static_cast<size_t>(first - reach_.begin());
  const size_t end = static_cast<size_t>(last - pieces_.begin());
  if (begin >= end) return {};
  return std::span(pieces_).subspan(begin, end - begin);
}

SymbolicTensor TensorMaker::Source(int64_t source, const Shape& shape) {
  if (shape.element_count == 0) return SymbolicTensor({});
  const Region region = WholeRegion(shape.element_count);
  return SymbolicTensor({{region, algebra_->Leaf(source, shape.type, RowOf(region))}});
}

SymbolicTensor TensorMaker::Uniform(const Term& constant, int64_t count) {
  if (count == 0) return SymbolicTensor({});
  return SymbolicTensor({{WholeRegion(count), constant}});
}

SymbolicTensor TensorMaker::Iota(const Shape& shape, int64_t dimension) {
  if (shape.element_count == 0) return SymbolicTensor({});
  Region region;
  std::vector<int64_t> row = {0};
  const std::vector<int64_t> strides = RowMajorStrides(shape.dims);
  for (size_t d = 0; d < shape.dims.size(); ++d) {
    if (shape.dims[d] == 1) continue;
    region.digits.push_back({shape.dims[d], strides[d]});
    row.push_back(static_cast<int64_t>(d) == dimension ? 1 : 0);
  }
  if (shape.dims[static_cast<size_t>(dimension)] == 1) {
    return Uniform(algebra_->Integer(shape.type, 0), shape.element_count);
  }
  return Simplified({{region, algebra_->Iota(shape.type, row)}});
}

SymbolicTensor TensorMaker::FromNative(const Value& value) {
  const int64_t count = value.element_count();
  if (count == 0) return SymbolicTensor({});
  if (IsPred(value.shape()->type)) return FromRuns(value);
  const Region region = WholeRegion(count);
  return SymbolicTensor({{region, algebra_->Literal(value.shape()->type, value.bytes(),
                                                    RowOf(region), ExtentsOf(region))}});
}

SymbolicTensor TensorMaker::FromRuns(const Value& value) {
  const auto bytes = value.bytes();
  std::vector<SymbolicPiece> pieces;
  for (size_t i = 0; i < bytes.size();) {
    size_t end = i;
    while (end < bytes.size() && bytes[end] == bytes[i]) ++end;
    Region region = WholeRegion(static_cast<int64_t>(end - i));
    region.base = static_cast<int64_t>(i);
    pieces.push_back({region, algebra_->Constant(ElementType::kPred, bytes.subspan(i, 1))});
    if (pieces.size() > kMostRuns) {
      const Region whole = WholeRegion(value.element_count());
      return SymbolicTensor(
          {{whole, algebra_->Literal(ElementType::kPred, bytes, RowOf(whole), ExtentsOf(whole))}});
    }
    i = end;
  }
  return Simplified(std::move(pieces));
}

bool TensorMaker::Read(const SymbolicTensor& tensor, const Region& access,
                       std::vector<ReadPart>* parts) {
  for (const SymbolicPiece& piece : tensor.Around(access.lowest(), access.highest())) {
    std::vector<Overlap> overlaps;
    if (!Intersect(access, piece.region, limit_ - std::min(limit_, parts->size()), &overlaps)) {
      return false;
    }
    for (Overlap& overlap : overlaps) {
      Term term = IsIdentity(overlap.region, piece.region)
                      ? piece.term
                      : algebra_->Substitute(piece.term, overlap.region);
      parts->push_back({std::move(overlap.access), std::move(term)});
    }
  }
  return true;
}

std::optional<std::vector<ZippedCell>> TensorMaker::Zip(
    std::span<const SymbolicTensor* const> tensors) {
  std::vector<ZippedCell> cells;
  for (const SymbolicPiece& piece : tensors[0]->pieces()) {
    cells.push_back({piece.region, {piece.term}});
  }
  for (const SymbolicTensor* tensor : tensors.subspan(1)) {
    std::vector<ZippedCell> finer;
    for (ZippedCell& cell : cells) {
      std::vector<ReadPart> parts;
      if (!Read(*tensor, cell.region, &parts)) return std::nullopt;
      if (finer.size() + parts.size() > limit_) return std::nullopt;
      for (ReadPart& part : parts) {
        if (IsIdentity(part.access, cell.region)) {
          cell.terms.push_back(std::move(part.term));
          finer.push_back(std::move(cell));
          break;
        }
        ZippedCell smaller{Restrict(cell.region, part.access), {}};
        for (const Term& term : cell.terms) {
          smaller.terms.push_back(algebra_->Substitute(term, part.access));
        }
        smaller.terms.push_back(std::move(part.term));
        finer.push_back(std::move(smaller));
      }
    }
    cells = std::move(finer);
  }
  return cells;
}

// Takes `region` out of the pieces of a tensor of `count` elements.
bool TensorMaker::Subtract(std::vector<SymbolicPiece>* pieces, const Region& region,
                           int64_t count) {
  constexpr size_t kPiecesPerNode = 16;  // cutting a piece is cheaper than making a node
  algebra_->CountWork(static_cast<int64_t>(pieces->size() / kPiecesPerNode));
  const std::vector<Region> outside = ComplementOf(region, count);
  std::vector<SymbolicPiece> left;
  for (SymbolicPiece& piece : *pieces) {
    std::vector<Overlap> overlaps;
    if (!Intersect(region, piece.region, limit_, &overlaps)) return false;
    if (overlaps.empty()) {
      left.push_back(std::move(piece));
      continue;
    }
    for (const Region& part : outside) {
      overlaps.clear();
      if (!Intersect(part, piece.region, limit_, &overlaps)) return false;
      for (const Overlap& o : overlaps) {
        left.push_back({Restrict(part, o.access), algebra_->Substitute(piece.term, o.region)});
      }
    }
    if (left.size() > limit_) return false;
  }
  *pieces = std::move(left);
  return true;
}

std::optional<SymbolicTensor> TensorMaker::Move(const Pieces& pieces,
                                                std::span<const SymbolicTensor* const> operands,
                                                ElementType type, int64_t count) {
  if (count == 0) return SymbolicTensor({});
  int64_t covered = 0;
  for (const Piece& piece : pieces) covered += TargetOf(piece).count();
  std::vector<SymbolicPiece> result;
  for (const Piece& piece : pieces) {
    const Region target = TargetOf(piece);
    if (covered > count && !result.empty() && !Subtract(&result, target, count))
      return std::nullopt;
    if (piece.operand == Piece::kZeros) {
      result.push_back({target, algebra_->Integer(type, 0)});
      continue;
    }
    std::vector<ReadPart> parts;
    if (!Read(*operands[static_cast<size_t>(piece.operand)], AccessOf(piece), &parts)) {
      return std::nullopt;
    }
    for (ReadPart& part : parts) {
      result.push_back({Restrict(target, part.access), std::move(part.term)});
    }
    if (result.size() > limit_) return std::nullopt;
  }
  return Simplified(std::move(result));
}

std::optional<TensorDifference> TensorMaker::Compare(const SymbolicTensor& before,
                                                     const SymbolicTensor& after, int64_t budget) {
  if (before.pieces() == after.pieces()) return std::nullopt;
  for (const SymbolicPiece& piece : before.pieces()) {
    std::vector<ReadPart> parts;
    if (!Read(after, piece.region, &parts)) return TensorDifference{piece.region, piece.term, {}};
    for (ReadPart& part : parts) {
      Term term = IsIdentity(part.access, piece.region)
                      ? piece.term
                      : algebra_->Substitute(piece.term, part.access);
      Region region = Restrict(piece.region, part.access);
      const Extents extents = ExtentsOf(region);
      const bool few = budget >= kThorough && region.count() <= kMostSingly;
      if (!algebra_->Equal(term, part.term, extents, budget) &&
          !(few && EqualByElement(algebra_, term, part.term, extents, budget))) {
        return TensorDifference{std::move(region), std::move(term), std::move(part.term)};
      }
    }
  }
  return std::nullopt;
}

SymbolicTensor TensorMaker::Simplified(std::vector<SymbolicPiece> pieces) {
  return SymbolicTensor(JoinPieces(std::move(pieces)));
}

}  // namespace hv
