#include "tests/fuzz/sketch.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

namespace hv {
namespace {

std::string GroupsText(const SketchGroups& groups) {
  if (!groups.spelling.empty()) return groups.spelling;
  std::string text = "{";
  for (const std::vector<int64_t>& group : groups.ids) {
    text += (text.size() > 1 ? "," : "") + Braced(group);
  }
  return text + "}";
}

std::string PairsText(const Pairs& pairs) {
  std::string text = "{";
  for (const auto& [source, target] : pairs) {
    text += (text.size() > 1 ? "," : "") + Braced({source, target});
  }
  return text + "}";
}

bool IsSendOrReceive(const SketchStep& step) {
  return step.opcode == "send" || step.opcode == "recv";
}

void AppendStep(const SketchStep& step, bool root, int64_t* channels, std::string* out) {
  *out += std::string(root ? "  ROOT " : "  ") + step.name + " = " + step.ShapeText() + " " +
          step.opcode + "(" + step.inside;
  for (size_t i = 0; i < step.operands.size(); ++i) *out += (i > 0 ? ", " : "") + step.operands[i];
  *out += ")";
  if (step.groups && step.groups->channel) {
    const int64_t number = step.channel_number > 0 ? step.channel_number : ++*channels;
    *out += ", channel_id=" + std::to_string(number);
  }
  if (step.groups && !step.pairs) {
    *out += ", replica_groups=" + GroupsText(*step.groups);
    if (step.groups->global) *out += ", use_global_device_ids=true";
  }
  if (step.pairs && IsSendOrReceive(step)) {
    *out += ", frontend_attributes={_xla_send_recv_source_target_pairs=\"" +
            PairsText(*step.pairs) + "\"}";
  } else if (step.pairs) {
    *out += ", source_target_pairs=" + PairsText(*step.pairs);
  }
  for (const auto& [key, value] : step.attributes) *out += ", " + key + "=" + value;
  *out += "\n";
}

// The reducers that steps apply by name: a function, an underscore, an element type.
std::string ReducersText(const std::vector<SketchBody>& bodies) {
  std::set<std::string> names;
  for (const SketchBody& body : bodies) {
    for (const SketchStep& step : body.steps) {
      if (const std::string* name = step.Find("to_apply")) names.insert(*name);
    }
  }
  for (const SketchBody& body : bodies) names.erase(body.name);
  std::string text;
  for (const std::string& name : names) {
    const size_t split = name.find('_');
    const std::string type = name.substr(split + 1) + "[]";
    text += name + " {\n  a = " + type + " parameter(0)\n  b = " + type +
            " parameter(1)\n  ROOT r = " + type + " " + name.substr(0, split) + "(a, b)\n}\n\n";
  }
  return text;
}

}  // namespace

std::string Braced(const std::vector<int64_t>& list) {
  std::string text = "{";
  for (size_t i = 0; i < list.size(); ++i) text += (i > 0 ? "," : "") + std::to_string(list[i]);
  return text + "}";
}

std::vector<int64_t> NumbersIn(const std::string& text) {
  std::vector<int64_t> numbers;
  for (size_t at = 0; at < text.size(); ++at) {
    const bool negative = at > 0 && text[at - 1] == '-';
    if (text[at] < '0' || text[at] > '9') continue;
    int64_t number = 0;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
      number = number * 10 + (text[at] - '0');
    }
    numbers.push_back(negative ? -number : number);
  }
  return numbers;
}

int64_t CountOf(const Extent& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

std::string ShapeText(const std::string& type, const Extent& dims) {
  const std::string list = Braced(dims);
  return type + "[" + list.substr(1, list.size() - 2) + "]";
}

std::string SketchStep::ShapeText() const { return IsTuple() ? type : hv::ShapeText(type, dims); }

const std::string* SketchStep::Find(const std::string& key) const {
  for (const auto& [own, value] : attributes) {
    if (own == key) return &value;
  }
  return nullptr;
}

void SketchStep::Set(const std::string& key, std::string value) {
  Drop(key);
  attributes.emplace_back(key, std::move(value));
}

void SketchStep::Drop(const std::string& key) {
  std::erase_if(attributes, [&](const auto& a) { return a.first == key; });
}

const SketchStep* SketchBody::Find(const std::string& step) const {
  const auto found =
      std::find_if(steps.begin(), steps.end(), [&](const SketchStep& s) { return s.name == step; });
  return found == steps.end() ? nullptr : &*found;
}

SketchStep* SketchBody::Find(const std::string& step) {
  return const_cast<SketchStep*>(std::as_const(*this).Find(step));
}

std::string Sketch::Text() const {
  std::string text = "HloModule sketch";
  if (scheduled) text += ", is_scheduled=true";
  text += ", replica_count=" + std::to_string(mesh.replicas) +
          ", num_partitions=" + std::to_string(mesh.partitions) + "\n\n" + ReducersText(bodies);
  int64_t channels = 0;
  for (size_t i = 1; i <= bodies.size(); ++i) {
    const SketchBody& body = bodies[i % bodies.size()];
    text += (i == bodies.size() ? "ENTRY " : "") + body.name + " {\n";
    for (const SketchStep& step : body.steps) {
      AppendStep(step, step.name == body.root, &channels, &text);
    }
    text += "}\n\n";
  }
  return text;
}

}  // namespace hv
