#include "verify/symbolic_node.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "eval/code_algebra.h"

namespace hv {
namespace {

uint64_t Mix(uint64_t hash, uint64_t value) {
  hash ^= value + 0x9E3779B97F4A7C15 + (hash << 6) + (hash >> 2);
  return hash * 0xD6E8FEB86659FD93;
}

uint8_t UnboundedIn(ElementType type, std::span<const std::byte> elements) {
  if (!IsFloat(type) && !IsComplex(type)) return 0;
  uint8_t found = 0;
  const size_t count = elements.size() / static_cast<size_t>(HostBytes(type));
  for (size_t i = 0; i < count; ++i) {
    const NativeNumber x = NumberAt(type, elements.data(), i);
    if (std::isfinite(x.real) && std::isfinite(x.imaginary)) continue;
    const bool minus = !IsComplex(type) && x.real < 0;
    found |= minus ? kMinusInfinity : kOtherwiseUnbounded;
  }
  return found;
}

// What becomes of it in a function.
uint8_t UnboundedBy(ScalarFn fn, uint8_t arguments) {
  switch (fn) {
    case ScalarFn::kSelect:
    case ScalarFn::kConvert:
    case ScalarFn::kMaximum:
    case ScalarFn::kMinimum:
    case ScalarFn::kClamp:
    case ScalarFn::kReducePrecision:
      return arguments;
    case ScalarFn::kExp:
    case ScalarFn::kExpm1:
    case ScalarFn::kLogistic:
    case ScalarFn::kTanh:
      return arguments & kOtherwiseUnbounded;
    case ScalarFn::kCompare:
    case ScalarFn::kIsFinite:
    case ScalarFn::kSign:
      return 0;
    default:
      return kMinusInfinity | kOtherwiseUnbounded;
  }
}

template <class T>
uint64_t MixAll(uint64_t hash, std::span<const T> values) {
  hash = Mix(hash, values.size());
  for (const T& v : values) hash = Mix(hash, static_cast<uint64_t>(v));
  return hash;
}

uint64_t HashOf(const Node& node) {
  uint64_t h = Mix(static_cast<uint64_t>(node.kind), static_cast<uint64_t>(node.fn));
  h = Mix(h, static_cast<uint64_t>(node.type));
  h = Mix(h, static_cast<uint64_t>(node.aux));
  for (const Edge& e : node.edges) {
    h = Mix(Mix(h, e.node->id), static_cast<uint64_t>(e.count));
    h = MixAll(h, e.slots);
  }
  h = MixAll(h, node.extents);
  h = MixAll(h, node.strides);
  return MixAll(h, node.bytes);
}

template <class T>
bool Same(std::span<const T> a, std::span<const T> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

bool Same(const Edge& a, const Edge& b) {
  return a.node == b.node && a.count == b.count && Same(a.slots, b.slots);
}

bool Same(const Node& a, const Node& b) {
  return a.kind == b.kind && a.fn == b.fn && a.type == b.type && a.aux == b.aux &&
         std::equal(a.edges.begin(), a.edges.end(), b.edges.begin(), b.edges.end(),
                    [](const Edge& x, const Edge& y) { return Same(x, y); }) &&
         Same(a.extents, b.extents) && Same(a.strides, b.strides) && Same(a.bytes, b.bytes);
}

// Numbers distinct rows in order of first occurrence.
class RowTable {
 public:
  explicit RowTable(size_t row_size) : row_size_(row_size) {}

  int32_t Number(std::span<const int64_t> row) {
    const int32_t count = static_cast<int32_t>(rows_.size() / row_size_);
    if (count < kLinear) {
      for (int32_t i = 0; i < count; ++i) {
        if (Same(At(i), row)) return i;
      }
    } else {
      if (index_.empty()) {
        for (int32_t i = 0; i < count; ++i) index_.emplace(MixAll(0, At(i)), i);
      }
      const auto [first, last] = index_.equal_range(MixAll(0, row));
      for (auto it = first; it != last; ++it) {
        if (Same(At(it->second), row)) return it->second;
      }
      index_.emplace(MixAll(0, row), count);
    }
    rows_.insert(rows_.end(), row.begin(), row.end());
    return count;
  }

  std::vector<int64_t> TakeRows() { return std::move(rows_); }

 private:
  static constexpr int32_t kLinear = 8;
  std::span<const int64_t> At(int32_t i) const {
    return {rows_.data() + static_cast<size_t>(i) * row_size_, row_size_};
  }

  size_t row_size_;
  std::vector<int64_t> rows_;
  std::unordered_multimap<uint64_t, int32_t> index_;
};

// Children of an unordered node that are the same node differ in their views alone, so moving the
// views may change their order.
bool HasTies(std::span<const Edge> edges) {
  for (size_t i = 1; i < edges.size(); ++i) {
    if (edges[i].node == edges[i - 1].node) return true;
  }
  return false;
}

}  // namespace

bool TermLess(const Term& a, const Term& b) {
  if (a.node != b.node) return a.node->id < b.node->id;
  return a.views < b.views;
}

const Node* NodeTable::Intern(const Node& node) {
  const uint64_t hash = HashOf(node);
  const auto [first, last] = index_.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    if (Same(*it->second, node)) return it->second;
  }
  Node copy = node;
  copy.id = static_cast<uint32_t>(nodes_.size());
  std::span<Edge> edges = arena_.NewArray<Edge>(node.edges.size());
  for (size_t i = 0; i < edges.size(); ++i) {
    edges[i] = {node.edges[i].node, node.edges[i].count, arena_.Copy(node.edges[i].slots)};
  }
  copy.edges = edges;
  copy.extents = arena_.Copy(node.extents);
  copy.strides = arena_.Copy(node.strides);
  copy.bytes = arena_.Copy(node.bytes);
  copy.range = RangeOf(copy);
  nodes_.push_back(copy);
  index_.emplace(hash, &nodes_.back());
  return &nodes_.back();
}

const Node* NodeTable::Leaf(int64_t source, ElementType type) {
  Node node;
  node.kind = NodeKind::kLeaf;
  node.type = type;
  node.slots = 1;
  node.aux = source;
  const uint64_t hash = Mix(0, static_cast<uint64_t>(source));
  node.sources = uint64_t{1} << (hash >> 58) | uint64_t{1} << (hash & 63);
  return Intern(node);
}

const Node* NodeTable::Iota(ElementType type) {
  Node node;
  node.kind = NodeKind::kIota;
  node.type = type;
  node.slots = 1;
  return Intern(node);
}

const Node* NodeTable::Constant(ElementType type, std::span<const std::byte> element) {
  Node node;
  node.kind = NodeKind::kConstant;
  node.type = type;
  node.bytes = element;
  node.unbounded = UnboundedIn(type, element);
  return Intern(node);
}

const Node* NodeTable::Literal(ElementType type, std::span<const std::byte> elements) {
  Node node;
  node.kind = NodeKind::kLiteral;
  node.type = type;
  node.slots = 1;
  node.has_literal = true;
  node.bytes = elements;
  node.unbounded = UnboundedIn(type, elements);
  return Intern(node);
}

Term NodeTable::Join(NodeKind kind, ScalarFn fn, ElementType type, int64_t aux,
                     std::span<const Term> children, std::span<const int64_t> counts) {
  joins_ += 1 + static_cast<int64_t>(children.size()) / 4;  // wide nodes cost more
  size_t row_size = 1;
  size_t slot_count = 0;
  for (const Term& child : children) {
    slot_count += static_cast<size_t>(child.node->slots);
    if (child.node->slots > 0) row_size = child.row_size();
  }
  RowTable rows(row_size);
  std::vector<int32_t> slots;
  slots.reserve(slot_count);
  std::vector<Edge> edges;
  edges.reserve(children.size());
  Node node;
  for (size_t i = 0; i < children.size(); ++i) {
    const Term& child = children[i];
    const size_t first = slots.size();
    for (size_t s = 0; s < static_cast<size_t>(child.node->slots); ++s) {
      slots.push_back(rows.Number(child.row(s)));
    }
    edges.push_back({child.node, counts.empty() ? 1 : counts[i],
                     std::span<const int32_t>(slots).subspan(first)});
    node.fragile |= child.node->fragile;
    node.has_literal |= child.node->has_literal;
    node.unbounded |= child.node->unbounded;
    node.has_select |= child.node->has_select;
    node.sources |= child.node->sources;
    node.weight = std::min(node.weight + child.node->weight, Node::kHeaviest);
  }
  std::vector<int64_t> views = rows.TakeRows();
  if (node.unbounded != 0) node.unbounded = UnboundedBy(fn, node.unbounded);
  node.has_select |= fn == ScalarFn::kSelect;
  node.has_select |= fn == ScalarFn::kConvert && IsPred(children[0].node->type);
  node.kind = kind;
  node.fn = fn;
  node.type = type;
  node.aux = aux;
  node.edges = edges;
  node.slots = static_cast<int32_t>(views.size() / row_size);
  node.fragile |= HasTies(edges);
  return {Intern(node), std::move(views)};
}

Term NodeTable::Bind(ScalarFn fn, ElementType type, const Term& body,
                     std::span<const int64_t> extents) {
  HV_CHECK(body.node->slots > 0, "a bound body moves nothing");
  const size_t outer = body.row_size() - extents.size();
  RowTable rows(outer);
  std::vector<int32_t> slots;
  std::vector<int64_t> strides;
  for (size_t s = 0; s < static_cast<size_t>(body.node->slots); ++s) {
    const std::span<const int64_t> row = body.row(s);
    slots.push_back(rows.Number(row.first(outer)));
    strides.insert(strides.end(), row.begin() + static_cast<std::ptrdiff_t>(outer), row.end());
  }
  std::vector<int64_t> views = rows.TakeRows();
  const Edge edge{body.node, 1, slots};
  Node node;
  node.kind = NodeKind::kBound;
  node.fn = fn;
  node.type = type;
  node.edges = {&edge, 1};
  node.extents = extents;
  node.strides = strides;
  node.slots = static_cast<int32_t>(views.size() / outer);
  node.fragile = body.node->fragile;
  node.has_literal = body.node->has_literal;
  node.has_select = body.node->has_select;
  node.unbounded = body.node->unbounded;
  node.sources = body.node->sources;
  node.weight = std::min(1 + body.node->weight, Node::kHeaviest);
  return {Intern(node), std::move(views)};
}

Term NodeTable::Child(const Term& term, size_t e) {
  const Edge& edge = term.node->edges[e];
  const size_t bound = term.node->extents.size();
  Term child{edge.node, {}};
  child.views.reserve(edge.slots.size() * (term.row_size() + bound));
  for (size_t s = 0; s < edge.slots.size(); ++s) {
    const std::span<const int64_t> row = term.row(static_cast<size_t>(edge.slots[s]));
    child.views.insert(child.views.end(), row.begin(), row.end());
    const std::span<const int64_t> strides = term.node->strides.subspan(s * bound, bound);
    child.views.insert(child.views.end(), strides.begin(), strides.end());
  }
  return child;
}

}  // namespace hv
