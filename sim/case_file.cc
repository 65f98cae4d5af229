#include "sim/case_file.h"

#include <utility>

#include "sim/collective_plan.h"
#include "sim/literal_json.h"

namespace hv {
namespace {

// A tuple is written as the list of its elements.
Result<Value> ReadValue(const Json& node, const Shape* shape) {
  if (shape->IsToken()) return Value::Token(shape);
  if (!shape->IsTuple()) return ReadLiteralJson(node, shape);
  if (node.items().size() != shape->elements.size()) {
    return node.MakeError("bad-literal", "expected a list of the elements of a tuple");
  }
  std::vector<Value> elements;
  for (size_t i = 0; i < shape->elements.size(); ++i) {
    HV_ASSIGN(Value element, ReadValue(node.items()[i], shape->elements[i]));
    elements.push_back(std::move(element));
  }
  return Value::Tuple(shape, std::move(elements));
}

Status ReadCount(const Json& root, std::string_view key, std::optional<int64_t>* count) {
  const Json* node = root.Find(key);
  if (node == nullptr) return {};
  if (!node->Is(Json::Kind::kInteger) || node->integer() < 1) {
    return node->MakeError("bad-case", "expected a positive integer");
  }
  *count = node->integer();
  return {};
}

}  // namespace

Result<CaseFile> CaseFile::Read(const std::string& path, const std::string& expected_key) {
  CaseFile file;
  HV_ASSIGN(file.document_, JsonDocument::ParseFile(path));
  HV_RETURN_IF_ERROR(file.Interpret(expected_key));
  return file;
}

Status CaseFile::Interpret(const std::string& expected_key) {
  const Json& root = document_->root();
  if (!root.Is(Json::Kind::kObject)) return root.MakeError("bad-case", "expected an object");
  inputs_ = root.Find("inputs");
  inputs_all_ = root.Find("inputs_all");
  HV_RETURN_IF_ERROR(ReadCount(root, "replica_count", &replicas_));
  HV_RETURN_IF_ERROR(ReadCount(root, "partition_count", &partitions_));
  if (const Json* n = root.Find("tolerance")) {
    if (!n->IsNumber()) return n->MakeError("bad-case", "expected a number");
    tolerance_ = n->real();
  }
  const Json* expected = root.Find("expected");
  const bool is_word = expected != nullptr && expected->Is(Json::Kind::kString);
  if (is_word && expected->string() == "invalid") outcome_ = Outcome::kInvalid;
  if (is_word && expected->string() == "deadlock") outcome_ = Outcome::kDeadlock;
  if (!expected_key.empty()) {
    expected = root.Find(expected_key);
    if (expected == nullptr) {
      return root.MakeError("bad-case", "there is no key '" + expected_key + "'");
    }
    outcome_ = Outcome::kAny;
  } else if (expected == nullptr || is_word) {
    expected = root.Find("expected_outputs");
  }
  if (outcome_ != Outcome::kAny || expected == nullptr) return {};
  if (!has_inputs()) return {};  // values for inputs that are not stated
  if (!expected->Is(Json::Kind::kObject)) {
    return expected->MakeError("bad-case", "expected an object with a key for each device");
  }
  expected_ = expected;
  outcome_ = Outcome::kValues;
  return {};
}

Result<const Json*> CaseFile::ListOf(const Json& by_device, const Mesh& mesh, DeviceId device,
                                     size_t count) const {
  const Json* list = by_device.Find(mesh.NameOf(device));
  if (list == nullptr) {
    return by_device.MakeError("bad-case", "no entry for device " + mesh.NameOf(device));
  }
  if (!list->Is(Json::Kind::kArray) || list->items().size() != count) {
    return list->MakeError("bad-case", "expected a list of " + std::to_string(count));
  }
  return list;
}

Result<Value> CaseFile::Input(const Module& module, const Mesh& mesh, DeviceId device,
                              int64_t parameter) const {
  const Computation& entry = module.Entry();
  const Json* list = inputs_all_;
  if (inputs_ != nullptr) {
    HV_ASSIGN(list, ListOf(*inputs_, mesh, device, entry.parameters.size()));
  } else if (!list->Is(Json::Kind::kArray) || list->items().size() != entry.parameters.size()) {
    return list->MakeError("bad-case",
                           "expected a list of " + std::to_string(entry.parameters.size()));
  }
  const size_t p = static_cast<size_t>(parameter);
  return ReadValue(list->items()[p], entry.At(entry.parameters[p]).shape);
}

Result<std::vector<Value>> CaseFile::Expected(const Module& module, const Mesh& mesh,
                                              DeviceId device) const {
  const std::vector<const Shape*> leaves = DataLeaves(module.Entry().Root().shape);
  HV_ASSIGN(const Json* list, ListOf(*expected_, mesh, device, leaves.size()));
  std::vector<Value> values;
  for (size_t i = 0; i < leaves.size(); ++i) {
    HV_ASSIGN(Value value, ReadLiteralJson(list->items()[i], leaves[i]));
    values.push_back(std::move(value));
  }
  return values;
}

}  // namespace hv
