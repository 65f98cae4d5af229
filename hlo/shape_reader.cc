// Array shapes by their text, tuples by their elements; layouts are checked part by part.
#include "hlo/shape_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "hlo/word_table.h"

namespace hv {
namespace {

constexpr size_t kMaxRank = 64;

}  // namespace

ShapeReader::ShapeReader(Reader* in) : in_(*in), cache_(256) {}

bool ShapeReader::AtShape() {
  if (in_.Peek() == '(') return true;
  const std::string_view word = in_.PeekIdentifier();
  if (word.empty()) return false;
  const char* const start = in_.position();
  in_.set_position(start + word.size());
  const char next = in_.Peek();
  in_.set_position(start);
  return next == '[' || (next == '(' && word == "b");
}

const Shape* ShapeReader::Read() {
  if (in_.Peek() == '(') return ReadTuple();
  if (in_.PeekRaw() == 'b' && in_.PeekIdentifier() == "b") return ReadBuffer();
  return ReadArray();
}

const Shape* ShapeReader::ReadTuple() {
  Reader::Nest nest(&in_);
  if (!nest) return nullptr;
  in_.Consume('(');
  std::vector<const Shape*> elements;
  const bool read = in_.ListUntil(')', "after the elements of a tuple shape", [&] {
    elements.push_back(Read());
    return elements.back() != nullptr;
  });
  return read ? in_.shapes().Tuple(elements) : nullptr;
}

const Shape* ShapeReader::ReadBuffer() {
  Reader::Nest nest(&in_);
  if (!nest) return nullptr;
  in_.ConsumeWord("b");
  if (!in_.Expect('(', "after b")) return nullptr;
  const Shape* content = Read();
  if (content == nullptr || !in_.Expect(')', "after the shape of a buffer")) return nullptr;
  Shape shape;
  shape.is_buffer = true;
  shape.elements = {&content, 1};
  return in_.shapes().Intern(shape);
}

const char* ShapeReader::PlainEnd(const char* first) {
  while (Reader::IsNamePart(*first)) ++first;
  if (*first++ != '[') return nullptr;
  while (Reader::IsDigit(*first) || *first == ',') ++first;
  if (*first++ != ']') return nullptr;
  if (*first == '{' && (Reader::IsDigit(first[1]) || first[1] == ':')) {
    do ++first;
    while (*first != '}' && *first != '{' && *first != '/' && *first != '\n' && *first != '\0');
    return *first == '}' ? first + 1 : nullptr;
  }
  // A layout may still follow after blanks.
  const char* next = first;
  while (Reader::IsBlank(*next)) ++next;
  return next != first && (*next == '{' || *next == '/') ? nullptr : first;
}

const Shape* ShapeReader::ReadArray() {
  in_.SkipBlanks();
  const char* const first = in_.position();
  const char* const end = PlainEnd(first);
  if (end == nullptr) return ParseArray();
  const std::string_view text(first, static_cast<size_t>(end - first));
  if (const Entry* known = Find(text); known->shape != nullptr) {
    in_.set_position(end);
    return known->shape;
  }
  const Shape* shape = ParseArray();
  if (shape != nullptr && in_.position() == end) Remember(text, shape);
  return shape;
}

ShapeReader::Entry* ShapeReader::Find(std::string_view text) {
  const size_t mask = cache_.size() - 1;
  size_t slot = HashText(text) & mask;
  while (cache_[slot].shape != nullptr && cache_[slot].text != text) slot = (slot + 1) & mask;
  return &cache_[slot];
}

void ShapeReader::Remember(std::string_view text, const Shape* shape) {
  if (2 * ++cached_ > cache_.size()) {
    std::vector<Entry> old(cache_.size() * 2);
    old.swap(cache_);
    for (const Entry& entry : old) {
      if (entry.shape != nullptr) *Find(entry.text) = entry;
    }
  }
  *Find(text) = {text, shape};
}

const Shape* ShapeReader::ParseArray() {
  const uint32_t where = in_.TokenOffset();
  const std::string_view word = in_.Identifier();
  const auto type = ParseElementType(word);
  if (!type) {
    if (word.empty()) return in_.FailExpected("a shape"), nullptr;
    return in_.Fail(where, "unknown-type", fmt::format("unknown element type '{}'", word)), nullptr;
  }
  dims_.clear();
  bool any_dynamic = false;
  std::array<bool, kMaxRank> dynamic{};
  if (!in_.Expect('[', "after an element type")) return nullptr;
  const bool read = in_.ListUntil(']', "after dimensions", [&] {
    if (dims_.size() == kMaxRank) return in_.FailHere("shape-rank", "too many dimensions");
    bool is_dynamic = false;
    if (!ParseDimension(&is_dynamic)) return false;
    dynamic[dims_.size() - 1] = is_dynamic;
    any_dynamic |= is_dynamic;
    return true;
  });
  if (!read) return nullptr;
  if (!IsArrayType(*type) && !dims_.empty()) {
    in_.Fail(where, "shape-dimensions", fmt::format("{} takes no dimensions", word));
    return nullptr;
  }
  std::vector<int64_t> sizes = dims_;
  std::replace(sizes.begin(), sizes.end(), kUnboundedSize, int64_t{1});
  if (CountElements(sizes) < 0) {
    in_.Fail(where, "shape-size", "shape has more than 2^46 elements");
    return nullptr;
  }
  Shape shape;
  shape.type = *type;
  shape.dims = dims_;
  if (any_dynamic) shape.dynamic = {dynamic.data(), dims_.size()};
  if (AtLayout() && !ParseLayout(&shape)) return nullptr;
  return in_.shapes().Intern(shape);
}

// int, <=int or ?; appended to dims_.
bool ShapeReader::ParseDimension(bool* is_dynamic) {
  int64_t size = kUnboundedSize;
  *is_dynamic = true;
  if (!in_.Consume('?')) {
    *is_dynamic = in_.Consume("<=");
    if (!in_.Count(&size)) return false;
  }
  dims_.push_back(size);
  return true;
}

// A '{' opens a layout only if an integer or ':' follows; otherwise it opens a body.
bool ShapeReader::AtLayout() {
  const char* const start = in_.position();
  const bool open = in_.Consume('{');
  const char next = in_.Peek();
  in_.set_position(start);
  return open && (Reader::IsDigit(next) || next == '-' || next == ':');
}

bool ShapeReader::ParseLayout(Shape* shape) {
  const uint32_t where = in_.TokenOffset();
  in_.Consume('{');
  if (!ParseMinorToMajor(shape->rank())) return false;
  shape->minor_to_major = minor_to_major_;
  if (in_.Consume(':')) {
    in_.SkipBlanks();
    const char* const first = in_.position();
    if (!ParseLayoutSuffix()) return false;
    shape->layout_suffix = in_.TextSince(first);
  }
  if (!in_.Expect('}', "after a layout")) return false;
  return IsArrayType(shape->type) || in_.Fail(where, "layout", "a layout on a shape without data");
}

bool ShapeReader::ParseMinorToMajor(int64_t rank) {
  minor_to_major_.clear();
  const uint32_t where = in_.TokenOffset();
  uint64_t seen = 0;
  while (in_.Peek() != ':' && in_.Peek() != '}') {
    int64_t dim;
    if (!minor_to_major_.empty() && !in_.Expect(',', "in a layout")) return false;
    const uint32_t at = in_.TokenOffset();
    if (!in_.Int(&dim)) return false;
    if (dim < 0 || dim >= rank || (seen >> dim & 1) != 0) {
      return in_.Fail(at, "layout", fmt::format("{} is no dimension, or twice in the layout", dim));
    }
    seen |= uint64_t{1} << dim;
    minor_to_major_.push_back(dim);
  }
  if (static_cast<int64_t>(minor_to_major_.size()) == rank) return true;
  return in_.Fail(
      where, "layout",
      fmt::format("the layout names {} of {} dimensions", minor_to_major_.size(), rank));
}

// The optional parts in their fixed order; kept as text, so only their form is checked.
bool ShapeReader::ParseLayoutSuffix() {
  constexpr std::string_view kParts[] = {"D", "T", "L", "#", "*", "E", "S", "SC", "P", "M"};
  for (std::string_view part : kParts) {
    if (!ParseLayoutPart(part)) return false;
  }
  return true;
}

// name(...), where T may have several groups; true if absent. P holds a shape, the others few
// signs.
bool ShapeReader::ParseLayoutPart(std::string_view name) {
  const bool is_word = Reader::IsNameStart(name[0]);
  if (is_word ? !in_.ConsumeWord(name) : !in_.Consume(name[0])) return true;
  const std::string_view signs = name == "P" ? ",*:[]{}<=()" : ",*:+~";
  do {
    if (!in_.Expect('(', "in a layout")) return false;
    for (int depth = 1; depth > 0;) {
      const char c = in_.Peek();
      if (c == ')') {
        --depth;
      } else if (c == '\0' || (!Reader::IsNamePart(c) && signs.find(c) == signs.npos)) {
        return in_.FailExpected("')' in a layout");
      } else if (c == '(') {
        ++depth;
      }
      in_.set_position(in_.position() + 1);
    }
  } while (name == "T" && in_.Peek() == '(');
  return true;
}

}  // namespace hv
