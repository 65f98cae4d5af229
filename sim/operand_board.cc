#include "sim/operand_board.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

namespace hv {
namespace {

// From here on it costs less to wait for the readers than to copy an operand before the next write,
// or to keep its memory for another superstep.
constexpr size_t kLargeBytes = size_t{1} << 18;

constexpr DeviceId kNoDevice(-1);

}  // namespace

OperandBoard::OperandBoard(const ModulePlan& plan, const Placement& placement, NodeRanks* node,
                           Circle* circle, Rank own, bool shares_results)
    : plan_(plan),
      placement_(placement),
      node_(node),
      circle_(circle),
      own_(own),
      shares_results_(shares_results) {
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
    NodeRanks::Place place = node_->PlaceOf(bytes.data());
    if (place.position >= 0) {
      kept_.push_back(operand);
    } else {
      std::byte* staged = circle_->Scratch(bytes.size());
      if (staged == nullptr) continue;
      if (!bytes.empty()) std::memcpy(staged, bytes.data(), bytes.size());
      place = node_->PlaceOf(staged);
    }
    entries_.push_back({device, key, static_cast<int64_t>(o), place});
  }
}

void OperandBoard::Publish(const std::vector<std::unique_ptr<Device>>& devices) {
  if (node_ == nullptr) return;
  older_.insert(older_.end(), std::make_move_iterator(kept_.begin()),
                std::make_move_iterator(kept_.end()));
  kept_.clear();
  entries_.clear();
  node_->loans().Collect();
  if (shares_results_) OfferRoom(devices);
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
  const NodeRanks::Place place = node_->PlaceOf(value.bytes().data());
  if (place.position < 0) return;
  if (sizeof(Entry) * (reduced_.size() + 1) > Circle::kBulletinBytes) return;
  kept_.push_back(value);
  reduced_.push_back({kNoDevice, {key, Role::kMember}, operand, place});
}

void OperandBoard::FinishReducing() {
  if (node_ == nullptr) return;
  circle_->PostLate(std::as_bytes(std::span(reduced_)));
  circle_->Reach(Circle::kReduced);
  reduced_.clear();
}

const std::byte* OperandBoard::FindReduced(Rank rank, const CollectiveKey& key, int64_t operand,
                                           size_t bytes) {
  AwaitReduced(rank);
  return BytesOf(FindIn(circle_->LateBulletinOf(node_->PositionOf(rank)),
                        {kNoDevice, {key, Role::kMember}, operand}),
                 bytes);
}

const std::byte* OperandBoard::Find(Rank owner, DeviceId device, const PostKey& key,
                                    int64_t operand, size_t bytes) const {
  const int64_t position = node_ == nullptr ? -1 : node_->PositionOf(owner);
  if (position < 0) return nullptr;
  return BytesOf(FindIn(circle_->BulletinOf(position), {device, key, operand}), bytes);
}

const OperandBoard::Entry* OperandBoard::FindIn(std::span<const std::byte> bulletin,
                                                const Entry& wanted) {
  const std::span entries(reinterpret_cast<const Entry*>(bulletin.data()),
                          bulletin.size() / sizeof(Entry));
  const auto found = std::lower_bound(entries.begin(), entries.end(), wanted,
                                      [](const Entry& a, const Entry& b) { return a < b; });
  return found == entries.end() || *found <=> wanted != 0 ? nullptr : &*found;
}

const std::byte* OperandBoard::BytesOf(const Entry* entry, size_t bytes) const {
  return entry == nullptr ? nullptr : node_->At(entry->place.position, entry->place.offset, bytes);
}

