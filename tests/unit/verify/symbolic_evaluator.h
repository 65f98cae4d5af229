// What a term is at a point, given native values for its sources: the meaning that every rule of
// the normal forms must keep. Written apart from the rules, over single elements.
#pragma once

#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "eval/scalar_op.h"
#include "eval/value.h"
#include "verify/symbolic_domain.h"

namespace hv {

using Element = std::array<std::byte, 16>;

class SymbolicEvaluator {
 public:
  SymbolicEvaluator(SymbolicDomain* domain, std::map<std::string, Value> inputs)
      : domain_(domain), inputs_(std::move(inputs)) {}

  Element At(const Term& term, const std::vector<int64_t>& point) {
    const Node& node = *term.node;
    switch (node.kind) {
      case NodeKind::kLeaf: {
        const Value& input = inputs_.at(domain_->sources().NameOf(node.aux));
        return Converted(input.shape()->type,
                         Read(input.bytes(), input.shape()->type, Offset(term.row(0), point)),
                         node.type);
      }
      case NodeKind::kConstant:
        return Read(node.bytes, node.type, 0);
      case NodeKind::kLiteral:
        return Read(node.bytes, node.type, Offset(term.row(0), point));
      case NodeKind::kIota:
        return Integer(Offset(term.row(0), point), node.type);
      case NodeKind::kApply:
        return Apply(term, point);
      case NodeKind::kMulti:
        return Multi(term, point);
      case NodeKind::kBound:
        return Bound(term, point);
    }
    return {};
  }

  // All elements of a tensor as a native array of its canonical type.
  std::vector<Element> Evaluate(const SymbolicTensor& tensor, int64_t count) {
    std::vector<Element> out(static_cast<size_t>(count));
    std::vector<int> written(out.size(), 0);
    for (const SymbolicPiece& piece : tensor.pieces()) {
      std::vector<int64_t> point(piece.region.digits.size(), 0);
      for (int64_t i = piece.region.count(); i > 0; --i) {
        int64_t offset = piece.region.base;
        for (size_t d = 0; d < point.size(); ++d)
          offset += piece.region.digits[d].stride * point[d];
        out.at(static_cast<size_t>(offset)) = At(piece.term, point);
        ++written.at(static_cast<size_t>(offset));
        for (size_t d = point.size(); d-- > 0;) {
          if (++point[d] < piece.region.digits[d].extent) break;
          point[d] = 0;
        }
      }
    }
    covers_ = std::all_of(written.begin(), written.end(), [](int w) { return w == 1; });
    return out;
  }
  // Did the pieces of the last tensor cover each element exactly once?
  bool covers() const { return covers_; }

  static Element Converted(ElementType from, const Element& element, ElementType to) {
    if (from == to) return element;
    Element out{};
    const std::byte* in = element.data();
    ScalarOp::Convert(from, to)->Run({&in, 1}, out.data(), 1);
    return out;
  }
  static Element Read(std::span<const std::byte> bytes, ElementType type, int64_t index) {
    Element element{};
    const size_t width = static_cast<size_t>(HostBytes(type));
    std::memcpy(element.data(), bytes.data() + static_cast<size_t>(index) * width, width);
    return element;
  }
  static double ToDouble(const Element& element, ElementType type) {
    double value = 0;
    const Element wide = Converted(type, element, ElementType::kF64);
    std::memcpy(&value, wide.data(), sizeof value);
    return value;
  }

 private:
  static int64_t Offset(std::span<const int64_t> row, const std::vector<int64_t>& point) {
    int64_t offset = row[0];
    for (size_t d = 0; d < point.size(); ++d) offset += row[d + 1] * point[d];
    return offset;
  }
  static Element Integer(int64_t value, ElementType type) {
    Element element{};
    std::memcpy(element.data(), &value, sizeof value);
    return Converted(ElementType::kS64, element, type);
  }
  static Element Real(double value, ElementType type) {
    Element element{};
    std::memcpy(element.data(), &value, sizeof value);
    return Converted(ElementType::kF64, element, type);
  }
  static int64_t ToInteger(const Element& element, ElementType type) {
    int64_t value = 0;
    const Element wide = Converted(type, element, ElementType::kS64);
    std::memcpy(&value, wide.data(), sizeof value);
    return value;
  }
  static Element Binary(ScalarFn fn, ElementType type, const Element& a, const Element& b) {
    Element out{};
    const std::byte* in[] = {a.data(), b.data()};
    ScalarOp::Make(fn, type)->Run(in, out.data(), 1);
    return out;
  }

