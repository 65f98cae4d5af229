#include "verify/symbolic_pieces.h"

#include <algorithm>
#include <optional>

namespace hv {
namespace {

// Digit d of a piece: extent, stride in the region, stride in each slot.
struct PieceDigit {
  int64_t extent = 1;
  std::vector<int64_t> strides;  // region, then slots
};

// A piece by digits, so that extending or inserting one is a single step.
struct Loops {
  std::vector<int64_t> base;  // region, then slots
  std::vector<PieceDigit> digits;
};

Loops ToLoops(const SymbolicPiece& piece) {
  const size_t slots = static_cast<size_t>(piece.term.node->slots);
  Loops loops;
  loops.base.push_back(piece.region.base);
  for (size_t s = 0; s < slots; ++s) loops.base.push_back(piece.term.row(s)[0]);
  for (size_t d = 0; d < piece.region.digits.size(); ++d) {
    PieceDigit digit{piece.region.digits[d].extent, {piece.region.digits[d].stride}};
    for (size_t s = 0; s < slots; ++s) digit.strides.push_back(piece.term.row(s)[d + 1]);
    loops.digits.push_back(std::move(digit));
  }
  return loops;
}

SymbolicPiece FromLoops(const Loops& loops, const Node* node) {
  SymbolicPiece piece;
  piece.region.base = loops.base[0];
  for (const PieceDigit& d : loops.digits) piece.region.digits.push_back({d.extent, d.strides[0]});
  piece.term.node = node;
  for (size_t s = 1; s < loops.base.size(); ++s) {
    piece.term.views.push_back(loops.base[s]);
    for (const PieceDigit& d : loops.digits) piece.term.views.push_back(d.strides[s]);
  }
  return piece;
}

bool Fuses(const PieceDigit& outer, const PieceDigit& inner) {
  for (size_t i = 0; i < outer.strides.size(); ++i) {
    if (outer.strides[i] != inner.strides[i] * inner.extent) return false;
  }
  return true;
}

void Fuse(Loops* loops) {
  for (size_t d = 0; d + 1 < loops->digits.size();) {
    if (!Fuses(loops->digits[d], loops->digits[d + 1])) {
      ++d;
      continue;
    }
    loops->digits[d + 1].extent *= loops->digits[d].extent;
    loops->digits.erase(loops->digits.begin() + static_cast<std::ptrdiff_t>(d));
    if (d > 0) --d;
  }
}

// Strides descend, and each exceeds what the digits inside reach.
bool Nests(const std::vector<PieceDigit>& digits) {
  int64_t reach = 0;
  for (size_t d = digits.size(); d-- > 0;) {
    if (digits[d].strides[0] <= reach) return false;
    reach += digits[d].strides[0] * (digits[d].extent - 1);
  }
  return true;
}

bool SameDigit(const PieceDigit& a, const PieceDigit& b) {
  return a.extent == b.extent && a.strides == b.strides;
}

bool SameStrides(const std::vector<PieceDigit>& a, const std::vector<PieceDigit>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return x.strides == y.strides; });
}

// The one digit in which the extents differ, the count of digits if none does, nothing if several
// do.
std::optional<size_t> DifferingDigit(const std::vector<PieceDigit>& a,
                                     const std::vector<PieceDigit>& b) {
  size_t differs = a.size();
  for (size_t d = 0; d < a.size(); ++d) {
    if (a[d].extent == b[d].extent) continue;
    if (differs != a.size()) return std::nullopt;
    differs = d;
  }
  return differs;
}

bool IsStep(const PieceDigit& digit, const std::vector<int64_t>& step, int64_t times) {
  for (size_t i = 0; i < step.size(); ++i) {
    if (step[i] != digit.strides[i] * times) return false;
  }
  return true;
}

// Index of the digit that `longer` has and `shorter` lacks, the others being the same.
std::optional<size_t> ExtraDigit(const std::vector<PieceDigit>& longer,
                                 const std::vector<PieceDigit>& shorter) {
  if (longer.size() != shorter.size() + 1) return std::nullopt;
  size_t d = 0;
  while (d < shorter.size() && SameDigit(longer[d], shorter[d])) ++d;
  for (size_t k = d; k < shorter.size(); ++k) {
    if (!SameDigit(longer[k + 1], shorter[k])) return std::nullopt;
  }
  return d;
}

