#include "base/json.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/arena.h"
#include "base/standard_input.h"

namespace hv {

struct JsonSource {
  std::string file;
  std::string text;
  Arena arena;
};

namespace {

constexpr std::string_view kSeparators = " \t\r\n,:";
constexpr std::string_view kTokenEnds = " \t\r\n,:]}";
constexpr std::string_view kBrackets = "{}[]";

// nlohmann's exceptions read "[json.exception...] parse error at line L, column C: what"; the place
// is ours, "what" is the message.
std::string MessageOf(std::string_view what) {
  const size_t column = what.find("column ");
  const size_t colon = column == std::string_view::npos ? what.find("] ") : what.find(": ", column);
  return std::string(colon == std::string_view::npos ? what : what.substr(colon + 2));
}

}  // namespace

// Receives nlohmann's SAX events and builds nodes. The events carry no places, so each one looks up
// its token in the text: it is the next after the end of the previous token.
class JsonBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit JsonBuilder(JsonSource* source) : source_(source) {
    if (source->text.compare(0, 3, "\xEF\xBB\xBF") == 0) end_ = 3;  // skipped by the lexer too
  }

  bool null() override { return Add(Token(Json::Kind::kNull)); }
  bool boolean(bool value) override { return AddInteger(Json::Kind::kBool, value ? 1 : 0); }
  bool number_integer(number_integer_t value) override {
    return AddInteger(Json::Kind::kInteger, value);
  }
  bool number_unsigned(number_unsigned_t value) override {
    const bool fits = value <= static_cast<uint64_t>(INT64_MAX);
    return AddInteger(fits ? Json::Kind::kInteger : Json::Kind::kUnsigned,
                      static_cast<int64_t>(value));
  }
  bool number_float(number_float_t value, const string_t&) override {
    Json node = Token(Json::Kind::kReal);
    node.real_ = value;
    return Add(node);
  }
  bool string(string_t& value) override {
    Json node = Token(Json::Kind::kString);
    const std::string_view copy = source_->arena.CopyText(value);
    node.chars_ = copy.data();
    node.size_ = static_cast<uint32_t>(copy.size());
    return Add(node);
  }
  bool binary(binary_t&) override { return false; }
  bool start_object(size_t) override { return Open(Json::Kind::kObject); }
  bool start_array(size_t) override { return Open(Json::Kind::kArray); }
  bool key(string_t& value) override {
    SkipToken();
    keys_.push_back(source_->arena.CopyText(value));
    return true;
  }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }
  bool parse_error(size_t position, const std::string&,
                   const nlohmann::json::exception& exception) override {
    return Fail("json-syntax", MessageOf(exception.what()), position == 0 ? 0 : position - 1);
  }

  Error TakeError() { return std::move(error_); }
  const Json* TakeRoot() {
    Json* root = source_->arena.NewArray<Json>(1).data();
    *root = open_.front();
    Adopt(root);
    return root;
  }

 private:
  struct Level {
    size_t first_child;
    size_t first_key;
  };

  bool Fail(std::string id, std::string message, size_t offset) {
    SourcePlace place = PlaceAt(source_->file, source_->text, offset);
    error_ = Invalid(std::move(id), std::move(message), std::move(place)).value();
    error_.diagnostics.front().source_line = SourceLineAt(source_->text, offset);
    return false;
  }

  // Moves over the next token; returns its offset.
  size_t SkipToken() {
    const std::string& text = source_->text;
    const size_t begin = std::min(text.find_first_not_of(kSeparators, end_), text.size());
    end_ = begin + 1;
    if (begin >= text.size()) return begin;
    if (text[begin] == '"') {
      while (end_ < text.size() && text[end_] != '"') end_ += text[end_] == '\\' ? 2 : 1;
      ++end_;
    } else if (kBrackets.find(text[begin]) == kBrackets.npos) {
      end_ = std::min(text.find_first_of(kTokenEnds, begin), text.size());
    }
    return begin;
  }

  Json Token(Json::Kind kind) {
    Json node;
    node.kind_ = kind;
    node.offset_ = static_cast<uint32_t>(SkipToken());
    node.source_ = source_;
    return node;
  }

  bool Add(const Json& node) {
    open_.push_back(node);
    return true;
  }
  bool AddInteger(Json::Kind kind, int64_t value) {
    Json node = Token(kind);
    node.integer_ = value;
    return Add(node);
  }

  bool Open(Json::Kind kind) {
    const Json node = Token(kind);
    if (static_cast<int>(levels_.size()) == JsonDocument::kMaxDepth) {
      return Fail("json-depth", "nested too deeply", node.offset_);
    }
    Add(node);
    levels_.push_back({open_.size(), keys_.size()});
    return true;
  }

  bool Close() {
    SkipToken();
    const Level level = levels_.back();
    levels_.pop_back();
    Json& node = open_[level.first_child - 1];
    const std::span<const Json> children(open_.data() + level.first_child,
                                         open_.data() + open_.size());
    node.size_ = static_cast<uint32_t>(children.size());
    if (node.kind_ == Json::Kind::kArray) {
      std::span<Json> items = source_->arena.NewArray<Json>(children.size());
      std::copy(children.begin(), children.end(), items.begin());
      node.items_ = items.data();
      for (Json& item : items) Adopt(&item);
    } else if (!CloseObject(&node, children, level.first_key)) {
      return false;
    }
    open_.resize(level.first_child);
    return true;
  }

  bool CloseObject(Json* node, std::span<const Json> children, size_t first_key) {
    std::span<JsonMember> members = source_->arena.NewArray<JsonMember>(children.size());
    for (size_t i = 0; i < members.size(); ++i) members[i] = {keys_[first_key + i], children[i]};
    keys_.resize(first_key);
    node->members_ = members.data();
    for (JsonMember& member : members) Adopt(&member.value);
    return CheckKeys(members);
  }

  bool CheckKeys(std::span<const JsonMember> members) {
    std::vector<const JsonMember*> sorted;
    for (const JsonMember& member : members) sorted.push_back(&member);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](auto* a, auto* b) { return a->key < b->key; });
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end(),
                                          [](auto* a, auto* b) { return a->key == b->key; });
    if (twice == sorted.end()) return true;
    return Fail("json-duplicate-key", "duplicate key '" + std::string((*twice)->key) + "'",
                (*(twice + 1))->value.offset_);
  }

  // `node` now stands at its final address: its children may point to it.
  static void Adopt(Json* node) {
    for (uint32_t i = 0; node->kind_ == Json::Kind::kArray && i < node->size_; ++i) {
      node->items_[i].parent_ = node;
    }
    for (uint32_t i = 0; node->kind_ == Json::Kind::kObject && i < node->size_; ++i) {
      node->members_[i].value.parent_ = node;
    }
  }

  JsonSource* source_;
  size_t end_ = 0;          // of the last token
  std::vector<Json> open_;  // finished children of the open arrays and objects, outermost first
  std::vector<std::string_view> keys_;
  std::vector<Level> levels_;
  Error error_;
};

