// Hash-consed terms. A term is a function from a domain (digit extents) to elements; it is a node,
// which says what is computed, together with one affine view of flat element offsets per slot of
// the node.
//
// Slots keep movement out of the nodes: f(a[v], b[v]) is the node f(slot 0 of a, slot 0 of b) with
// the one view v, so a slice of it changes v alone, however large f's tree is, and equal terms over
// one domain have the same node and the same views.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/arena.h"
#include "hlo/element_type.h"
#include "hlo/op.h"
#include "verify/symbolic_range.h"

namespace hv {

enum class NodeKind : uint8_t {
  kLeaf,      // element `view` of source number `aux`: a parameter of a device, an opaque result
  kConstant,  // one element, `bytes`
  kLiteral,   // element `view` of the array `bytes`
  kIota,      // `view` itself, converted to the type
  kApply,     // function `aux` of the edges in order
  kMulti,     // associative and commutative `fn` of the edges, each `count` times (or with
              // coefficient `count`, where the algebra has a ring)
  kBound,     // `fn` over `extents` more digits of the only edge, moving its slots by `strides`
};

struct Node;

enum Unbounded : uint8_t { kMinusInfinity = 1, kOtherwiseUnbounded = 2 };

// A child: slot s of `node` is slot slots[s] of the parent.
struct Edge {
  const Node* node = nullptr;
  int64_t count = 1;
  std::span<const int32_t> slots;
};

struct Node {
  uint32_t id = 0;  // in order of creation
  NodeKind kind = NodeKind::kLeaf;
  ScalarFn fn = ScalarFn::kNone;
  ElementType type = ElementType::kF32;
  int32_t slots = 0;
  // Moving the views of a fragile node may change its normal form.
  bool fragile = false;
  bool has_literal = false;  // itself or below
  bool has_select = false;   // itself or below: a selection, or a predicate as a number
  // May be an infinity or NaN that a constant states: bits of Unbounded. Sums and products of such
  // values obey no ring: inf - inf and 0 * inf are not 0.
  uint8_t unbounded = 0;
  IntegerRange range;        // of its values, if they are integers
  uint64_t sources = 0;      // a bit or two for each leaf below: different masks, different leaves
  int64_t weight = 1;        // nodes of the tree that it is the root of, at most kHeaviest
  static constexpr int64_t kHeaviest = int64_t{1} << 40;
  int64_t aux = 0;
  std::span<const Edge> edges;
  std::span<const int64_t> extents;  // kBound
  std::span<const int64_t> strides;  // kBound: slots of the edge x extents
  std::span<const std::byte> bytes;  // kConstant, kLiteral
};

inline bool IsIdempotent(ScalarFn fn) {  // f(x, x) = x
  return fn == ScalarFn::kMaximum || fn == ScalarFn::kMinimum || fn == ScalarFn::kAnd ||
         fn == ScalarFn::kOr;
}

// `views` has one row per slot: the offset at the origin of the domain, then one stride per digit.
struct Term {
  const Node* node = nullptr;
  std::vector<int64_t> views;

  size_t row_size() const {
    return node->slots == 0 ? 0 : views.size() / static_cast<size_t>(node->slots);
  }
  std::span<const int64_t> row(size_t slot) const {
    return {views.data() + slot * row_size(), row_size()};
  }
  friend bool operator==(const Term&, const Term&) = default;
};

// The order of terms over one domain: by node, then by views.
bool TermLess(const Term& a, const Term& b);

// Owns the nodes; equal nodes exist once.
class NodeTable {
 public:
  const Node* Leaf(int64_t source, ElementType type);
  const Node* Iota(ElementType type);
  const Node* Constant(ElementType type, std::span<const std::byte> element);
  const Node* Literal(ElementType type, std::span<const std::byte> elements);
  // The node whose children are `children` in this order (counts default to 1), with the joint
  // views of the children as views: equal views share a slot, numbered by first occurrence.
  Term Join(NodeKind kind, ScalarFn fn, ElementType type, int64_t aux,
            std::span<const Term> children, std::span<const int64_t> counts);
  // `body` lives over a domain whose last digits are `extents`; they are bound by the new node.
  Term Bind(ScalarFn fn, ElementType type, const Term& body, std::span<const int64_t> extents);

  // Child `e` of a term: its views picked from the term's; a bound body gets its bound digits back.
  static Term Child(const Term& term, size_t e);

  size_t size() const { return nodes_.size(); }
  int64_t joins() const { return joins_; }  // nodes asked for: a measure of work

 private:
  const Node* Intern(const Node& node);

  int64_t joins_ = 0;
  Arena arena_;
  std::deque<Node> nodes_;
  std::unordered_multimap<uint64_t, const Node*> index_;
};

}  // namespace hv
