#include "sim/rounds.h"

#include <algorithm>
#include <map>
#include <utility>

#include "sim/node_division.h"
#include "sim/node_ranks.h"

namespace hv {

Rounds::Part::Part(const Rounds& rounds, size_t circle_number, std::vector<int64_t> positions)
    : circle(rounds.node_, circle_number, std::move(positions)),
      board(rounds.plan_, rounds.placement_, rounds.node_, &circle, rounds.transport_->rank(),
            rounds.shares_results_) {
  circle.Restart();
}

Rounds::Rounds(const ModulePlan& plan, const Placement& placement, Transport* transport,
               bool by_groups, bool shares_results)
    : plan_(plan),
      placement_(placement),
      transport_(transport),
      node_(transport->node()),
      shares_results_(shares_results),
      board_(plan, placement, node_, node_ != nullptr ? &node_->whole() : nullptr,
             transport->rank(), shares_results),
      part_of_(plan.collectives.size()) {
  if (by_groups && node_ != nullptr) DivideNode();
}

Rounds::~Rounds() {
  if (node_ == nullptr) return;
  board_.ReleaseAll();
  node_->Divide({});
}

// All ranks of the node come to the same divisions in the same order.
void Rounds::DivideNode() {
  std::map<const Grouping*, size_t> known;  // division of each grouping
  std::vector<NodeRanks::Parts> divisions;
  for (size_t c = 0; c < part_of_.size(); ++c) {
    const Grouping* grouping = plan_.collectives[c].grouping.get();
    const auto [entry, is_new] = known.emplace(grouping, 0);
    if (is_new) {
      NodeRanks::Parts parts = DivideByGroups(*grouping, placement_, node_->ranks());
      const auto found = std::find(divisions.begin(), divisions.end(), parts);
      entry->second = static_cast<size_t>(found - divisions.begin());
      if (found == divisions.end()) divisions.push_back(std::move(parts));
    }
  }
  if (divisions.size() > node_->most_divisions()) divisions.resize(node_->most_divisions());
  for (size_t n = 0; n < divisions.size(); ++n) AddPart(n, divisions[n]);
  for (size_t c = 0; c < part_of_.size(); ++c) {
    const size_t n = known.at(plan_.collectives[c].grouping.get());
    if (n < parts_.size() && parts_[n]) part_of_[c] = &*parts_[n];
  }
  node_->Divide(std::move(divisions));
}

void Rounds::AddPart(size_t division, const NodeRanks::Parts& parts) {
  const int64_t own = parts[static_cast<size_t>(node_->position())];
  std::optional<Part>& part = parts_.emplace_back();
  if (own < 0) return;
  std::vector<int64_t> positions;
  for (size_t p = 0; p < parts.size(); ++p) {
    if (parts[p] == own) positions.push_back(static_cast<int64_t>(p));
  }
  part.emplace(*this, division + 1, std::move(positions));
}

Agreement Rounds::Agree(const std::vector<std::unique_ptr<Device>>& devices) {
  if (std::optional<Agreement> agreement = AgreeInPart(devices)) return std::move(*agreement);
  Agreement agreement = hv::Agree(plan_, devices, transport_, &board_);
  agreement.board = &board_;
  for (std::optional<Part>& part : parts_) {
    if (!part) continue;
    part->circle.Restart();
    part->board.ReleaseAll();
  }
  return agreement;
}

// The one in which all of its posts complete; null if there is none.
Rounds::Part* Rounds::PartOf(const Device& device) const {
  Part* part = nullptr;
  for (const auto& [key, post] : device.posted()) {
    Part* const own = part_of_[static_cast<size_t>(post.collective)];
    if (own == nullptr || (part != nullptr && own != part)) return nullptr;
    part = own;
  }
  return part;
}

std::optional<Agreement> Rounds::AgreeInPart(const std::vector<std::unique_ptr<Device>>& devices) {
  if (parts_.empty() || devices.empty()) return {};
  for (const auto& device : devices) {
    if (device->error()) return node_->RaiseAlarm(), std::nullopt;
  }
  Part* const part = PartOf(*devices.front());
  if (part == nullptr || node_->IsAlarmed()) return {};
  std::optional<DeviceState> common = CommonState(plan_, devices);
  if (!common) return {};
  const uint64_t hash = HashOf(*common);
  part->board.Publish(devices);
  if (!part->circle.TryEnter(hash) || !part->circle.AllEntered(hash)) return {};
  part->board.ReleaseOlder();
  ran_ahead_ = true;
  Agreement agreement = AgreementOn(plan_, std::move(*common), devices);
  agreement.board = &part->board;
  return agreement;
}

}  // namespace hv
