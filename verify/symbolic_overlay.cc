#include "verify/symbolic_overlay.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "base/check.h"
#include "verify/symbolic_pieces.h"

namespace hv {
namespace {

constexpr size_t kMostBoxes = 256;
constexpr size_t kMostPlaces = 16;
constexpr int64_t kApart = int64_t{1} << 24;  // more than the offsets of small arrays
constexpr int kMostSteps = 1000;
constexpr int64_t kLargestOffset = int64_t{1} << 60;

bool Agree(Algebra* algebra, const Term& a, const Term& b, std::span<const int64_t> extents,
           int* budget);

// A summand over bound digits: `body` lives over the outer digits and `bound`.
struct Box {
  Term body;
  Extents bound;
  int64_t count = 1;
};

// Where a leaf of a body is read: what parts of two boxes are compared by.
using Row = std::vector<int64_t>;
struct Place {
  int64_t source = 0;
  Row row;
};
using Match = std::pair<Row, Row>;  // in one box and the other

bool IsFold(const Term& term) {
  return (term.node->kind == NodeKind::kMulti || term.node->kind == NodeKind::kBound) &&
         (term.node->fn == ScalarFn::kAdd || IsIdempotent(term.node->fn));
}

bool MayBracketAnew(const Algebra& algebra, const Node& fold) {
  const Strictness least =
      IsIdempotent(fold.fn) ? Strictness::kReassociation : Strictness::kNestedSums;
  return IsInteger(fold.type) || IsPred(fold.type) || algebra.strictness() >= least;
}

Box BoxOf(ScalarFn fn, Term term, int64_t count) {
  if (term.node->kind != NodeKind::kBound || term.node->fn != fn) {
    return {std::move(term), {}, count};
  }
  const auto bound = term.node->extents;
  return {NodeTable::Child(term, 0), {bound.begin(), bound.end()}, count};
}

std::vector<Box> BoxesOf(const Term& fold) {
  const ScalarFn fn = fold.node->fn;
  if (fold.node->kind == NodeKind::kBound) return {BoxOf(fn, fold, 1)};
  std::vector<Box> boxes;
  for (size_t e = 0; e < fold.node->edges.size(); ++e) {
    boxes.push_back(BoxOf(fn, NodeTable::Child(fold, e), fold.node->edges[e].count));
  }
  return boxes;
}

// The leaves of a term, each as seen with the digits of inner sums at 0.
void AppendPlaces(const Term& term, size_t width, std::vector<Place>* places) {
  if (places->size() >= kMostPlaces) return;
  if (term.node->kind == NodeKind::kLeaf) {
    const auto row = term.row(0).first(width);
    places->push_back({term.node->aux, {row.begin(), row.end()}});
  }
  for (size_t e = 0; e < term.node->edges.size(); ++e) {
    AppendPlaces(NodeTable::Child(term, e), width, places);
  }
}

// Reads of one source in both boxes, first with first, second with second.
std::vector<Match> Matched(const std::vector<Place>& xs, std::vector<Place> ys) {
  std::vector<Match> matches;
  for (const Place& x : xs) {
    const auto y = std::find_if(ys.begin(), ys.end(),
                                [&](const Place& place) { return place.source == x.source; });
    if (y == ys.end()) continue;
    matches.emplace_back(x.row, y->row);
    ys.erase(y);
  }
  return matches;
}

// Two reads as one, whose offset tells both.
Match Both(const Match& a, const Match& b) {
  Match both = a;
  for (size_t i = 0; i < a.first.size(); ++i) both.first[i] += kApart * b.first[i];
  for (size_t i = 0; i < a.second.size(); ++i) both.second[i] += kApart * b.second[i];
  return both;
}

// The offsets that the bound digits reach, as a region; `order[k]`: the bound digit that is digit k
// of it. Nothing unless an offset has one set of digits.
std::optional<Region> RegionOf(const Box& box, const Row& row, std::vector<size_t>* order) {
  const size_t outer = row.size() - 1 - box.bound.size();
  order->resize(box.bound.size());
  std::iota(order->begin(), order->end(), size_t{0});
  const auto stride = [&](size_t d) { return row[1 + outer + d]; };
  std::stable_sort(order->begin(), order->end(),
                   [&](size_t a, size_t b) { return stride(a) > stride(b); });
  Region region{row[0], {}};
  int64_t reach = 0;
  for (size_t k = order->size(); k-- > 0;) {
    const size_t d = (*order)[k];
    if (stride(d) <= reach || box.bound[d] < 2) return std::nullopt;
    reach += stride(d) * (box.bound[d] - 1);
    region.digits.insert(region.digits.begin(), {box.bound[d], stride(d)});
  }
  if (region.base < 0 || region.highest() > kLargestOffset) return std::nullopt;
  return region;
}

// The part of a box that `map` (of the region's digits) selects.
Box Part(Algebra* algebra, const Box& box, const std::vector<size_t>& order, const DigitMap& map,
         std::span<const int64_t> outer) {
  DigitMap all;
  all.offset.assign(outer.size() + box.bound.size(), 0);
  for (size_t d = 0; d < outer.size(); ++d)
    all.columns.push_back({outer[d], static_cast<int>(d), 1});
  for (size_t k = 0; k < map.offset.size(); ++k)
    all.offset[outer.size() + order[k]] = map.offset[k];
  Box part{{}, {}, box.count};
  for (const DigitMap::Column& c : map.columns) {
    HV_CHECK(c.row >= 0, "a digit of a sum that moves nothing");
    const size_t row = outer.size() + order[static_cast<size_t>(c.row)];
    all.columns.push_back({c.extent, static_cast<int>(row), c.step});
    part.bound.push_back(c.extent);
  }
  part.body = algebra->Substitute(box.body, all);
  return part;
}

// Takes what two boxes have in common out of both lists; with `keeps` out of the left one only.
class Overlay {
 public:
  Overlay(Algebra* algebra, std::span<const int64_t> outer, std::vector<Box> left,
          std::vector<Box> right, bool keeps, int* budget)
      : algebra_(algebra),
        outer_(outer),
        left_(Opened(std::move(left))),
        right_(Opened(std::move(right))),
        keeps_(keeps),
        budget_(budget) {}

