#include "verify/symbolic_algebra.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "base/check.h"
#include "eval/scalar_op.h"
#include "verify/symbolic_overlay.h"

namespace hv {
namespace {

// Literals are brought to row-major order of the domain up to this many elements.
constexpr int64_t kLargestLiteral = int64_t{1} << 16;
// Terms of more nodes than this are not rebuilt when they move.
constexpr int64_t kLargestEager = 500;
constexpr size_t kMostMemos = 500000;
// Budget from which terms of other leaves are split by what they select by.
constexpr int64_t kSplitting = 10000;

bool SameRow(std::span<const int64_t> a, std::span<const int64_t> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

bool RowsDiffer(const Term& term) {
  const size_t slots = static_cast<size_t>(term.node->slots);
  if (slots <= 8) {
    for (size_t i = 0; i < slots; ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (SameRow(term.row(i), term.row(j))) return false;
      }
    }
    return true;
  }
  std::unordered_multimap<uint64_t, size_t> seen;
  for (size_t i = 0; i < slots; ++i) {
    uint64_t hash = 0;
    for (int64_t v : term.row(i)) hash = (hash ^ static_cast<uint64_t>(v)) * 0x9E3779B97F4A7C15;
    const auto [first, last] = seen.equal_range(hash);
    for (auto it = first; it != last; ++it) {
      if (SameRow(term.row(i), term.row(it->second))) return false;
    }
    seen.emplace(hash, i);
  }
  return true;
}

Term OneRow(const Node* node, std::span<const int64_t> row) {
  return {node, {row.begin(), row.end()}};
}

}  // namespace

ElementType Algebra::Canonical(ElementType type) const {
  if (!IsReal()) return type;
  if (IsFloat(type)) return ElementType::kF64;
  return IsComplex(type) ? ElementType::kC128 : type;
}

int64_t Algebra::Function(ScalarFn fn, std::string_view attributes, const Instruction* sample) {
  const auto [it, is_new] = function_index_.emplace(std::pair(fn, std::string(attributes)),
                                                    static_cast<int64_t>(functions_.size()));
  if (is_new) functions_.push_back({fn, std::string(attributes), sample});
  return it->second;
}

Term Algebra::Leaf(int64_t source, ElementType type, std::span<const int64_t> row) {
  return OneRow(nodes_.Leaf(source, Canonical(type)), row);
}

Term Algebra::Iota(ElementType type, std::span<const int64_t> row) {
  return OneRow(nodes_.Iota(Canonical(type)), row);
}

Term Algebra::Constant(ElementType type, std::span<const std::byte> element) {
  const ElementType canonical = Canonical(type);
  if (canonical == type) return ConstantBytes(type, element);
  std::byte converted[16];
  const std::byte* in = element.data();
  ScalarOp::Convert(type, canonical)->Run({&in, 1}, converted, 1);
  return ConstantBytes(canonical, {converted, static_cast<size_t>(HostBytes(canonical))});
}

Term Algebra::FromDouble(ElementType type, double value) {
  std::byte element[8];
  std::memcpy(element, &value, sizeof value);
  std::byte converted[16];
  const std::byte* in = element;
  ScalarOp::Convert(ElementType::kF64, type)->Run({&in, 1}, converted, 1);
  return ConstantBytes(type, {converted, static_cast<size_t>(HostBytes(type))});
}

Term Algebra::Integer(ElementType type, int64_t value) {
  if (!IsInteger(type) && !IsPred(type))
    return FromDouble(Canonical(type), static_cast<double>(value));
  std::byte element[8], converted[16];
  std::memcpy(element, &value, sizeof value);
  const std::byte* in = element;
  ScalarOp::Convert(ElementType::kS64, type)->Run({&in, 1}, converted, 1);
  return ConstantBytes(type, {converted, static_cast<size_t>(HostBytes(type))});
}

// Elements in the order of the domain, so that equal arrays read alike are one node; a uniform part
// becomes a constant.
Term Algebra::Literal(ElementType type, std::span<const std::byte> elements,
                      std::span<const int64_t> row, std::span<const int64_t> extents) {
  const ElementType canonical = Canonical(type);
  if (canonical != type) {
    const size_t count = elements.size() / static_cast<size_t>(HostBytes(type));
    std::vector<std::byte> converted(count * static_cast<size_t>(HostBytes(canonical)));
    const std::byte* in = elements.data();
    ScalarOp::Convert(type, canonical)->Run({&in, 1}, converted.data(), count);
    return Literal(canonical, converted, row, extents);
  }
  int64_t count = 1;
  for (int64_t e : extents) count = count > kLargestLiteral ? count : count * e;
  if (count > kLargestLiteral) return OneRow(nodes_.Literal(type, elements), row);
  const size_t width = static_cast<size_t>(HostBytes(type));
  std::vector<std::byte> ordered;
  ordered.reserve(static_cast<size_t>(count) * width);
  std::vector<int64_t> digit(extents.size(), 0);
  int64_t offset = row[0];
  for (int64_t i = 0; i < count; ++i) {
    const auto element = elements.subspan(static_cast<size_t>(offset) * width, width);
    ordered.insert(ordered.end(), element.begin(), element.end());
    for (size_t d = extents.size(); d-- > 0;) {
      offset += row[d + 1];
      if (++digit[d] < extents[d]) break;
      offset -= row[d + 1] * extents[d];
      digit[d] = 0;
    }
  }
  const std::span<const std::byte> first(ordered.data(), width);
  bool uniform = true;
  for (size_t i = width; i < ordered.size() && uniform; i += width) {
    uniform = std::memcmp(first.data(), ordered.data() + i, width) == 0;
  }
  if (uniform) return ConstantBytes(type, first);
  std::vector<int64_t> standard(row.size(), 0);
  int64_t stride = 1;
  for (size_t d = extents.size(); d-- > 0; stride *= extents[d]) standard[d + 1] = stride;
  return OneRow(nodes_.Literal(type, ordered), standard);
}

Term Algebra::Substitute(const Term& term, const DigitMap& map) {
  Term moved{term.node, {}};
  moved.views.reserve(static_cast<size_t>(term.node->slots) * (1 + map.columns.size()));
  for (size_t s = 0; s < static_cast<size_t>(term.node->slots); ++s) {
    const std::span<const int64_t> row = term.row(s);
    int64_t base = row[0];
    for (size_t r = 0; r < map.offset.size(); ++r) base += row[r + 1] * map.offset[r];
    moved.views.push_back(base);
    for (const DigitMap::Column& c : map.columns) {
      moved.views.push_back(c.row < 0 ? 0 : row[static_cast<size_t>(c.row) + 1] * c.step);
    }
  }
  Extents extents;
  for (const DigitMap::Column& c : map.columns) extents.push_back(c.extent);
  return Normalized(std::move(moved), extents);
}

size_t Algebra::MemoHash::operator()(const MemoKey& key) const {
  uint64_t hash = key.term.node->id;
  for (int64_t v : key.term.views) hash = (hash ^ static_cast<uint64_t>(v)) * 0x9E3779B97F4A7C15;
  for (int64_t v : key.extents) hash = (hash ^ static_cast<uint64_t>(v)) * 0xD6E8FEB86659FD93;
  return static_cast<size_t>(hash ^ (hash >> 32));
}

// A term whose normal form the move may have changed is still the right function. So large ones, of
// which a deep network would rebuild exponentially many views, stay as they are until Equal asks.
Term Algebra::Normalized(Term term, std::span<const int64_t> extents) {
  const bool literal = thorough_ && term.node->has_literal;
  if (!thorough_ && term.node->weight > kLargestEager) return term;
  if (IsExhausted()) return term;
  if (!term.node->fragile && !literal && RowsDiffer(term)) return term;
  Memo& memo = thorough_ ? thoroughly_rebuilt_ : rebuilt_;
  MemoKey key{std::move(term), {extents.begin(), extents.end()}};
  const auto known = memo.find(key);
  if (known != memo.end()) return known->second;
  if (thorough_ && budget_-- <= 0) return std::move(key.term);
  if (memo.size() > kMostMemos) memo.clear();
  Term rebuilt = Rebuild(key.term, extents);
  memo.emplace(std::move(key), rebuilt);
  return rebuilt;
}

bool Algebra::Equal(const Term& a, const Term& b, std::span<const int64_t> extents,
                    int64_t budget) {
  if (a == b) return true;
  // A selection may depend on what neither of its values does.
  const bool selects = (a.node->has_select || b.node->has_select) && budget >= kSplitting;
  if (budget <= 0 || (!selects && a.node->sources != b.node->sources)) return false;
  thorough_ = true;
  budget_ = budget;
  const Term first = Normalized(a, extents), second = Normalized(b, extents);
  const bool equal = EqualInCases(first, second, extents, kSplits) ||
                     (budget_ > 0 && SumsAgree(this, first, second, extents));
  // What was cut short must not pass for normal later.
  if (budget_ < 0) thoroughly_rebuilt_.clear();
  thorough_ = false;
  return equal;
}

Term Algebra::Rebuild(const Term& term, std::span<const int64_t> extents) {
  const Node& node = *term.node;
  if (node.kind == NodeKind::kLiteral) return Literal(node.type, node.bytes, term.row(0), extents);
  if (node.edges.empty()) return term;
  Extents inner(extents.begin(), extents.end());
  inner.insert(inner.end(), node.extents.begin(), node.extents.end());
  Summands children;
  for (size_t e = 0; e < node.edges.size(); ++e) {
    children.push_back({Normalized(NodeTable::Child(term, e), inner), node.edges[e].count});
  }
  return Assemble(node, std::move(children), inner);
}

// The node's function of new children over the domain `inner`, bound digits last.
Term Algebra::Assemble(const Node& node, Summands children, std::span<const int64_t> inner) {
  switch (node.kind) {
    case NodeKind::kMulti:
      return Combine(node.fn, node.type, std::move(children));
    case NodeKind::kBound:
      return Bind(node.fn, node.type, std::move(children[0].term), inner, node.extents.size());
    default:
      break;
  }
  std::vector<Term> arguments;
  for (Summand& child : children) arguments.push_back(std::move(child.term));
  return Scalar(node.aux, node.type, std::move(arguments));
}

}  // namespace hv
