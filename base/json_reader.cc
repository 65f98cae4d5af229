// Typed access to JSON objects: JsonErrors and ObjectReader.
#include <algorithm>

#include "base/json.h"
#include "base/text.h"

namespace hv {
namespace {

std::string Quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

}  // namespace

void JsonErrors::Add(const Json& node, std::string id, std::string message) {
  error_.diagnostics.push_back(node.MakeDiagnostic(std::move(id), std::move(message)));
}

Status JsonErrors::ToStatus() && {
  if (error_.diagnostics.empty()) return {};
  return tl::make_unexpected(std::move(error_));
}

ObjectReader::ObjectReader(const Json& object, JsonErrors* errors)
    : object_(object), errors_(errors) {
  if (!object.Is(Json::Kind::kObject)) {
    errors->Add(object, "json-type",
                "expected an object, not " + std::string(ToString(object.kind())));
  }
}

const Json* ObjectReader::Get(std::string_view key) {
  known_.push_back(key);
  return object_.Find(key);
}

const Json* ObjectReader::Require(std::string_view key) {
  const Json* value = Get(key);
  if (value == nullptr && object_.Is(Json::Kind::kObject)) {
    errors_->Add(object_, "json-missing-key", "key " + Quoted(key) + " is missing");
  }
  return value;
}

const Json* ObjectReader::GetAs(std::string_view key, Json::Kind kind) {
  const Json* value = Get(key);
  if (value == nullptr || value->Is(kind)) return value;
  if (kind == Json::Kind::kReal && value->IsNumber()) return value;
  errors_->Add(
      *value, "json-type",
      "expected " + std::string(ToString(kind)) + ", not " + std::string(ToString(value->kind())));
  return nullptr;
}

int64_t ObjectReader::Integer(std::string_view key, int64_t absent, int64_t low, int64_t high) {
  const Json* value = Get(key);
  if (value == nullptr) return absent;
  if (!value->IsInteger()) {
    errors_->Add(*value, "json-type",
                 "expected an integer, not " + std::string(ToString(value->kind())));
    return absent;
  }
  if (value->Is(Json::Kind::kUnsigned) || value->integer() < low || value->integer() > high) {
    errors_->Add(*value, "json-range",
                 std::string(value->NumberText()) + " is not between " + std::to_string(low) +
                     " and " + std::to_string(high));
    return absent;
  }
  return value->integer();
}

double ObjectReader::Real(std::string_view key, double absent, double low, double high) {
  const Json* value = GetAs(key, Json::Kind::kReal);
  if (value == nullptr) return absent;
  if (value->real() >= low && value->real() <= high) return value->real();
  errors_->Add(*value, "json-range", std::string(value->NumberText()) + " is out of range");
  return absent;
}

bool ObjectReader::Bool(std::string_view key, bool absent) {
  const Json* value = GetAs(key, Json::Kind::kBool);
  return value == nullptr ? absent : value->boolean();
}

std::string ObjectReader::String(std::string_view key, std::string absent) {
  const Json* value = GetAs(key, Json::Kind::kString);
  return value == nullptr ? absent : std::string(value->string());
}

std::vector<std::string> ObjectReader::Strings(std::string_view key) {
  std::vector<std::string> strings;
  const Json* value = GetAs(key, Json::Kind::kArray);
  if (value == nullptr) return strings;
  for (const Json& item : value->items()) {
    if (item.Is(Json::Kind::kString)) {
      strings.emplace_back(item.string());
    } else {
      errors_->Add(item, "json-type", "expected a string");
    }
  }
  return strings;
}

std::vector<int64_t> ObjectReader::Integers(std::string_view key, int64_t low, int64_t high) {
  std::vector<int64_t> integers;
  const Json* value = GetAs(key, Json::Kind::kArray);
  if (value == nullptr) return integers;
  for (const Json& item : value->items()) {
    if (item.Is(Json::Kind::kInteger) && item.integer() >= low && item.integer() <= high) {
      integers.push_back(item.integer());
    } else {
      errors_->Add(
          item, "json-type",
          "expected an integer between " + std::to_string(low) + " and " + std::to_string(high));
    }
  }
  return integers;
}

int ObjectReader::Word(std::string_view key, std::span<const std::string_view> words, int absent) {
  const Json* value = GetAs(key, Json::Kind::kString);
  if (value == nullptr) return absent;
  const auto found = std::find(words.begin(), words.end(), value->string());
  if (found != words.end()) return static_cast<int>(found - words.begin());
  std::string list;
  for (std::string_view word : words) list += (list.empty() ? "" : ", ") + Quoted(word);
  errors_->Add(
      *value, "json-word",
      Quoted(value->string()) + " is none of " + list + DidYouMean(value->string(), words));
  return absent;
}

void ObjectReader::Finish() {
  for (const JsonMember& member : object_.members()) {
    if (std::find(known_.begin(), known_.end(), member.key) != known_.end()) continue;
    errors_->Add(member.value, "json-unknown-key",
                 "unknown key " + Quoted(member.key) + DidYouMean(member.key, known_));
  }
}

}  // namespace hv