double Json::real() const {
  if (kind_ == Kind::kInteger) return static_cast<double>(integer_);
  if (kind_ == Kind::kUnsigned) return static_cast<double>(static_cast<uint64_t>(integer_));
  return real_;
}

std::string_view Json::NumberText() const {
  const std::string_view rest = std::string_view(source_->text).substr(offset_);
  return rest.substr(0, rest.find_first_of(kTokenEnds));
}

std::span<const JsonMember> Json::members() const {
  return {members_, Is(Kind::kObject) ? size_ : 0};
}

const Json* Json::Find(std::string_view key) const {
  for (const JsonMember& member : members()) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

std::string Json::Path() const {
  if (parent_ == nullptr) return "";
  std::string step;
  if (parent_->Is(Kind::kArray)) {
    step = std::to_string(this - parent_->items_);
  } else {
    for (const JsonMember& member : parent_->members()) {
      if (&member.value == this) step = std::string(member.key);
    }
  }
  return parent_->Path() + "/" + step;
}

Diagnostic Json::MakeDiagnostic(std::string id, std::string message) const {
  Diagnostic diagnostic;
  diagnostic.id = std::move(id);
  const std::string path = Path();
  diagnostic.message = path.empty() ? std::move(message) : path + ": " + message;
  diagnostic.place = PlaceAt(source_->file, source_->text, offset_);
  diagnostic.source_line = SourceLineAt(source_->text, offset_);
  return diagnostic;
}

tl::unexpected<Error> Json::MakeError(std::string id, std::string message) const {
  Error error;
  error.diagnostics.push_back(MakeDiagnostic(std::move(id), std::move(message)));
  return tl::make_unexpected(std::move(error));
}

std::string_view ToString(Json::Kind kind) {
  switch (kind) {
    case Json::Kind::kNull:
      return "null";
    case Json::Kind::kBool:
      return "true or false";
    case Json::Kind::kInteger:
    case Json::Kind::kUnsigned:
      return "an integer";
    case Json::Kind::kReal:
      return "a number";
    case Json::Kind::kString:
      return "a string";
    case Json::Kind::kArray:
      return "a list";
    case Json::Kind::kObject:
      return "an object";
  }
  return "";
}

Result<JsonDocument> JsonDocument::Parse(std::string file, std::string text) {
  if (text.size() > UINT32_MAX) return Invalid("json-size", "larger than 4 GiB", {std::move(file)});
  JsonDocument document;
  document.source_ = std::make_shared<JsonSource>();
  document.source_->file = std::move(file);
  document.source_->text = std::move(text);
  JsonBuilder builder(document.source_.get());
  if (!nlohmann::json::sax_parse(document.source_->text, &builder)) {
    return tl::make_unexpected(builder.TakeError());
  }
  document.root_ = builder.TakeRoot();
  return document;
}

Result<JsonDocument> JsonDocument::ParseFile(const std::string& path) {
  HV_ASSIGN(std::string text, ReadFile(path));
  return Parse(path == "-" ? "<stdin>" : path, std::move(text));
}

const std::string& JsonDocument::file() const { return source_->file; }

Result<std::string> ReadFile(const std::string& path) {
  if (path == "-") return StandardInput();
  // Not a stream of the library: that throws where `path` is a folder.
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             std::fclose);
  std::string text;
  std::array<char, 65536> chunk;
  while (file != nullptr) {
    const size_t size = std::fread(chunk.data(), 1, chunk.size(), file.get());
    if (size == 0) break;
    text.append(chunk.data(), size);
  }
  if (file == nullptr || std::ferror(file.get()) != 0) {
    return Invalid("file-unreadable", "cannot read the file", {path});
  }
  return text;
}

}  // namespace hv
