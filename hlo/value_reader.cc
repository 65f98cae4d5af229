// Attribute values by kind; lists go to the arena, texts stay views into the source.
#include "hlo/value_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "hlo/attribute_rules.h"
#include "hlo/conv_dims.h"
#include "hlo/device_list_reader.h"
#include "hlo/literal_reader.h"

namespace hv {
namespace {

bool SameWordAnyCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

// A literal that carries its shapes: `f32[2] {1,2}` or `( f32[] 1, u8[] 2 )`.
const Literal* ReadShapedLiteral(Reader* in, ShapeReader* shapes) {
  Reader::Nest nest(in);
  if (!nest) return nullptr;
  if (in->Peek() != '(') {
    const Shape* shape = shapes->Read();
    return shape == nullptr ? nullptr : ReadLiteral(in, shape);
  }
  in->Consume('(');
  std::vector<const Literal*> elements;
  std::vector<const Shape*> element_shapes;
  const bool read = in->ListUntil(')', "after a tuple literal", [&] {
    elements.push_back(ReadShapedLiteral(in, shapes));
    if (elements.back() == nullptr) return false;
    element_shapes.push_back(elements.back()->shape);
    return true;
  });
  if (!read) return nullptr;
  auto* literal = in->arena().New<Literal>();
  literal->shape = in->shapes().Tuple(element_shapes);
  literal->elements = in->arena().Copy(elements);
  return literal;
}

}  // namespace

template <class T>
bool ValueReader::Store(const std::vector<T>& values, Attribute* attribute) {
  const std::span<const T> copy = in_.arena().Copy(values);
  attribute->data = copy.data();
  attribute->size = copy.size();
  return true;
}

template <class Item>
bool ValueReader::Crossed(Item&& item) {
  if (!item()) return false;
  while (in_.PeekRaw() == 'x') {
    in_.set_position(in_.position() + 1);
    if (!item()) return false;
  }
  return true;
}

bool ValueReader::Read(Attribute* attribute) {
  bool flag = false;
  switch (Row(attribute->key).kind) {
    case AttrKind::kBool:
      if (!in_.Bool(&flag)) return false;
      attribute->integer = flag ? 1 : 0;
      return true;
    case AttrKind::kInt:
      return in_.Int(&attribute->integer);
    case AttrKind::kReal:
      return in_.Real(&attribute->real);
    case AttrKind::kInts:
      return ReadInts(attribute);
    case AttrKind::kIntLists:
      return ReadIntLists(attribute);
    case AttrKind::kBools:
      return ReadBools(attribute);
    case AttrKind::kWord:
    case AttrKind::kWordAnyCase:
      return ReadEnumWord(attribute->key, &attribute->text);
    case AttrKind::kWordsAnyCase:
      return ReadWords(attribute);
    case AttrKind::kString:
      return in_.Quoted(&attribute->text);
    case AttrKind::kBraces:
      return in_.Braces(&attribute->text);
    case AttrKind::kConfig:
      return ReadConfig(attribute);
    case AttrKind::kDictionary:
      return ReadDictionary(attribute);
    case AttrKind::kSlice:
      return ReadSlice(attribute);
    case AttrKind::kPadding:
      return ReadPadding(attribute);
    case AttrKind::kWindow:
      return ReadWindow(attribute);
    case AttrKind::kDimLabels:
      return ReadDimLabels(attribute);
    case AttrKind::kPairs:
      return ReadPairs(attribute);
    case AttrKind::kDeviceList:
      attribute->data = ReadDeviceList(&in_);
      return attribute->data != nullptr;
    case AttrKind::kShape:
      attribute->data = shapes_.Read();
      return attribute->data != nullptr;
    case AttrKind::kShapes:
      return ReadShapes(attribute);
    case AttrKind::kLiteral:
      return ReadTypedLiteral(attribute);
    case AttrKind::kSharding:
      return ReadSharding(&in_, &attribute->text);
    case AttrKind::kComputation:
    case AttrKind::kComputations:
    case AttrKind::kInstructions:
      break;
  }
  return false;
}

bool ValueReader::ReadInts(Attribute* attribute) {
  ints_.clear();
  return in_.Ints(&ints_) && Store(ints_, attribute);
}

// {{1,2},{3}}, or {1,2} for a single list.
bool ValueReader::ReadIntLists(Attribute* attribute) {
  const char* const start = in_.position();
  std::vector<std::span<const int64_t>> lists;
  if (!in_.Expect('{', "before lists of integers")) return false;
  const bool nested = in_.Peek() == '{';
  if (!nested) in_.set_position(start);
  const auto read_list = [&] {
    ints_.clear();
    if (!in_.Ints(&ints_)) return false;
    lists.push_back(in_.arena().Copy(ints_));
    return true;
  };
  const bool read = nested ? in_.ListUntil('}', "after lists of integers", read_list) : read_list();
  return read && Store(lists, attribute);
}

bool ValueReader::ReadBools(Attribute* attribute) {
  std::vector<char> flags;
  if (!in_.Expect('{', "before a list of true and false")) return false;
  const bool read = in_.ListUntil('}', "after a list of true and false", [&] {
    bool flag;
    if (!in_.Bool(&flag)) return false;
    flags.push_back(flag ? 1 : 0);
    return true;
  });
  if (!read) return false;
  const std::span<bool> copy = in_.arena().NewArray<bool>(flags.size());
  std::copy(flags.begin(), flags.end(), copy.begin());
  attribute->data = copy.data();
  attribute->size = copy.size();
  return true;
}

// The word at the cursor, in the spelling of EnumWords where case does not matter.
bool ValueReader::ReadEnumWord(Attr key, std::string_view* word) {
  const uint32_t where = in_.TokenOffset();
  *word = in_.Identifier();
  if (word->empty()) return in_.FailExpected("a word");
  const auto words = EnumWords(key);
  if (words.empty()) return true;
  const bool any_case = Row(key).kind != AttrKind::kWord;
  const auto known = std::find_if(words.begin(), words.end(), [&](std::string_view legal) {
    return legal == *word || (any_case && SameWordAnyCase(legal, *word));
  });
  if (known != words.end()) {
    *word = *known;
    return true;
  }
  std::string note = "known:";
  for (std::string_view legal : words) (note += ' ') += legal;
  return in_.Fail(where, "unknown-word",
                  fmt::format("'{}' is no value of {}", *word, Row(key).text), std::move(note));
}

bool ValueReader::ReadWords(Attribute* attribute) {
  std::vector<std::string_view> words;
  if (!in_.Expect('{', "before a list of words")) return false;
  const bool read = in_.ListUntil('}', "after a list of words", [&] {
    return ReadEnumWord(attribute->key, &words.emplace_back());
  });
  return read && Store(words, attribute);
}

bool ValueReader::ReadConfig(Attribute* attribute) {
  return in_.Peek() == '{' ? in_.Braces(&attribute->text, BraceStyle::kJson)
                           : in_.Quoted(&attribute->text);
}

bool ValueReader::ReadDictionaryEntry(DictionaryEntry* entry) {
  entry->key = in_.AttributeName();
  if (entry->key.empty()) return in_.FailExpected("key=");
  entry->is_string = in_.Peek() != '{';
  return entry->is_string ? in_.Quoted(&entry->value)
                          : in_.Braces(&entry->value, BraceStyle::kJson);
}

// Kept sorted by key, as it is printed; a key must not repeat.
bool ValueReader::ReadDictionary(Attribute* attribute) {
  const uint32_t where = in_.TokenOffset();
  std::vector<DictionaryEntry> entries;
  if (!in_.Expect('{', "before frontend attributes")) return false;
  const bool read = in_.ListUntil('}', "after frontend attributes", [&] {
    entries.emplace_back();
    return ReadDictionaryEntry(&entries.back());
  });
  if (!read) return false;
  std::sort(entries.begin(), entries.end(),
            [](const DictionaryEntry& a, const DictionaryEntry& b) { return a.key < b.key; });
  const auto twice = std::adjacent_find(
      entries.begin(), entries.end(),
      [](const DictionaryEntry& a, const DictionaryEntry& b) { return a.key == b.key; });
  if (twice != entries.end()) {
    return in_.Fail(where, "repeated-key", fmt::format("key '{}' appears twice", twice->key));
  }
  return Store(entries, attribute);
}

// {[0:8:2], [1:3]}
bool ValueReader::ReadSlice(Attribute* attribute) {
  std::vector<SliceDim> dims;
  if (!in_.Expect('{', "before slice ranges")) return false;
  const bool read = in_.ListUntil('}', "after slice ranges", [&] {
    SliceDim& dim = dims.emplace_back();
    return in_.Expect('[', "before a slice range") && in_.Int(&dim.start) &&
           in_.Expect(':', "in a slice range") && in_.Int(&dim.limit) &&
           (!in_.Consume(':') || in_.Int(&dim.stride)) && in_.Expect(']', "after a slice range");
  });
  return read && Store(dims, attribute);
}

// low_high or low_high_interior
bool ValueReader::ReadPaddingDim(PaddingDim* dim, bool with_interior) {
  const auto next = [this](int64_t* value) {
    if (in_.PeekRaw() != '_') return false;
    in_.set_position(in_.position() + 1);
    return in_.Int(value);
  };
  if (!in_.Int(&dim->low)) return false;
  if (in_.PeekRaw() != '_') return in_.FailExpected("'_' between two amounts of padding");
  if (!next(&dim->high)) return false;
  return !with_interior || in_.PeekRaw() != '_' || next(&dim->interior);
}

bool ValueReader::ReadPadding(Attribute* attribute) {
  std::vector<PaddingDim> dims;
  return Crossed([&] { return ReadPaddingDim(&dims.emplace_back(), true); }) &&
         Store(dims, attribute);
}

// One of size, stride, pad, ...; the first one sets the number of dimensions.
bool ValueReader::ReadWindowPart(std::string_view key, std::vector<WindowDim>* dims) {
  const uint32_t where = in_.TokenOffset();
  size_t count = 0;
  const bool first = dims->empty();
  const bool read = Crossed([&] {
    if (first) dims->emplace_back();
    if (count >= dims->size()) return in_.FailHere("window-rank", "more numbers than dimensions");
    WindowDim& dim = (*dims)[count++];
    int64_t flag = 0;
    if (key == "size") return in_.Int(&dim.size);
    if (key == "stride") return in_.Int(&dim.stride);
    if (key == "lhs_dilate") return in_.Int(&dim.base_dilation);
    if (key == "rhs_dilate") return in_.Int(&dim.window_dilation);
    if (key == "pad") {
      PaddingDim padding;
      const bool fine = ReadPaddingDim(&padding, false);
      dim.low = padding.low;
      dim.high = padding.high;
      return fine;
    }
    const bool fine = in_.Int(&flag);
    dim.reversed = flag != 0;
    return fine;
  });
  if (!read) return false;
  return count == dims->size() ||
         in_.Fail(
             where, "window-rank",
             fmt::format("{} has {} numbers, the window {} dimensions", key, count, dims->size()));
}

bool ValueReader::ReadWindow(Attribute* attribute) {
  constexpr std::string_view kParts[] = {"size",       "stride",     "pad",
                                         "lhs_dilate", "rhs_dilate", "rhs_reversal"};
  std::vector<WindowDim> dims;
  unsigned seen = 0;
  if (!in_.Expect('{', "before a window")) return false;
  while (!in_.Consume('}')) {
    const uint32_t where = in_.TokenOffset();
    const std::string_view key = in_.AttributeName();
    const auto part = std::find(std::begin(kParts), std::end(kParts), key);
    if (part == std::end(kParts)) return in_.FailExpected("a part of a window, such as size=");
    const unsigned bit = 1u << (part - std::begin(kParts));
    if ((seen & bit) != 0) {
      return in_.Fail(where, "repeated-key", fmt::format("{} appears twice in a window", key));
    }
    seen |= bit;
    in_.SkipBlanks();
    if (!ReadWindowPart(key, &dims)) return false;
  }
  return Store(dims, attribute);
}

bool ValueReader::ReadDimLabels(Attribute* attribute) {
  in_.SkipBlanks();
  const uint32_t where = in_.offset();
  const char* const first = in_.position();
  const char* last = first;
  while (Reader::IsNamePart(*last) || *last == '?' || *last == '>') ++last;
  const std::string_view text(first, static_cast<size_t>(last - first));
  in_.set_position(last);
  auto* dims = in_.arena().New<ConvDims>();
  attribute->data = dims;
  attribute->text = text;
  return ParseConvDims(text, &in_.arena(), dims) ||
         in_.Fail(where, "dim-labels", "expected labels such as b01f_01io->b01f");
}

bool ValueReader::ReadPairs(Attribute* attribute) {
  std::vector<SourceTarget> pairs;
  if (!in_.Expect('{', "before pairs")) return false;
  const bool read = in_.ListUntil('}', "after pairs", [&] {
    SourceTarget& pair = pairs.emplace_back();
    return in_.Expect('{', "before a pair") && in_.Int(&pair.source) &&
           in_.Expect(',', "in a pair") && in_.Int(&pair.target) && in_.Expect('}', "after a pair");
  });
  return read && Store(pairs, attribute);
}

bool ValueReader::ReadShapes(Attribute* attribute) {
  std::vector<const Shape*> shapes;
  if (!in_.Expect('{', "before a list of shapes")) return false;
  const bool read = in_.ListUntil('}', "after a list of shapes", [&] {
    shapes.push_back(shapes_.Read());
    return shapes.back() != nullptr;
  });
  return read && Store(shapes, attribute);
}

bool ValueReader::ReadTypedLiteral(Attribute* attribute) {
  attribute->data = ReadShapedLiteral(&in_, &shapes_);
  return attribute->data != nullptr;
}

}  // namespace hv
