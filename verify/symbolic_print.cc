#include "verify/symbolic_print.h"

#include <algorithm>
#include <bit>

#include "hlo/literal.h"

namespace hv {
namespace {

std::string_view NameOf(ScalarFn fn) {
  switch (fn) {
    case ScalarFn::kAdd:
      return "sum";
    case ScalarFn::kMultiply:
      return "product";
    case ScalarFn::kMaximum:
      return "maximum";
    case ScalarFn::kMinimum:
      return "minimum";
    case ScalarFn::kAnd:
      return "and";
    case ScalarFn::kOr:
      return "or";
    case ScalarFn::kXor:
      return "xor";
    default:
      return "function";
  }
}

// "[4+8i+j]"; digit d of the domain is the d-th letter from i on.
void AppendOffset(std::span<const int64_t> row, std::string* out) {
  out->append("[");
  bool any = row[0] != 0;
  if (any) out->append(std::to_string(row[0]));
  for (size_t d = 1; d < row.size(); ++d) {
    if (row[d] == 0) continue;
    if (any && row[d] > 0) out->append("+");
    if (row[d] == -1) out->append("-");
    if (row[d] != 1 && row[d] != -1) out->append(std::to_string(row[d]));
    out->push_back(static_cast<char>('i' + static_cast<int>(std::min<size_t>(d - 1, 17))));
    any = true;
  }
  out->append(any ? "]" : "0]");
}

class Printer {
 public:
  Printer(SymbolicDomain* domain, size_t limit) : domain_(domain), limit_(limit) {}

  std::string Print(const Term& term) {
    Append(term);
    if (full()) out_.append("...");
    return std::move(out_);
  }

 private:
  bool full() const { return out_.size() > limit_; }

  void Append(const Term& term) {
    if (full()) return;
    const Node& node = *term.node;
    switch (node.kind) {
      case NodeKind::kLeaf:
        out_.append(domain_->sources().NameOf(node.aux));
        return AppendOffset(term.row(0), &out_);
      case NodeKind::kIota:
        out_.append("iota");
        return AppendOffset(term.row(0), &out_);
      case NodeKind::kLiteral:
        out_.append("constant array");
        return AppendOffset(term.row(0), &out_);
      case NodeKind::kConstant:
        return AppendElement(node.type, node.bytes.data(), &out_);
      case NodeKind::kApply:
        out_.append(FunctionName(node));
        return AppendChildren(term, false);
      case NodeKind::kMulti:
        out_.append(NameOf(node.fn));
        return AppendChildren(term, true);
      case NodeKind::kBound:
        out_.append(NameOf(node.fn)).append(" over ");
        for (size_t d = 0; d < node.extents.size(); ++d) {
          out_.append(d == 0 ? "" : "x").append(std::to_string(node.extents[d]));
        }
        return AppendChildren(term, false);
    }
  }

  std::string FunctionName(const Node& node) {
    for (int i = 0; i < kOpcodeCount; ++i) {
      const OpDef& op = Definition(static_cast<Opcode>(i));
      if (op.kernel != KernelKind::kScalar || op.scalar != node.fn) continue;
      std::string name(ToString(op.opcode));
      const std::string_view attributes = domain_->algebra().AttributesOf(node.aux);
      if (!attributes.empty()) name.append(" by ").append(attributes);
      return name;
    }
    return "function";
  }

  void AppendChildren(const Term& term, bool counts) {
    out_.append("(");
    for (size_t e = 0; e < term.node->edges.size() && !full(); ++e) {
      if (e > 0) out_.append(", ");
      if (counts) AppendCount(*term.node, term.node->edges[e].count);
      Append(NodeTable::Child(term, e));
    }
    out_.append(")");
  }

  void AppendCount(const Node& node, int64_t count) {
    const bool real =
        node.fn == ScalarFn::kAdd && domain_->algebra().IsReal() && !IsInteger(node.type);
    if (real) {
      const double c = domain_->algebra().NearestTo(count);
      if (c == 1) return;
      AppendElement(ElementType::kF64, reinterpret_cast<const std::byte*>(&c), &out_);
    } else {
      if (count == 1) return;
      out_.append(std::to_string(count));
    }
    out_.append(node.fn == ScalarFn::kMultiply ? " times " : "*");
  }

