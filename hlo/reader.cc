// Tokens, skipping and diagnostics of HLO text.
#include "hlo/reader.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "base/check.h"
#include "hlo/text.h"

namespace hv {
namespace {

// What stands at `at`, for "found ..." in messages.
std::string Describe(const char* at, const char* end) {
  if (at == end) return "the end of the text";
  const char* last = at + 1;
  if (Reader::IsNamePart(*at)) {
    while (Reader::IsNamePart(*last) && last - at < 40) ++last;
  }
  return fmt::format("'{}'", EscapeText({at, static_cast<size_t>(last - at)}));
}

}  // namespace

constinit const std::array<uint8_t, 256> Reader::kClasses = [] {
  std::array<uint8_t, 256> classes{};
  const auto add = [&classes](std::string_view characters, uint8_t bits) {
    for (char c : characters) classes[static_cast<unsigned char>(c)] |= bits;
  };
  add(" \t\n\r", kBlank);
  add("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_", kStart | kPart);
  add("0123456789.-", kPart);
  add(std::string_view("{}\"'/\0", 6), kStop);
  return classes;
}();

Reader::Reader(ModuleContext* context)
    : context_(context),
      begin_(context->text.c_str()),
      end_(begin_ + context->text.size()),
      at_(begin_) {}

void Reader::SkipComments() {
  while (*at_ == '/') {
    if (at_[1] == '/') {
      while (at_ != end_ && *at_ != '\n' && *at_ != '\r') ++at_;
    } else if (at_[1] == '*') {
      const size_t close = std::string_view(at_, bytes_left()).find("*/", 2);
      if (close == std::string_view::npos) {
        open_comment_ = at_;
        at_ = end_;
        return;
      }
      at_ += close + 2;
    } else {
      return;
    }
    while (IsBlank(*at_)) ++at_;
  }
}

void Reader::SkipLine() {
  while (at_ != end_ && *at_ != '\n') ++at_;
  if (at_ != end_) ++at_;
}

bool Reader::Consume(std::string_view token) {
  SkipBlanks();
  if (std::string_view(at_, bytes_left()).substr(0, token.size()) != token) return false;
  at_ += token.size();
  return true;
}

bool Reader::ConsumeWord(std::string_view word) {
  if (PeekIdentifier() != word) return false;
  at_ += word.size();
  return true;
}

bool Reader::Expect(char c, std::string_view where) {
  return Consume(c) || FailExpected(fmt::format("'{}' {}", c, where));
}

std::string_view Reader::PeekIdentifier() {
  SkipBlanks();
  if (!IsNameStart(*at_)) return {};
  const char* last = at_ + 1;
  while (IsNamePart(*last)) ++last;
  return {at_, static_cast<size_t>(last - at_)};
}

std::string_view Reader::Identifier() {
  const std::string_view word = PeekIdentifier();
  at_ += word.size();
  return word;
}

std::string_view Reader::AttributeName() {
  const std::string_view word = PeekIdentifier();
  if (word.empty() || at_[word.size()] != '=') return {};
  at_ += word.size() + 1;
  return word;
}

bool Reader::Name(std::string_view* name) {
  SkipBlanks();
  const char* first = at_;
  if (*at_ == '%') ++at_;
  if (!IsNameStart(*at_)) {
    at_ = first;
    return FailExpected("a name");
  }
  *name = Identifier();
  return true;
}

bool Reader::Integer(IntegerToken* token) {
  SkipBlanks();
  token->negative = *at_ == '-';
  const auto [last, error] = std::from_chars(at_ + token->negative, end_, token->magnitude);
  if (error == std::errc::invalid_argument) return FailExpected("an integer");
  constexpr uint64_t kLeast = uint64_t{1} << 63;
  if (error != std::errc() || (token->negative && token->magnitude > kLeast)) {
    return Fail(offset(), "integer-range", "integer out of range");
  }
  at_ = last;
  return true;
}

bool Reader::Int(int64_t* value) {
  IntegerToken token;
  const uint32_t where = TokenOffset();
  if (!Integer(&token)) return false;
  if (!token.negative && token.magnitude > INT64_MAX) {
    return Fail(where, "integer-range", "integer out of range");
  }
  *value = static_cast<int64_t>(token.negative ? 0 - token.magnitude : token.magnitude);
  return true;
}

bool Reader::Count(int64_t* value) {
  const uint32_t where = TokenOffset();
  if (!Int(value)) return false;
  return *value >= 0 || Fail(where, "integer-range", "expected a non-negative integer");
}

bool Reader::Real(double* value) {
  SkipBlanks();
  const char* digits = at_ + (*at_ == '-');
  if (!IsDigit(*digits) && !(*digits == '.' && IsDigit(digits[1]))) {
    return FailExpected("a number");
  }
  const auto [last, error] = std::from_chars(at_, end_, *value);
  // Too small a number counts as out of range too, but is a fine zero.
  if (error == std::errc::result_out_of_range) *value = std::strtod(at_, nullptr);
  if (!std::isfinite(*value)) return Fail(offset(), "number-range", "number out of range");
  at_ = last;
  if (IsNamePart(*at_)) return FailExpected("the end of a number");
  return true;
}

bool Reader::Bool(bool* value) {
  *value = ConsumeWord("true");
  return *value || ConsumeWord("false") || FailExpected("true or false");
}

bool Reader::Ints(std::vector<int64_t>* values) {
  return Expect('{', "before a list of integers") &&
         ListUntil('}', "after a list of integers", [&] {
           int64_t value;
           if (!Int(&value)) return false;
           values->push_back(value);
           return true;
         });
}

bool Reader::SkipQuoted(char quote) {
  const char* open = at_++;
  for (; *at_ != quote; ++at_) {
    if (*at_ == '\\' && at_ + 1 != end_) ++at_;
    if (at_ == end_) {
      at_ = open;  // recovery goes on after this line, not at the end of the text
      return FailHere("open-string", "string without an end");
    }
  }
  ++at_;
  return true;
}

bool Reader::Quoted(std::string_view* text) {
  const char quote = Peek();
  if (quote != '"' && quote != '\'') return FailExpected("a string");
  const char* open = at_;
  if (!SkipQuoted(quote)) return false;
  *text = std::string_view(open + 1, static_cast<size_t>(at_ - open) - 2);
  if (text->find('\\') == std::string_view::npos) return true;
  std::string plain;
  if (!Unescape(*text, &plain)) {
    return Fail(static_cast<uint32_t>(open - begin_), "bad-escape", "bad escape in a string");
  }
  *text = arena().CopyText(plain);
  return true;
}

bool Reader::Braces(std::string_view* text, BraceStyle style) {
  if (Peek() != '{') return FailExpected("'{'");
  const char* open = at_;
  const bool json = style == BraceStyle::kJson;
  for (int depth = 0;; ++at_) {
    while ((kClasses[static_cast<unsigned char>(*at_)] & kStop) == 0) ++at_;
    if (*at_ == '{') {
      ++depth;
    } else if (*at_ == '}') {
      if (--depth == 0) break;
    } else if (*at_ == '"' || (*at_ == '\'' && !json)) {
      if (!SkipQuoted(*at_)) return false;
      --at_;
    } else if (*at_ == '/' && !json && (at_[1] == '/' || at_[1] == '*')) {
      SkipComments();
      --at_;
    } else if (at_ == end_) {
      Fail(static_cast<uint32_t>(open - begin_), "open-brace", "'{' without its '}'");
      at_ = open;
      return false;
    }
  }
  ++at_;
  *text = TextSince(open);
  return true;
}

bool Reader::Fail(uint32_t where, std::string_view id, std::string message, std::string note) {
  // A comment that never ends swallowed whatever was expected; say so once.
  if (open_comment_ != nullptr && at_ == end_) {
    where = static_cast<uint32_t>(open_comment_ - begin_);
    id = "open-comment";
    message = "comment without an end";
  }
  if (TooMany()) return false;
  Diagnostic diagnostic;
  diagnostic.id = std::string(id);
  diagnostic.message = std::move(message);
  diagnostic.place = PlaceAt(context_->file, context_->text, where);
  diagnostic.source_line = SourceLineAt(context_->text, where);
  if (!note.empty()) diagnostic.notes.push_back(std::move(note));
  diagnostics_.push_back(std::move(diagnostic));
  return false;
}

bool Reader::FailHere(std::string_view id, std::string message) {
  return Fail(TokenOffset(), id, std::move(message));
}

bool Reader::FailExpected(std::string_view what) {
  SkipBlanks();
  return Fail(offset(), "syntax", fmt::format("expected {}, found {}", what, Describe(at_, end_)));
}

}  // namespace hv
