#include "sim/operand_board.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace hv {
namespace {

// From here on it costs less to wait for the readers than to copy an operand before the next write,
// or to keep its memory for another superstep.
constexpr size_t kLargeBytes = size_t{1} << 18;

constexpr DeviceId kNoDevice(-1);

}  // namespace

OperandBoard::OperandBoard(const ModulePlan& plan, const Placement& placement, NodeRanks* node,
                           Circle* circle, Rank own)
    : plan_(plan), placement_(placement), node_(node), circle_(circle), own_(own) {
  if (node_ == nullptr) return;
  for (const Collective& collective : plan.collectives) {
    read_by_others_.emplace_back(collective.grouping->groups.size(), static_cast<signed char>(-1));
  }
}

bool OperandBoard::HasPeerAmong(std::span<const DeviceId> members) const {
  return std::any_of(members.begin(), members.end(), [this](DeviceId member) {
    const Rank rank = placement_.RankOf(member);
    return rank != own_ && node_->PositionOf(rank) >= 0;
  });
}

bool OperandBoard::IsReadByOthers(const PostKey& key, int32_t collective) {
  const Collective& c = plan_.collectives[static_cast<size_t>(collective)];
  if (key.role == Role::kReceiver) return false;
  if (key.role == Role::kSender) {
    const DeviceId target(key.collective.group % plan_.mesh.devices());
    return HasPeerAmong({&target, 1});
  }
  const size_t group = static_cast<size_t>(key.collective.group);
  signed char& known = read_by_others_[static_cast<size_t>(collective)][group];
  if (known < 0) known = HasPeerAmong(c.grouping->groups[group]) ? 1 : 0;
  return known != 0;
}

void OperandBoard::PublishPost(DeviceId device, const PostKey& key, const Posted& post) {
  for (size_t o = 0; o < post.operands.size(); ++o) {
    const Value& operand = post.operands[o];
    if (!operand.IsDense()) continue;
    if (sizeof(Entry) * (entries_.size() + 1) > Circle::kBulletinBytes) return;
    const std::span<const std::byte> bytes = operand.bytes();
    const std::byte* place = bytes.data();
    if (node_->arena().Holds(place)) {
      kept_.push_back(operand);
    } else {
      std::byte* staged = circle_->Scratch(bytes.size());
      if (staged == nullptr) continue;
      if (!bytes.empty()) std::memcpy(staged, bytes.data(), bytes.size());
      place = staged;
    }
    entries_.push_back({device, key, static_cast<int64_t>(o), node_->arena().OffsetOf(place)});
  }
}

void OperandBoard::Publish(const std::vector<std::unique_ptr<Device>>& devices) {
  if (node_ == nullptr) return;
  older_.insert(older_.end(), std::make_move_iterator(kept_.begin()),
                std::make_move_iterator(kept_.end()));
  kept_.clear();
  entries_.clear();
  for (const auto& device : devices) {
    for (const auto& [key, post] : device->posted()) {
      if (IsReadByOthers(key, post.collective)) PublishPost(device->id(), key, post);
    }
  }
  circle_->Post(std::as_bytes(std::span(entries_)));
}

void OperandBoard::FinishReading() {
  if (node_ == nullptr) return;
  circle_->Reach(Circle::kRead);
  size_t bytes = 0;
  for (const Value& value : kept_) bytes += value.bytes().size();
  if (bytes < kLargeBytes) return;
  for (const int64_t p : circle_->positions()) circle_->Await(Circle::kRead, p);
  kept_.clear();
}

void OperandBoard::PublishReduced(const CollectiveKey& key, int64_t operand, const Value& value) {
  if (!node_->arena().Holds(value.bytes().data())) return;
  if (sizeof(Entry) * (reduced_.size() + 1) > Circle::kBulletinBytes) return;
  kept_.push_back(value);
  reduced_.push_back(
      {kNoDevice, {key, Role::kMember}, operand, node_->arena().OffsetOf(value.bytes().data())});
}

void OperandBoard::FinishReducing() {
  if (node_ == nullptr) return;
  circle_->PostLate(std::as_bytes(std::span(reduced_)));
  circle_->Reach(Circle::kReduced);
  reduced_.clear();
}

const std::byte* OperandBoard::FindReduced(Rank rank, const CollectiveKey& key, int64_t operand,
                                           size_t bytes) {
  const int64_t position = node_->PositionOf(rank);
  circle_->Await(Circle::kReduced, position);
  return FindIn(circle_->LateBulletinOf(position), position,
                {kNoDevice, {key, Role::kMember}, operand, 0}, bytes);
}

const std::byte* OperandBoard::Find(Rank owner, DeviceId device, const PostKey& key,
                                    int64_t operand, size_t bytes) const {
  const int64_t position = node_ == nullptr ? -1 : node_->PositionOf(owner);
  if (position < 0) return nullptr;
  return FindIn(circle_->BulletinOf(position), position, {device, key, operand, 0}, bytes);
}

const std::byte* OperandBoard::FindIn(std::span<const std::byte> bulletin, int64_t position,
                                      const Entry& wanted, size_t bytes) const {
  const std::span entries(reinterpret_cast<const Entry*>(bulletin.data()),
                          bulletin.size() / sizeof(Entry));
  const auto found = std::lower_bound(entries.begin(), entries.end(), wanted,
                                      [](const Entry& a, const Entry& b) { return a < b; });
  if (found == entries.end() || *found <=> wanted != 0) return nullptr;
  return node_->At(position, found->offset, bytes);
}

}  // namespace hv
