// Seeded damage to text: the same item is the same damage everywhere.
#pragma once

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/philox.h"

namespace hv {

class Damage {
 public:
  Damage(uint64_t seed, uint64_t item) : random_(seed, item) {}

  // A number below `bound`, which is at least 1.
  size_t Below(size_t bound) { return random_.Word(next_++) % bound; }

  // One to three faults in `text`; `other` lends pieces.
  std::string Of(std::string text, std::string_view other) {
    for (size_t faults = 1 + Below(3); faults > 0; --faults) Fault(&text, other);
    return text;
  }

 private:
  struct Span {
    size_t begin, size;
  };

  Span Some(std::string_view text, size_t longest) {
    const size_t begin = Below(text.size());
    return {begin, std::min(1 + Below(longest), text.size() - begin)};
  }

  // A run of letters and digits, or of digits, near a place chosen at random; else the place.
  Span Word(std::string_view text, bool digits) {
    const auto belongs = [&](size_t i) {
      const auto c = static_cast<unsigned char>(text[i]);
      return digits ? std::isdigit(c) != 0 : std::isalnum(c) != 0 || c == '-' || c == '_';
    };
    size_t begin = Below(text.size());
    for (size_t tries = 0; tries < text.size() && !belongs(begin); ++tries) {
      begin = (begin + 1) % text.size();
    }
    if (!belongs(begin)) return {begin, 1};
    size_t end = begin;
    while (begin > 0 && belongs(begin - 1)) --begin;
    while (end < text.size() && belongs(end)) ++end;
    return {begin, end - begin};
  }

  void Fault(std::string* text, std::string_view other) {
    static constexpr std::string_view kNumbers[] = {"0",
                                                    "-1",
                                                    "1",
                                                    "2",
                                                    "3",
                                                    "7",
                                                    "64",
                                                    "1000000",
                                                    "999999999999",
                                                    "2147483648",
                                                    "4294967296",
                                                    "9223372036854775807",
                                                    "18446744073709551616",
                                                    "1e308",
                                                    "nan",
                                                    "-inf"};
    if (text->empty()) *text = other;
    if (text->empty()) return;
    const size_t kind = Below(10);
    if (kind == 0) return text->resize(Below(text->size()));
    if (kind == 1) {
      (*text)[Below(text->size())] = static_cast<char>(Below(256));
      return;
    }
    if (kind == 2) {
      const Span span = Some(*text, 30);
      text->erase(span.begin, span.size);
      return;
    }
    if (kind == 3) {
      const Span span = Some(*text, 60);
      text->insert(span.begin, text->substr(span.begin, span.size));
      return;
    }
    if (kind == 4) {
      const Span a = Word(*text, false), b = Word(*text, false);
      const std::string first = text->substr(a.begin, a.size);
      text->replace(b.begin, b.size, first);
      return;
    }
    if (kind == 5) return Swap(text);
    if (kind == 7) return Retype(text);
    if (kind == 6 && !other.empty()) {
      const Span from = Some(other, 80), to = Some(*text, 40);
      text->replace(to.begin, to.size, other.substr(from.begin, from.size));
      return;
    }
    const Span number = Word(*text, true);
    text->replace(number.begin, number.size, kNumbers[Below(std::size(kNumbers))]);
  }

  // An element type becomes another.
  void Retype(std::string* text) {
    static constexpr std::string_view kTypes[] = {"pred", "s4",  "u8",  "s32", "u64",   "bf16",
                                                  "f16",  "f32", "f64", "c64", "f8e5m2"};
    const std::string_view from = kTypes[Below(std::size(kTypes))];
    size_t at = text->find(std::string(from) + "[", Below(text->size()));
    if (at == std::string::npos) at = text->find("f32[");
    if (at == std::string::npos) return;
    const std::string_view to = kTypes[Below(std::size(kTypes))];
    text->replace(at, text->find('[', at) - at, to);
  }

  // Two words change places.
  void Swap(std::string* text) {
    Span a = Word(*text, false), b = Word(*text, false);
    if (a.begin > b.begin) std::swap(a, b);
    if (a.begin + a.size > b.begin) return;
    const std::string first = text->substr(a.begin, a.size);
    const std::string second = text->substr(b.begin, b.size);
    text->replace(b.begin, b.size, first);
    text->replace(a.begin, a.size, second);
  }

  CounterRng random_;
  uint64_t next_ = 0;
};

}  // namespace hv