  SymbolicDomain* domain_;
  size_t limit_;
  std::string out_;
};

struct Counted {
  Term term;
  int64_t count;
};

std::vector<Counted> PartsOf(const Term& term) {
  std::vector<Counted> parts;
  for (size_t e = 0; e < term.node->edges.size(); ++e) {
    parts.push_back({NodeTable::Child(term, e), term.node->edges[e].count});
  }
  return parts;
}

// A term in words; of an element of an argument its device apart, so that those of several devices
// can be named together: "x[i]" and "0,3".
struct Words {
  std::string text, device;
};

Words InWords(SymbolicDomain* domain, const Term& term) {
  constexpr std::string_view kOf = " of device ";
  std::string text = DescribeTerm(domain, term, 120);
  const size_t of = text.find(kOf), offset = text.find('[', of);
  if (term.node->kind != NodeKind::kLeaf || of == std::string::npos ||
      offset == std::string::npos) {
    return {std::move(text), ""};
  }
  return {text.substr(0, of) + text.substr(offset),
          text.substr(of + kOf.size(), offset - of - kOf.size())};
}

std::string Joined(const Words& words, const std::vector<std::string>& devices) {
  if (devices.empty() || words.device.empty()) return words.text;
  std::string text = words.text + (devices.size() == 1 ? " of device" : " of devices");
  for (const std::string& device : devices) text += " " + device;
  return text;
}

// Parts of `a` that `b` lacks.
std::string Lacking(SymbolicDomain* domain, const std::vector<Counted>& a,
                    const std::vector<Counted>& b) {
  constexpr size_t kMost = 4;
  std::string text;
  Words open;
  std::vector<std::string> devices;  // that share `open`
  const auto close = [&] {
    if (open.text.empty()) return;
    text.append(text.empty() ? "" : ", ").append(Joined(open, devices));
    devices.clear();
  };
  size_t found = 0;
  for (const Counted& part : a) {
    const bool there = std::any_of(b.begin(), b.end(), [&](const Counted& other) {
      return other.term == part.term && other.count == part.count;
    });
    if (there || ++found > kMost) continue;
    Words words = InWords(domain, part.term);
    if (words.text != open.text || words.device.empty()) {
      close();
      open = std::move(words);
      devices = {open.device};
    } else {
      devices.push_back(std::move(words.device));
    }
  }
  close();
  if (found > kMost) text.append(" and ").append(std::to_string(found - kMost)).append(" more");
  return text;
}

}  // namespace

std::string DescribeTerm(SymbolicDomain* domain, const Term& term, size_t limit) {
  if (term.node == nullptr) return "too many pieces";
  return Printer(domain, limit).Print(term);
}

std::string DescribeSummands(SymbolicDomain* domain, const Term& before, const Term& after) {
  const auto is_multi = [](const Term& t) {
    return t.node != nullptr && t.node->kind == NodeKind::kMulti;
  };
  if (!is_multi(before) && !is_multi(after)) return {};
  if (before.node == nullptr || after.node == nullptr) return {};
  if (is_multi(before) && is_multi(after) && before.node->fn != after.node->fn) return {};
  const std::vector<Counted> had =
      is_multi(before) ? PartsOf(before) : std::vector<Counted>{{before, 1}};
  const std::vector<Counted> has =
      is_multi(after) ? PartsOf(after) : std::vector<Counted>{{after, 1}};
  const std::string missing = Lacking(domain, had, has), extra = Lacking(domain, has, had);
  std::string text;
  if (!missing.empty()) text.append("misses ").append(missing);
  if (!extra.empty()) {
    text.append(text.empty() ? "has " : "; has ").append(extra).append(" in excess");
  }
  return text;
}

std::string DescribeRegion(const Region& region) {
  const int64_t count = region.count();
  if (count == 1) return "element " + std::to_string(region.base);
  const std::string first = std::to_string(region.base), last = std::to_string(region.highest());
  if (region.highest() - region.base + 1 == count) return "elements " + first + ".." + last;
  return std::to_string(count) + " elements from " + first + " to " + last;
}

}  // namespace hv
