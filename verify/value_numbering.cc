#include "verify/value_numbering.h"

#include <algorithm>
#include <utility>

namespace hv {

ValueId ValueGraph::Find(ValueId value) const {
  while (parent_[Index(value)] != value) {
    ValueId& up = parent_[Index(value)];
    up = parent_[Index(up)];
    value = up;
  }
  return value;
}

ValueId ValueGraph::NewValue(size_t node, const Shape* shape) {
  const ValueId value = static_cast<ValueId>(node_of_.size());
  node_of_.push_back(static_cast<int32_t>(node));
  shape_of_.push_back(shape);
  parent_.push_back(value);
  for (auto& values : of_side_) values.push_back(-1);
  users_.emplace_back();
  return value;
}

uint64_t ValueGraph::Signature(const ValueNode& node) const {
  uint64_t hash = static_cast<uint64_t>(node.key) + 1;
  for (const ValueId operand : node.operands) {
    hash = (hash ^ static_cast<uint64_t>(operand)) * 0x9E3779B97F4A7C15;
    hash ^= hash >> 29;
  }
  return hash;
}

int64_t ValueGraph::FindLike(size_t n, uint64_t signature) const {
  const auto [begin, end] = index_.equal_range(signature);
  for (auto entry = begin; entry != end; ++entry) {
    const ValueNode& other = nodes_[entry->second];
    if (entry->second != n && other.key == nodes_[n].key && other.operands == nodes_[n].operands) {
      return static_cast<int64_t>(entry->second);
    }
  }
  return -1;
}

size_t ValueGraph::Intern(ValueNode node, const std::string& key, std::vector<const Shape*> results,
                          Side side, NodeSource source) {
  node.key = keys_.emplace(key, static_cast<int32_t>(keys_.size())).first->second;
  for (ValueId& operand : node.operands) operand = Find(operand);
  size_t n = nodes_.size();
  nodes_.push_back(std::move(node));
  const uint64_t signature = Signature(nodes_[n]);
  if (const int64_t known = FindLike(n, signature); known >= 0) {
    nodes_.pop_back();
    n = static_cast<size_t>(known);
  } else {
    nodes_[n].first = static_cast<ValueId>(node_of_.size());
    nodes_[n].results = static_cast<int32_t>(results.size());
    for (const Shape* shape : results) NewValue(n, shape);
    index_.emplace(signature, n);
    for (const ValueId operand : nodes_[n].operands) {
      users_[Index(operand)].push_back(static_cast<int32_t>(n));
    }
  }
  const size_t s = static_cast<size_t>(side);
  if (nodes_[n].source[s].instruction == nullptr) nodes_[n].source[s] = source;
  for (int32_t r = 0; r < nodes_[n].results; ++r) {
    ValueId& own = of_side_[s][Index(Find(nodes_[n].first + r))];
    if (own < 0) own = nodes_[n].first + r;
  }
  return n;
}

void ValueGraph::Merge(ValueId a, ValueId b) {
  std::vector<std::pair<ValueId, ValueId>> equal = {{a, b}};
  while (!equal.empty()) {
    ValueId stays = Find(equal.back().first), goes = Find(equal.back().second);
    equal.pop_back();
    if (stays == goes) continue;
    if (users_[Index(stays)].size() < users_[Index(goes)].size()) std::swap(stays, goes);
    parent_[Index(goes)] = stays;
    for (auto& of_side : of_side_) {
      ValueId &kept = of_side[Index(stays)], other = of_side[Index(goes)];
      if (other >= 0 && (kept < 0 || other < kept)) kept = other;
    }
    std::vector<int32_t> users = std::move(users_[Index(goes)]);
    for (const int32_t user : users) {
      ValueNode& node = nodes_[static_cast<size_t>(user)];
      for (ValueId& operand : node.operands) operand = Find(operand);
      const uint64_t signature = Signature(node);
      const int64_t like = FindLike(static_cast<size_t>(user), signature);
      if (like >= 0) {
        const ValueId first = nodes_[static_cast<size_t>(like)].first;
        for (int32_t r = 0; r < node.results; ++r) equal.emplace_back(first + r, node.first + r);
      }
      index_.emplace(signature, static_cast<size_t>(user));
    }
    auto& all = users_[Index(stays)];
    all.insert(all.end(), users.begin(), users.end());
  }
}

}  // namespace hv
