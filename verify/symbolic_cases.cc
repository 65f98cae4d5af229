// Equality by cases: where two terms select by a value of few values, they are equal if they are
// equal for each of these values. Terms are compared point by point, so a value that differs from
// element to element is split as well as one that all elements share.
#include <algorithm>
#include <unordered_set>

#include "verify/symbolic_algebra.h"

namespace hv {
namespace {

constexpr int64_t kMostValues = 16;  // of what is split

bool IsFew(const Term& term) {
  return IsInteger(term.node->type) && !Algebra::IsConstant(term) && term.node->range.known() &&
         term.node->range.Count(kMostValues + 1) <= kMostValues;
}

// The term seen where `bound` more digits do not move it.
Term Widened(const Term& term, size_t bound) {
  Term wide{term.node, {}};
  for (size_t s = 0; s < static_cast<size_t>(term.node->slots); ++s) {
    const auto row = term.row(s);
    wide.views.insert(wide.views.end(), row.begin(), row.end());
    wide.views.insert(wide.views.end(), bound, 0);
  }
  return wide;
}

// Nodes in which a search found nothing. What is looked for depends on no view, so each node of
// the graph is gone through once, on however many ways it is reached.
using Searched = std::unordered_set<const Node*>;

// The innermost integer of few values that `term` is made of.
std::optional<Term> FewIn(const Term& term, Searched* searched) {
  if (!searched->insert(term.node).second) return std::nullopt;
  if (term.node->kind == NodeKind::kMulti || term.node->kind == NodeKind::kApply) {
    for (size_t e = 0; e < term.node->edges.size(); ++e) {
      if (auto inner = FewIn(NodeTable::Child(term, e), searched)) return inner;
    }
  }
  if (IsFew(term)) return term;
  return std::nullopt;
}

// What decides a predicate: an integer of few values that it compares, or itself.
Term DeciderOf(const Term& predicate) {
  const Node& node = *predicate.node;
  const bool is_not = node.kind == NodeKind::kApply && node.fn == ScalarFn::kNot;
  if (node.kind == NodeKind::kMulti || is_not) {
    for (size_t e = 0; e < node.edges.size(); ++e) {
      const Term child = NodeTable::Child(predicate, e);
      if (!Algebra::IsConstant(child)) return DeciderOf(child);
    }
  }
  if (node.kind == NodeKind::kApply && node.fn == ScalarFn::kCompare) {
    Searched searched;
    for (size_t e = 0; e < node.edges.size(); ++e) {
      if (auto few = FewIn(NodeTable::Child(predicate, e), &searched)) return *few;
    }
  }
  return predicate;
}

// Of the outermost selection in a term; reductions are not looked into.
std::optional<Term> DeciderIn(const Term& term, Searched* searched) {
  const Node& node = *term.node;
  if (!node.has_select || node.kind == NodeKind::kBound) return std::nullopt;
  if (!searched->insert(&node).second) return std::nullopt;
  const bool counts = node.fn == ScalarFn::kConvert && IsPred(node.edges[0].node->type);
  if (node.kind == NodeKind::kApply && (node.fn == ScalarFn::kSelect || counts)) {
    return DeciderOf(NodeTable::Child(term, 0));
  }
  for (size_t e = 0; e < node.edges.size(); ++e) {
    if (auto decider = DeciderIn(NodeTable::Child(term, e), searched)) return decider;
  }
  return std::nullopt;
}

}  // namespace

// The term where `part` has the constant value `value`.
Term Algebra::Replaced(const Term& term, const Term& part, const Term& value,
                       std::span<const int64_t> extents) {
  if (term == part) return value;
  const Node& node = *term.node;
  const bool may_occur =
      node.weight > part.node->weight && (part.node->sources & ~node.sources) == 0;
  if (node.edges.empty() || !may_occur || budget_-- <= 0) return term;
  Extents inner(extents.begin(), extents.end());
  inner.insert(inner.end(), node.extents.begin(), node.extents.end());
  const Term wide = Widened(part, node.extents.size());
  Summands children;
  bool changed = false;
  for (size_t e = 0; e < node.edges.size(); ++e) {
    const Term child = NodeTable::Child(term, e);
    children.push_back({Replaced(child, wide, value, inner), node.edges[e].count});
    changed = changed || children.back().term != child;
  }
  return changed ? Assemble(node, std::move(children), inner) : term;
}

bool Algebra::EqualInCases(const Term& a, const Term& b, std::span<const int64_t> extents,
                           int depth) {
  if (a == b) return true;
  if (depth == 0 || budget_ <= 0) return false;
  Searched searched;
  std::optional<Term> decider = DeciderIn(a, &searched);
  if (!decider) decider = DeciderIn(b, &searched);
  if (!decider) return false;
  const IntegerRange range = decider->node->range;
  for (int64_t v = range.low; v <= range.high; ++v) {
    const Term value = Integer(decider->node->type, v);
    const Term x = Replaced(a, *decider, value, extents);
    const Term y = Replaced(b, *decider, value, extents);
    if ((x == a && y == b) || !EqualInCases(x, y, extents, depth - 1)) return false;
  }
  return true;
}

}  // namespace hv
