// The lexical level of HLO text: a cursor over the bytes, the tokens of the language, and the list
// of diagnostics. Tokens are read on demand, as what an HLO character sequence means depends on
// where it stands (`2x3` is a window size or an error). The text must end in a NUL, which stops
// every loop. Source: hlo_text.md section 1.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hlo/module.h"

namespace hv {

// Deepest nesting of shapes, literals, operands and computations.
inline constexpr int kMaxNesting = 400;

// An integer as written: sign and magnitude, so that u64 and s64 both fit.
struct IntegerToken {
  bool negative = false;
  uint64_t magnitude = 0;
};

enum class BraceStyle { kTokens, kJson };

class Reader {
 public:
  explicit Reader(ModuleContext* context);
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  ModuleContext& context() { return *context_; }
  Arena& arena() { return context_->arena; }
  ShapeTable& shapes() { return context_->shapes; }

  // Position. Functions that look at tokens skip blanks and comments first.
  uint32_t offset() const { return static_cast<uint32_t>(at_ - begin_); }
  uint32_t TokenOffset() { return SkipBlanks(), offset(); }
  const char* position() const { return at_; }
  void set_position(const char* position) { at_ = position; }
  size_t bytes_left() const { return static_cast<size_t>(end_ - at_); }
  std::string_view TextSince(const char* first) const {
    return {first, static_cast<size_t>(at_ - first)};
  }
  void SkipBlanks() {
    while (IsBlank(*at_)) ++at_;
    if (*at_ == '/') SkipComments();
  }
  bool AtEnd() { return SkipBlanks(), at_ == end_; }
  char Peek() { return SkipBlanks(), *at_; }
  char PeekRaw(size_t ahead = 0) const { return at_[ahead]; }  // `ahead` must not pass the NUL

  // Tokens. Consume takes it if it is there; Expect reports if it is not.
  bool Consume(char c) { return Peek() == c && (++at_, true); }
  bool Consume(std::string_view token);     // punctuation of several characters
  bool ConsumeWord(std::string_view word);  // a whole identifier
  bool Expect(char c, std::string_view where);
  std::string_view PeekIdentifier();  // empty if there is none
  std::string_view Identifier();      // takes it; empty if there is none
  // `key=` without a blank between; empty, and nothing taken, if there is none.
  std::string_view AttributeName();
  // [%]identifier. Reports if there is none.
  bool Name(std::string_view* name);
  bool Integer(IntegerToken* token);  // what follows the digits is not looked at
  bool Int(int64_t* value);           // must fit int64_t
  bool Count(int64_t* value);         // must also be >= 0
  bool Real(double* value);
  bool Bool(bool* value);
  bool Quoted(std::string_view* text);  // "..." or '...', unescaped
  // From '{' to its '}', quoted parts skipped; kJson knows neither comments nor single quotes.
  bool Braces(std::string_view* text, BraceStyle style = BraceStyle::kTokens);
  // item (sep item)* up to `close`, which is taken; `open` has been taken.
  template <class Item>
  bool ListUntil(char close, std::string_view where, Item&& item) {
    if (Consume(close)) return true;
    do {
      if (!item()) return false;
    } while (Consume(','));
    return Expect(close, where);
  }
  bool Ints(std::vector<int64_t>* values);  // {1,0}

  // Diagnostics. Every Fail returns false, so that readers can `return Fail(...)`.
  [[gnu::cold]] bool Fail(uint32_t offset, std::string_view id, std::string message,
                          std::string note = {});
  [[gnu::cold]] bool FailHere(std::string_view id, std::string message);
  // "expected <what>, found <what stands there>".
  [[gnu::cold]] bool FailExpected(std::string_view what);
  std::vector<Diagnostic>& diagnostics() { return diagnostics_; }
  bool ok() const { return diagnostics_.empty(); }
  bool TooMany() const { return diagnostics_.size() >= static_cast<size_t>(kMaxDiagnostics); }

  // Moves to the start of the next line (or the end).
  void SkipLine();

  // Guards recursion: `if (Nest nest(this); !nest) return false;`.
  class Nest {
   public:
    explicit Nest(Reader* reader) : reader_(reader), ok_(++reader->depth_ <= kMaxNesting) {
      if (!ok_) reader->FailHere("nesting", "nested too deeply");
    }
    ~Nest() { --reader_->depth_; }
    Nest(const Nest&) = delete;
    Nest& operator=(const Nest&) = delete;
    explicit operator bool() const { return ok_; }

   private:
    Reader* reader_;
    bool ok_;
  };

  static bool IsBlank(char c) { return (kClasses[static_cast<unsigned char>(c)] & kBlank) != 0; }
  static bool IsDigit(char c) { return c >= '0' && c <= '9'; }
  static bool IsNameStart(char c) {
    return (kClasses[static_cast<unsigned char>(c)] & kStart) != 0;
  }
  static bool IsNamePart(char c) { return (kClasses[static_cast<unsigned char>(c)] & kPart) != 0; }

 private:
  // kStop: what skipping a {...} must look at.
  enum : uint8_t { kBlank = 1, kStart = 2, kPart = 4, kStop = 8 };
  static const std::array<uint8_t, 256> kClasses;

  void SkipComments();
  bool SkipQuoted(char quote);

  ModuleContext* context_;
  const char* begin_;
  const char* end_;
  const char* at_;
  const char* open_comment_ = nullptr;  // an unterminated /*
  int depth_ = 0;
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace hv