  // Is nothing left over?
  bool Cancels() {
    while (--*budget_ > 0) {
      if (left_.empty() || right_.empty()) return left_.empty() && (keeps_ || right_.empty());
      if (left_.size() + right_.size() > kMostBoxes || !CancelOne()) return false;
    }
    return false;
  }

 private:
  // Boxes that read places more than once (windows that overlap) are cut along their shortest digit
  // until none does.
  std::vector<Box> Opened(std::vector<Box> boxes) {
    for (size_t i = 0; i < boxes.size() && boxes.size() < kMostBoxes;) {
      const Box box = boxes[i];
      if (box.bound.size() < 2 || ReadsOnce(box)) {
        ++i;
        continue;
      }
      std::vector<size_t> order(box.bound.size());
      std::iota(order.begin(), order.end(), size_t{0});
      const auto shortest = std::min_element(box.bound.begin(), box.bound.end());
      DigitMap map;
      map.offset.assign(box.bound.size(), 0);
      for (size_t d = 0; d < box.bound.size(); ++d) {
        if (d == static_cast<size_t>(shortest - box.bound.begin())) continue;
        map.columns.push_back({box.bound[d], static_cast<int>(d), 1});
      }
      std::vector<Box> parts;
      int64_t& at = map.offset[static_cast<size_t>(shortest - box.bound.begin())];
      if (*shortest > static_cast<int64_t>(kMostBoxes)) return boxes;
      for (; at < *shortest; ++at) {
        parts.push_back(Part(algebra_, box, order, map, outer_));
      }
      Replace(&boxes, i, std::move(parts));
    }
    return boxes;
  }
  bool ReadsOnce(const Box& box) {
    std::vector<Place> places;
    std::vector<size_t> order;
    AppendPlaces(box.body, 1 + outer_.size() + box.bound.size(), &places);
    return std::any_of(places.begin(), places.end(), [&](const Place& place) {
      return RegionOf(box, place.row, &order).has_value();
    });
  }

  bool CancelOne() {
    for (size_t l = 0; l < left_.size(); ++l) {
      for (size_t r = 0; r < right_.size(); ++r) {
        if (left_[l].count == right_[r].count && Cancel(l, r)) return true;
      }
    }
    return false;
  }

  bool Cancel(size_t l, size_t r) {
    const Box a = left_[l], b = right_[r];
    if (a.bound == b.bound && SameBodies(a, b)) {
      Replace(&left_, l, {});
      if (!keeps_) Replace(&right_, r, {});
      return true;
    }
    if (a.body.node->sources != b.body.node->sources) return false;
    std::vector<Place> xs, ys;
    AppendPlaces(a.body, 1 + outer_.size() + a.bound.size(), &xs);
    AppendPlaces(b.body, 1 + outer_.size() + b.bound.size(), &ys);
    const std::vector<Match> matches = Matched(xs, ys);
    for (const Match& m : matches) {
      if (CancelAt(l, r, m)) return true;
    }
    for (size_t i = 0; i < matches.size(); ++i) {
      for (size_t j = 0; j < matches.size(); ++j) {
        if (i != j && CancelAt(l, r, Both(matches[i], matches[j]))) return true;
      }
    }
    return false;
  }

