// The HloModule line and the stack frame tables. Source: hlo_text.md section 2.
#include <fmt/format.h>

#include <algorithm>

#include "hlo/module_parser.h"

namespace hv {

bool ModuleParser::ParseHeader() {
  in_.ConsumeWord("HloModule");
  if (!in_.Name(&module_.name)) return false;
  in_.Consume(':');
  while (in_.Consume(',')) {
    if (ParseHeaderAttribute()) continue;
    in_.SkipLine();  // what follows may have mistakes of its own
    break;
  }
  return ParseStackFrames();
}

bool ModuleParser::ParseHeaderAttribute() {
  const uint32_t where = in_.TokenOffset();
  const std::string_view key = in_.AttributeName();
  if (key.empty()) return in_.FailExpected("an attribute of the module, key=value");
  if (std::find(header_keys_.begin(), header_keys_.end(), key) != header_keys_.end()) {
    return in_.Fail(where, "repeated-header-attribute", fmt::format("{} appears twice", key));
  }
  header_keys_.push_back(key);
  int64_t count = 0;
  if (key == "is_scheduled") return in_.Bool(&module_.is_scheduled);
  if (key == "replica_count" || key == "num_partitions") {
    const uint32_t at = in_.TokenOffset();
    if (!in_.Int(&count)) return false;
    if (count < 1 || count > kMaxDeviceIds) {
      return in_.Fail(at, "device-count", fmt::format("{} must lie between 1 and 2^24", key));
    }
    (key == "replica_count" ? module_.replica_count : module_.num_partitions) = count;
    return true;
  }
  in_.SkipBlanks();
  const char* const first = in_.position();
  if (!ParseHeaderValue(key)) return false;
  module_.header.push_back({key, in_.TextSince(first)});
  return true;
}

bool ModuleParser::ParseHeaderValue(std::string_view key) {
  bool flag = false;
  std::string_view text;
  Attribute dictionary;
  if (key == "entry_computation_layout") return ParseEntryLayout();
  if (key == "alias_passthrough_params") return in_.Bool(&flag);
  if (key == "allow_spmd_sharding_propagation_to_parameters" ||
      key == "allow_spmd_sharding_propagation_to_output") {
    return ParseBoolOrBools();
  }
  if (key == "frontend_attributes") {
    dictionary.key = Attr::kFrontendAttributes;
    return values_.Read(&dictionary);
  }
  for (std::string_view known :
       {"input_output_alias", "buffer_donor", "origin_recovery_table", "debug_attributes"}) {
    if (key == known) return in_.Braces(&text);
  }
  return in_.Fail(in_.offset() - static_cast<uint32_t>(key.size()) - 1, "unknown-header-attribute",
                  fmt::format("unknown module attribute '{}'", key));
}

// {(shape, shape)->shape}
bool ModuleParser::ParseEntryLayout() {
  if (!in_.Expect('{', "before the entry layout") || !in_.Expect('(', "in the entry layout")) {
    return false;
  }
  auto& parameters = module_.entry_parameter_layouts;
  const bool read = in_.ListUntil(')', "after the parameters' shapes", [&] {
    parameters.push_back(shapes_.Read());
    return parameters.back() != nullptr;
  });
  if (!read) return false;
  if (!in_.Consume("->")) return in_.FailExpected("'->'");
  module_.entry_result_layout = shapes_.Read();
  return module_.entry_result_layout != nullptr && in_.Expect('}', "after the entry layout");
}

bool ModuleParser::ParseBoolOrBools() {
  bool flag = false;
  if (!in_.Consume('{')) return in_.Bool(&flag);
  return in_.ListUntil('}', "after true and false", [&] { return in_.Bool(&flag); });
}

// All four tables or none.
bool ModuleParser::ParseStackFrames() {
  if (in_.PeekIdentifier() != "FileNames") return true;
  const char* const first = in_.position();
  if (!ParseTable("FileNames", false) || !ParseTable("FunctionNames", false) ||
      !ParseTable("FileLocations", true) || !ParseTable("StackFrames", true)) {
    return false;
  }
  const std::string_view tables = in_.TextSince(first);
  module_.stack_frames = tables.substr(0, tables.find_last_not_of(" \t\r\n") + 1);
  return true;
}

// The title, then entries numbered from 1: strings or {...}.
bool ModuleParser::ParseTable(std::string_view title, bool braces) {
  if (!in_.ConsumeWord(title)) return in_.FailExpected(fmt::format("the table {}", title));
  for (int64_t expected = 1; Reader::IsDigit(in_.Peek()); ++expected) {
    const char* const before = in_.position();
    const uint32_t where = in_.offset();
    int64_t number;
    std::string_view text;
    if (!in_.Int(&number)) return false;
    if (number != expected) {
      return in_.Fail(where, "stack-frame",
                      fmt::format("expected entry {} of {}", expected, title));
    }
    if (!(braces ? in_.Braces(&text) : in_.Quoted(&text))) {
      in_.set_position(before);
      return false;
    }
  }
  return true;
}

}  // namespace hv
