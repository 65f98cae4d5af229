// A sharding fits its shape: one per leaf of a tuple, tile sizes for every dimension of an array. The
// parser has checked the spelling. Source: xla/hlo/ir/hlo_sharding.cc (Validate).
#include <fmt/format.h>

#include <algorithm>

#include "hlo/findings.h"
#include "hlo/rules.h"

namespace hv {
namespace {

// The parts between commas of a "{...}", braces and brackets inside left whole.
std::vector<std::string_view> PartsOf(std::string_view braced) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t begin = 1;
  for (size_t i = 0; i < braced.size(); ++i) {
    const char c = braced[i];
    if (c == '{' || c == '[' || c == '(') ++depth;
    if (c == '}' || c == ']' || c == ')') --depth;
    const bool ends = depth == 0 && i + 1 == braced.size();
    if (ends || (depth == 1 && c == ',')) {
      parts.push_back(braced.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  return parts;
}

bool IsListOfShardings(std::string_view text) {
  const size_t second = text.find_first_not_of(" \t\r\n", 1);
  return second != std::string_view::npos && text[second] == '{';
}

// Numbers in the list that follows `key`, up to `close`; 0 if there is none.
int64_t CountAfter(std::string_view text, std::string_view key, char close) {
  const size_t at = text.find(key);
  if (at == std::string_view::npos) return 0;
  const std::string_view list = text.substr(at, text.find(close, at) - at);
  return 1 + std::count(list.begin(), list.end(), ',');
}

void CheckTiles(const Instruction& instruction, std::string_view sharding, const Shape& shape,
                RuleFindings* findings) {
  const int64_t tiles = CountAfter(sharding, "devices=[", ']');
  if (tiles == 0 || !shape.IsArray()) return;
  const bool copies = sharding.find("last_tile_dim_replicate") != std::string_view::npos;
  const int64_t extra = copies ? 1 : CountAfter(sharding, "last_tile_dims={", '}');
  if (tiles - extra == shape.rank()) return;
  findings->Add(instruction, Attr::kSharding, "sharding-rank",
                fmt::format("{} tile dimensions for {}", tiles - extra, Text(shape)));
}

void AppendLeaves(const Shape& shape, std::vector<const Shape*>* leaves) {
  if (!shape.IsTuple()) return leaves->push_back(&shape);
  for (const Shape* element : shape.elements) AppendLeaves(*element, leaves);
}

}  // namespace

void CheckSharding(const Instruction& instruction, RuleFindings* findings) {
  const std::string_view text = instruction.Text(Attr::kSharding);
  if (text.empty()) return;
  if (!IsListOfShardings(text)) {
    return CheckTiles(instruction, text, *instruction.shape, findings);
  }
  std::vector<const Shape*> leaves;
  AppendLeaves(*instruction.shape, &leaves);
  const std::vector<std::string_view> parts = PartsOf(text);
  if (parts.size() != leaves.size()) {
    findings->Add(instruction, Attr::kSharding, "sharding-count",
                  fmt::format("{} shardings for {} leaves", parts.size(), leaves.size()));
    return;
  }
  for (size_t i = 0; i < parts.size(); ++i) CheckTiles(instruction, parts[i], *leaves[i], findings);
}

}  // namespace hv
