#include "verify/symbolic_opaque.h"

#include <algorithm>
#include <utility>

namespace hv {
namespace {

// Nodes rebuilt to see that two operands are equal.
constexpr int64_t kEffort = 500;
// Instances compared by value, over all calls; later ones are told apart by their pieces.
constexpr int64_t kMostComparisons = 200000;

}  // namespace

int64_t SourceTable::Named(const std::string& name) {
  const auto [it, is_new] = named_.emplace(name, static_cast<int64_t>(names_.size()));
  if (is_new) names_.push_back(name);
  return it->second;
}

int64_t SourceTable::ResultsOf(const std::string& key, std::string_view name, size_t results,
                               std::vector<SymbolicTensor> operands) {
  std::vector<Instance>& known = instances_[key];
  uint64_t hash = 0;
  for (const SymbolicTensor& operand : operands) hash = hash * 31 + operand.Hash();
  const auto same_pieces = [&](const Instance& instance) {
    return instance.hash == hash &&
           std::equal(operands.begin(), operands.end(), instance.operands.begin(),
                      instance.operands.end(),
                      [](const auto& a, const auto& b) { return a.pieces() == b.pieces(); });
  };
  int64_t budget = 0;
  const auto same_values = [&](const Instance& instance) {
    return ++comparisons_ < kMostComparisons && std::equal(
        operands.begin(), operands.end(), instance.operands.begin(), instance.operands.end(),
        [&](const auto& a, const auto& b) { return !maker_->Compare(a, b, budget).has_value(); });
  };
  auto found = std::find_if(known.begin(), known.end(), same_pieces);
  for (int64_t effort : {int64_t{0}, kEffort}) {
    budget = effort;
    if (found == known.end()) found = std::find_if(known.begin(), known.end(), same_values);
  }
  if (found != known.end()) return found->first_source;
  const int64_t first = static_cast<int64_t>(names_.size());
  for (size_t i = 0; i < results; ++i) {
    std::string text(name);
    text.append("#").append(std::to_string(known.size()));
    if (results > 1) text.append(".").append(std::to_string(i));
    names_.push_back(std::move(text));
  }
  known.push_back({hash, std::move(operands), first});
  return first;
}

}  // namespace hv