  Element Apply(const Term& term, const std::vector<int64_t>& point) {
    const Node& node = *term.node;
    std::vector<Element> arguments;
    std::vector<ElementType> types;
    for (size_t e = 0; e < node.edges.size(); ++e) {
      arguments.push_back(At(NodeTable::Child(term, e), point));
      types.push_back(node.edges[e].node->type);
    }
    const std::string_view attributes = domain_->algebra().AttributesOf(node.aux);
    switch (node.fn) {
      case ScalarFn::kSelect:
        return arguments[arguments[0][0] != std::byte{0} ? 1 : 2];
      case ScalarFn::kConvert:
        return Converted(types[0], arguments[0], node.type);
      case ScalarFn::kCompare:
        return Compare(attributes, types[0], arguments[0], arguments[1]);
      default:
        break;
    }
    if (arguments.size() == 1) return Binary(node.fn, node.type, arguments[0], arguments[0]);
    Element result = arguments[0];  // a fold in order has more than two
    for (size_t i = 1; i < arguments.size(); ++i) {
      result = Binary(node.fn, node.type, result, arguments[i]);
    }
    return result;
  }

  static Element Compare(std::string_view direction, ElementType type, const Element& a,
                         const Element& b) {
    const double x = ToDouble(a, type), y = ToDouble(b, type);
    const bool holds = direction == "EQ"   ? x == y
                       : direction == "NE" ? x != y
                       : direction == "LT" ? x < y
                       : direction == "LE" ? x <= y
                       : direction == "GT" ? x > y
                                           : x >= y;
    return Integer(holds ? 1 : 0, ElementType::kPred);
  }

  // Coefficients of integer sums are integers, those over the reals doubles; all else is counted.
  Element Multi(const Term& term, const std::vector<int64_t>& point) {
    const Node& node = *term.node;
    const bool real = IsFloat(node.type);
    const bool sum = node.fn == ScalarFn::kAdd;
    if (sum && real) {
      double total = 0;
      for (size_t e = 0; e < node.edges.size(); ++e) {
        const int64_t count = node.edges[e].count;
        const double factor =
            domain_->algebra().IsReal() ? std::bit_cast<double>(count) : static_cast<double>(count);
        total += factor * ToDouble(At(NodeTable::Child(term, e), point), node.type);
      }
      return Real(total, node.type);
    }
    Element result{};
    for (size_t e = 0; e < node.edges.size(); ++e) {
      const Element child = At(NodeTable::Child(term, e), point);
      const int64_t count = node.edges[e].count;
      Element part = child;
      if (sum) {
        const uint64_t product =
            static_cast<uint64_t>(count) * static_cast<uint64_t>(ToInteger(child, node.type));
        part = Integer(static_cast<int64_t>(product), node.type);
      } else {
        for (int64_t k = 1; k < count; ++k) part = Binary(node.fn, node.type, part, child);
      }
      result = e == 0 ? part : Binary(node.fn, node.type, result, part);
    }
    return result;
  }

  Element Bound(const Term& term, const std::vector<int64_t>& point) {
    const Node& node = *term.node;
    const Term body = NodeTable::Child(term, 0);
    std::vector<int64_t> inner = point;
    inner.resize(point.size() + node.extents.size(), 0);
    Element result{};
    bool first = true;
    while (true) {
      const Element value = At(body, inner);
      result = first ? value : Binary(node.fn, node.type, result, value);
      first = false;
      size_t d = node.extents.size();
      while (d > 0 && ++inner[point.size() + d - 1] == node.extents[d - 1]) {
        inner[point.size() + d - 1] = 0;
        --d;
      }
      if (d == 0) return result;
    }
  }

  SymbolicDomain* domain_;
  std::map<std::string, Value> inputs_;
  bool covers_ = false;
};

}  // namespace hv
