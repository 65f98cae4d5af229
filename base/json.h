// Strict JSON: duplicate keys are errors, integers keep all 64 bits and never turn into reals or
// back, nesting is bounded, text must be UTF-8. Every node knows its place and its path, so that a
// reader can say "case.json:7:12: error: /inputs/trials: expected an integer".
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hv {

struct JsonSource;
struct JsonMember;

// One value. Nodes live as long as their JsonDocument.
class Json {
 public:
  enum class Kind : uint8_t { kNull, kBool, kInteger, kUnsigned, kReal, kString, kArray, kObject };

  Kind kind() const { return kind_; }
  bool Is(Kind kind) const { return kind_ == kind; }
  // kInteger, or kUnsigned: an integer above INT64_MAX.
  bool IsInteger() const { return kind_ == Kind::kInteger || kind_ == Kind::kUnsigned; }
  bool IsNumber() const { return IsInteger() || kind_ == Kind::kReal; }

  bool boolean() const { return integer_ != 0; }
  int64_t integer() const { return integer_; }                 // of kUnsigned: the same 64 bits
  double real() const;                                         // of any number
  std::string_view NumberText() const;                         // a number as it was written
  std::string_view string() const { return {chars_, size_}; }  // unescaped
  std::span<const Json> items() const { return {items_, Is(Kind::kArray) ? size_ : 0}; }
  std::span<const JsonMember> members() const;
  const Json* Find(std::string_view key) const;  // member of an object; null if absent

  // Where the value stands: "/inputs/trials", "" for the whole document (RFC 6901).
  std::string Path() const;
  Diagnostic MakeDiagnostic(std::string id, std::string message) const;  // path in front
  tl::unexpected<Error> MakeError(std::string id, std::string message) const;

 private:
  friend class JsonBuilder;

  Kind kind_ = Kind::kNull;
  uint32_t offset_ = 0;
  uint32_t size_ = 0;
  union {
    int64_t integer_ = 0;
    double real_;
    const char* chars_;
    Json* items_;
    JsonMember* members_;
  };
  const Json* parent_ = nullptr;
  const JsonSource* source_ = nullptr;
};

struct JsonMember {
  std::string_view key;
  Json value;
};

// "an integer", "a list", ... for messages.
std::string_view ToString(Json::Kind kind);

class JsonDocument {
 public:
  static constexpr int kMaxDepth = 128;

  static Result<JsonDocument> Parse(std::string file, std::string text);
  static Result<JsonDocument> ParseFile(const std::string& path);  // "-": standard input

  const Json& root() const { return *root_; }
  const std::string& file() const;

 private:
  std::shared_ptr<JsonSource> source_;
  const Json* root_ = nullptr;
};

// The whole file; a diagnostic if it cannot be read. "-": standard input.
Result<std::string> ReadFile(const std::string& path);

// Collects what is wrong with a document, so that all of it is reported at once.
class JsonErrors {
 public:
  void Add(const Json& node, std::string id, std::string message);
  bool empty() const { return error_.diagnostics.empty(); }
  Status ToStatus() &&;

 private:
  Error error_;
};

// Reads the members of one object by name with typed getters; each gives `absent` if the key is not
// there or is wrong (then the error is collected). Finish() reports keys nobody asked for.
class ObjectReader {
 public:
  ObjectReader(const Json& object, JsonErrors* errors);

  const Json* Get(std::string_view key);      // null if absent
  const Json* Require(std::string_view key);  // null and an error if absent
  int64_t Integer(std::string_view key, int64_t absent, int64_t low, int64_t high);
  double Real(std::string_view key, double absent, double low, double high);
  bool Bool(std::string_view key, bool absent);
  std::string String(std::string_view key, std::string absent = {});
  std::vector<std::string> Strings(std::string_view key);
  std::vector<int64_t> Integers(std::string_view key, int64_t low, int64_t high);
  // Index of the string in `words`.
  int Word(std::string_view key, std::span<const std::string_view> words, int absent);
  void Finish();
  // The keys asked for so far.
  std::span<const std::string_view> known() const { return known_; }

 private:
  const Json* GetAs(std::string_view key, Json::Kind kind);

  const Json& object_;
  JsonErrors* errors_;
  std::vector<std::string_view> known_;
};

}  // namespace hv