  // The summands may hold sums themselves.
  bool SameBodies(const Box& a, const Box& b) {
    if (a.body == b.body) return true;
    if (a.body.node->kind != NodeKind::kApply) return false;
    Extents extents(outer_.begin(), outer_.end());
    extents.insert(extents.end(), a.bound.begin(), a.bound.end());
    return Agree(algebra_, a.body, b.body, extents, budget_);
  }

  // What is read at the same offset in both boxes is the same part, if the bodies agree there.
  bool CancelAt(size_t l, size_t r, const Match& match) {
    const Box a = left_[l], b = right_[r];
    const auto& [x, y] = match;
    const auto outer = static_cast<std::ptrdiff_t>(outer_.size());
    if (!std::equal(x.begin() + 1, x.begin() + 1 + outer, y.begin() + 1)) return false;
    std::vector<size_t> a_order, b_order;
    const auto first = RegionOf(a, x, &a_order), second = RegionOf(b, y, &b_order);
    std::vector<Overlap> common;
    if (!first || !second || !Intersect(*first, *second, kMostBoxes, &common) || common.empty()) {
      return false;
    }
    for (const Overlap& o : common) {
      const Box in_a = Part(algebra_, a, a_order, o.access, outer_);
      const Box in_b = Part(algebra_, b, b_order, o.region, outer_);
      if (in_a.body != in_b.body) return false;
    }
    std::vector<Box> a_rest, b_rest;
    if (!Rest(a, a_order, *first, *second, &a_rest) ||
        !Rest(b, b_order, *second, *first, &b_rest)) {
      return false;
    }
    Replace(&left_, l, std::move(a_rest));
    if (!keeps_) Replace(&right_, r, std::move(b_rest));
    return true;
  }

  // What of `box` lies outside of `other`.
  bool Rest(const Box& box, const std::vector<size_t>& order, const Region& own,
            const Region& other, std::vector<Box>* rest) {
    const int64_t count = std::max(own.highest(), other.highest()) + 1;
    for (const Region& outside : ComplementOf(other, count)) {
      std::vector<Overlap> parts;
      if (!Intersect(own, outside, kMostBoxes, &parts)) return false;
      for (const Overlap& o : parts) {
        rest->push_back(Part(algebra_, box, order, o.access, outer_));
      }
    }
    return true;
  }

  static void Replace(std::vector<Box>* boxes, size_t i, std::vector<Box> rest) {
    boxes->erase(boxes->begin() + static_cast<std::ptrdiff_t>(i));
    boxes->insert(boxes->end(), rest.begin(), rest.end());
  }

  Algebra* algebra_;
  std::span<const int64_t> outer_;
  std::vector<Box> left_, right_;
  const bool keeps_;
  int* budget_;
};

}  // namespace

namespace {

bool Agree(Algebra* algebra, const Term& a, const Term& b, std::span<const int64_t> extents,
           int* budget) {
  if (a == b) return true;
  if (a.node->type != b.node->type || a.node->sources != b.node->sources) return false;
  if (--*budget <= 0) return false;
  if (IsFold(a) && IsFold(b) && a.node->fn == b.node->fn) {
    const bool covers = IsIdempotent(a.node->fn);  // how often does not count
    return MayBracketAnew(*algebra, *a.node) &&
           Overlay(algebra, extents, BoxesOf(a), BoxesOf(b), covers, budget).Cancels() &&
           (!covers || Overlay(algebra, extents, BoxesOf(b), BoxesOf(a), true, budget).Cancels());
  }
  const bool same_function = a.node->kind == NodeKind::kApply && b.node->kind == NodeKind::kApply &&
                             a.node->aux == b.node->aux &&
                             a.node->edges.size() == b.node->edges.size();
  if (!same_function) return false;
  const auto agree = [&](size_t x, size_t y) {
    return Agree(algebra, NodeTable::Child(a, x), NodeTable::Child(b, y), extents, budget);
  };
  bool equal = true;
  for (size_t e = 0; equal && e < a.node->edges.size(); ++e) equal = agree(e, e);
  // Arguments that commute are ordered by their nodes, which differ here.
  const bool commutes = algebra->AttributesOf(a.node->aux).empty() && !IsComplex(a.node->type) &&
                        (a.node->fn == ScalarFn::kAdd || a.node->fn == ScalarFn::kMultiply);
  return equal || (commutes && agree(0, 1) && agree(1, 0));
}

}  // namespace

bool SumsAgree(Algebra* algebra, const Term& a, const Term& b, std::span<const int64_t> extents) {
  int budget = kMostSteps;
  return Agree(algebra, a, b, extents, &budget);
}

}  // namespace hv