// The digits of both pieces together, `step` being the way from a's base to b's.
std::optional<std::vector<PieceDigit>> Together(const std::vector<PieceDigit>& a,
                                                const std::vector<PieceDigit>& b,
                                                const std::vector<int64_t>& step) {
  std::vector<PieceDigit> all = a.size() >= b.size() ? a : b;
  if (a.size() == b.size()) {
    if (!SameStrides(a, b)) return std::nullopt;
    const std::optional<size_t> differs = DifferingDigit(a, b);
    if (!differs) return std::nullopt;
    for (size_t d = 0; d < a.size(); ++d) {
      if (*differs != a.size() && *differs != d) continue;
      if (!IsStep(a[d], step, a[d].extent)) continue;
      all[d].extent += b[d].extent;
      return all;
    }
    if (*differs != a.size()) return std::nullopt;
    const auto place = std::find_if(all.begin(), all.end(),
                                    [&](const PieceDigit& d) { return d.strides[0] < step[0]; });
    all.insert(place, PieceDigit{2, step});
    return all;
  }
  const bool first_longer = a.size() > b.size();
  const std::optional<size_t> extra = ExtraDigit(all, first_longer ? b : a);
  if (!extra) return std::nullopt;
  PieceDigit& digit = all[*extra];
  if (!IsStep(digit, step, first_longer ? digit.extent : 1)) return std::nullopt;
  ++digit.extent;
  return all;
}

std::optional<SymbolicPiece> Joined(const SymbolicPiece& a, const SymbolicPiece& b) {
  if (a.term.node != b.term.node || a.term.node->fragile) return std::nullopt;
  Loops first = ToLoops(a);
  const Loops second = ToLoops(b);
  std::vector<int64_t> step;
  for (size_t i = 0; i < first.base.size(); ++i) step.push_back(second.base[i] - first.base[i]);
  auto digits = Together(first.digits, second.digits, step);
  if (!digits || !Nests(*digits)) return std::nullopt;
  first.digits = std::move(*digits);
  Fuse(&first);
  return FromLoops(first, a.term.node);
}

}  // namespace

std::vector<Region> ComplementOf(const Region& region, int64_t count) {
  std::vector<Region> outside;
  auto add = [&](int64_t base, std::vector<RegionDigit> digits, int64_t length) {
    if (length <= 0) return;
    std::erase_if(digits, [](const RegionDigit& d) { return d.extent == 1; });
    if (length > 1) digits.push_back({length, 1});
    outside.push_back({base, std::move(digits)});
  };
  add(0, {}, region.base);
  int64_t span = 1;  // from the first to the last offset of the digits inside
  for (size_t j = region.digits.size(); j-- > 0;) {
    const RegionDigit& d = region.digits[j];
    if (d.stride > span) {
      std::vector<RegionDigit> digits(region.digits.begin(),
                                      region.digits.begin() + static_cast<std::ptrdiff_t>(j));
      digits.push_back({d.extent - 1, d.stride});
      add(region.base + span, std::move(digits), d.stride - span);
    }
    span += (d.extent - 1) * d.stride;
  }
  add(region.base + span, {}, count - region.base - span);
  return outside;
}

void FuseDigits(SymbolicPiece* piece) {
  Loops loops = ToLoops(*piece);
  const size_t before = loops.digits.size();
  Fuse(&loops);
  if (loops.digits.size() != before) *piece = FromLoops(loops, piece->term.node);
}

std::vector<SymbolicPiece> JoinPieces(std::vector<SymbolicPiece> pieces) {
  std::stable_sort(
      pieces.begin(), pieces.end(),
      [](const SymbolicPiece& a, const SymbolicPiece& b) { return a.region.base < b.region.base; });
  std::vector<SymbolicPiece> joined;
  for (SymbolicPiece& piece : pieces) {
    FuseDigits(&piece);
    joined.push_back(std::move(piece));
    while (joined.size() > 1) {
      auto both = Joined(joined[joined.size() - 2], joined.back());
      if (!both) break;
      joined.pop_back();
      joined.back() = std::move(*both);
    }
  }
  return joined;
}

}  // namespace hv