uint32_t OperandBoard::SharersOf(const PostKey& key, const Posted& post) const {
  const Collective& collective = plan_.collectives[static_cast<size_t>(post.collective)];
  if (collective.opcode != Opcode::kAllReduce) return 0;
  int64_t bytes = 0;
  for (const Value& operand : post.operands) {
    if (!operand.IsNative()) return 0;
    bytes += static_cast<int64_t>(operand.bytes().size());
  }
  const auto& members = collective.grouping->groups[static_cast<size_t>(key.collective.group)];
  if (bytes < kSplitBytes || placement_.RankOf(members[0]) != own_) return 0;
  std::set<Rank> ranks;
  for (DeviceId member : members) ranks.insert(placement_.RankOf(member));
  const bool is_here = std::all_of(ranks.begin(), ranks.end(),
                                   [this](Rank rank) { return node_->PositionOf(rank) >= 0; });
  return is_here ? static_cast<uint32_t>(ranks.size() - 1) : 0;
}

// Once for each collective, however often it is published.
void OperandBoard::OfferRoom(const std::vector<std::unique_ptr<Device>>& devices) {
  std::map<CollectiveKey, Offer> offers;
  for (const auto& device : devices) {
    for (const auto& [key, post] : device->posted()) {
      if (offers.count(key.collective) != 0) continue;
      const uint32_t sharers = SharersOf(key, post);
      if (sharers == 0) continue;
      Offer& offer = offers[key.collective];
      if (const auto known = offers_.extract(key.collective); !known.empty()) {
        offer = std::move(known.mapped());
        continue;
      }
      for (const Value& operand : post.operands) {
        offer.values.push_back(Value::NewNative(operand.shape()));
        const bool is_seen = node_->arena().Holds(offer.values.back().bytes().data());
        offer.loans.push_back(is_seen ? node_->loans().Lend(offer.values.back(), sharers) : -1);
      }
    }
  }
  for (auto& [key, offer] : offers_) Withdraw(&offer);
  offers_ = std::move(offers);
  for (const auto& [key, offer] : offers_) {
    const bool is_whole = std::count(offer.loans.begin(), offer.loans.end(), -1) == 0;
    const size_t entries = entries_.size() + offer.values.size();
    if (!is_whole || sizeof(Entry) * entries > Circle::kBulletinBytes) continue;
    for (size_t o = 0; o < offer.values.size(); ++o) {
      entries_.push_back({kNoDevice, {key, Role::kMember}, static_cast<int64_t>(o),
                          node_->PlaceOf(offer.values[o].bytes().data()), offer.loans[o]});
    }
  }
}

void OperandBoard::Withdraw(Offer* offer) {
  for (const int32_t loan : offer->loans) {
    if (!offer->taken && loan >= 0) node_->loans().Cancel(loan);
  }
}

void OperandBoard::ReleaseAll() {
  older_.clear();
  kept_.clear();
  for (auto& [key, offer] : offers_) Withdraw(&offer);
  offers_.clear();
}

const OperandBoard::Entry* OperandBoard::FindOffered(Rank owner, const CollectiveKey& key,
                                                     int64_t operand) const {
  const int64_t position = node_ == nullptr ? -1 : node_->PositionOf(owner);
  if (position < 0) return nullptr;
  return FindIn(circle_->BulletinOf(position), {kNoDevice, {key, Role::kMember}, operand});
}

// Nobody reads it yet, so it may be written.
std::byte* OperandBoard::FindRoom(Rank owner, const CollectiveKey& key, int64_t operand,
                                  size_t bytes) const {
  return const_cast<std::byte*>(BytesOf(FindOffered(owner, key, operand), bytes));
}

Value OperandBoard::TakeRoom(Rank owner, const CollectiveKey& key, int64_t operand,
                             const Shape* shape) {
  if (owner == own_) {
    Offer& offer = offers_.at(key);
    offer.taken = true;
    return offer.values[static_cast<size_t>(operand)];
  }
  const Entry* entry = FindOffered(owner, key, operand);
  const auto bytes = static_cast<size_t>(shape->element_count * HostBytes(shape->type));
  return node_->loans().Take(&node_->HeaderOf(entry->place.position), entry->loan, shape,
                             {BytesOf(entry, bytes), bytes});
}

}  // namespace hv
