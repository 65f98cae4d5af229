// One printer per kind; the counterpart of value_reader.cc.
#include "hlo/attribute_printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "hlo/text.h"

namespace hv {
namespace {

template <class T>
std::span<const T> ListOf(const Attribute& attribute) {
  return {static_cast<const T*>(attribute.data), static_cast<size_t>(attribute.size)};
}

// open item separator item ... close
template <class Items, class Print>
void AppendList(std::string_view open, const Items& items, std::string_view separator,
                std::string_view close, std::string* out, Print&& print) {
  *out += open;
  bool first = true;
  for (const auto& item : items) {
    if (!first) *out += separator;
    first = false;
    print(item);
  }
  *out += close;
}

void AppendInts(std::span<const int64_t> values, std::string* out) {
  AppendList("{", values, ",", "}", out, [out](int64_t value) { AppendInt(value, out); });
}

void AppendQuoted(std::string_view text, std::string* out) {
  *out += '"';
  AppendEscaped(text, out);
  *out += '"';
}

// A text that reads as {...} stands without quotes.
void AppendConfig(std::string_view text, std::string* out) {
  if (IsJsonDict(text)) {
    *out += text;
  } else {
    AppendQuoted(text, out);
  }
}

void AppendSlice(std::span<const SliceDim> dims, std::string* out) {
  const bool strided =
      std::any_of(dims.begin(), dims.end(), [](const SliceDim& d) { return d.stride != 1; });
  AppendList("{", dims, ", ", "}", out, [out, strided](const SliceDim& dim) {
    fmt::format_to(std::back_inserter(*out), "[{}:{}", dim.start, dim.limit);
    if (strided) fmt::format_to(std::back_inserter(*out), ":{}", dim.stride);
    *out += ']';
  });
}

void AppendPadding(std::span<const PaddingDim> dims, std::string* out) {
  const bool interior =
      std::any_of(dims.begin(), dims.end(), [](const PaddingDim& d) { return d.interior != 0; });
  AppendList("", dims, "x", "", out, [out, interior](const PaddingDim& dim) {
    fmt::format_to(std::back_inserter(*out), "{}_{}", dim.low, dim.high);
    if (interior) fmt::format_to(std::back_inserter(*out), "_{}", dim.interior);
  });
}

// Parts that are 1 (or 0) in every dimension are left out, but for the size.
void AppendWindow(std::span<const WindowDim> dims, std::string* out) {
  bool first = true;
  const auto part = [&](std::string_view name, auto member, int64_t absent) {
    const bool given = std::any_of(dims.begin(), dims.end(), [member, absent](const WindowDim& d) {
      return static_cast<int64_t>(d.*member) != absent;
    });
    if (!given) return;
    if (!first) *out += ' ';
    first = false;
    *out += name;
    AppendList("", dims, "x", "", out,
               [&](const WindowDim& dim) { AppendInt(static_cast<int64_t>(dim.*member), out); });
  };
  const auto padding = [&] {
    const bool given = std::any_of(dims.begin(), dims.end(),
                                   [](const WindowDim& d) { return d.low != 0 || d.high != 0; });
    if (!given) return;
    *out += " pad=";
    AppendList("", dims, "x", "", out, [out](const WindowDim& dim) {
      fmt::format_to(std::back_inserter(*out), "{}_{}", dim.low, dim.high);
    });
  };
  *out += '{';
  part("size=", &WindowDim::size, INT64_MIN);  // always
  part("stride=", &WindowDim::stride, 1);
  padding();
  part("lhs_dilate=", &WindowDim::base_dilation, 1);
  part("rhs_dilate=", &WindowDim::window_dilation, 1);
  part("rhs_reversal=", &WindowDim::reversed, 0);
  *out += '}';
}

void AppendIntLists(Opcode opcode, std::span<const std::span<const int64_t>> lists,
                    std::string* out) {
  // Only gather's sizes are one flat list; permutes list the sizes of each slice.
  if (opcode == Opcode::kGather && lists.size() == 1) return AppendInts(lists[0], out);
  AppendList("{", lists, ",", "}", out,
             [out](std::span<const int64_t> list) { AppendInts(list, out); });
}

void AppendShapedLiteral(const Literal& literal, std::string* out) {
  if (literal.shape->IsTuple()) {
    AppendList("( ", literal.elements, ", ", " )", out,
               [out](const Literal* element) { AppendShapedLiteral(*element, out); });
    return;
  }
  AppendShape(*literal.shape, true, out);
  *out += ' ';
  AppendLiteral(literal, out);
}

void AppendReal(double value, std::string* out) {
  char digits[32];
  out->append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

void AppendDictionary(std::span<const DictionaryEntry> entries, std::string* out) {
  AppendList("{", entries, ",", "}", out, [out](const DictionaryEntry& entry) {
    (*out += entry.key) += '=';
    AppendConfig(entry.value, out);
  });
}

void AppendComputationName(const Module& module, int64_t index, std::string* out) {
  (*out += '%') += module.computations[static_cast<size_t>(index)].name;
}

// Kinds that point into the module.
bool AppendReference(const Module& module, const Computation& computation,
                     const Attribute& attribute, std::string* out) {
  switch (Row(attribute.key).kind) {
    case AttrKind::kComputation:
      AppendComputationName(module, attribute.integer, out);
      return true;
    case AttrKind::kComputations:
      AppendList("{", ListOf<ComputationIndex>(attribute), ", ", "}", out,
                 [&](ComputationIndex index) { AppendComputationName(module, index, out); });
      return true;
    case AttrKind::kInstructions:
      AppendList("{", ListOf<InstructionIndex>(attribute), ", ", "}", out,
                 [&](InstructionIndex i) { (*out += '%') += computation.At(i).name; });
      return true;
    default:
      return false;
  }
}

void AppendValue(Opcode opcode, const Attribute& attribute, std::string* out) {
  switch (Row(attribute.key).kind) {
    case AttrKind::kBool:
      *out += attribute.integer != 0 ? "true" : "false";
      break;
    case AttrKind::kInt:
      AppendInt(attribute.integer, out);
      break;
    case AttrKind::kReal:
      AppendReal(attribute.real, out);
      break;
    case AttrKind::kInts:
      AppendInts(ListOf<int64_t>(attribute), out);
      break;
    case AttrKind::kIntLists:
      AppendIntLists(opcode, ListOf<std::span<const int64_t>>(attribute), out);
      break;
    case AttrKind::kBools:
      AppendList("{", ListOf<bool>(attribute), ",", "}", out,
                 [out](bool flag) { *out += flag ? "true" : "false"; });
      break;
    case AttrKind::kWordsAnyCase:
      AppendList("{", ListOf<std::string_view>(attribute), ",", "}", out,
                 [out](std::string_view word) { *out += word; });
      break;
    case AttrKind::kString:
      AppendQuoted(attribute.text, out);
      break;
    case AttrKind::kConfig:
      AppendConfig(attribute.text, out);
      break;
    case AttrKind::kDictionary:
      AppendDictionary(ListOf<DictionaryEntry>(attribute), out);
      break;
    case AttrKind::kSlice:
      AppendSlice(ListOf<SliceDim>(attribute), out);
      break;
    case AttrKind::kPadding:
      AppendPadding(ListOf<PaddingDim>(attribute), out);
      break;
    case AttrKind::kWindow:
      AppendWindow(ListOf<WindowDim>(attribute), out);
      break;
    case AttrKind::kDeviceList:
      AppendDeviceList(*static_cast<const DeviceList*>(attribute.data), out);
      break;
    case AttrKind::kPairs:
      AppendList("{", ListOf<SourceTarget>(attribute), ",", "}", out, [out](SourceTarget pair) {
        fmt::format_to(std::back_inserter(*out), "{{{},{}}}", pair.source, pair.target);
      });
      break;
    case AttrKind::kShape:
      AppendShape(*static_cast<const Shape*>(attribute.data), true, out);
      break;
    case AttrKind::kShapes:
      AppendList("{", ListOf<const Shape*>(attribute), ", ", "}", out,
                 [out](const Shape* shape) { AppendShape(*shape, true, out); });
      break;
    case AttrKind::kLiteral:
      AppendShapedLiteral(*static_cast<const Literal*>(attribute.data), out);
      break;
    default:
      *out += attribute.text;
      break;  // words, labels and texts kept as written
  }
}

}  // namespace

void AppendAttribute(const Module& module, const Computation& computation,
                     const Instruction& instruction, const Attribute& attribute, std::string* out) {
  (*out += Row(attribute.key).text) += '=';
  if (AppendReference(module, computation, attribute, out)) return;
  AppendValue(instruction.opcode, attribute, out);
}

}  // namespace hv
