#include "sim/circle.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "sim/node_ranks.h"

namespace hv {
namespace {

// Rounds of a part between two rounds of the whole node: fewer than 2^32.
constexpr int kRoundBits = 32;

}  // namespace

Circle::Circle(NodeRanks* node, size_t number, std::vector<int64_t> positions)
    : node_(*node), number_(number), positions_(std::move(positions)) {}

CircleHeader& Circle::HeaderOf(int64_t position) const {
  return node_.HeaderOf(position).circles[number_];
}

CircleHeader& Circle::Own() const { return HeaderOf(node_.position()); }

void Circle::Say(uint64_t signature, std::string_view piece, uint64_t whole_bytes) {
  CircleHeader& own = Own();
  const size_t turn = ++round_ % 2;
  own.said[turn] = {signature, whole_bytes};
  if (!piece.empty()) std::memcpy(own.piece[turn], piece.data(), piece.size());
  own.entered.Raise(round_);
}

void Circle::EnterWith(uint64_t signature, std::string_view piece, uint64_t whole_bytes) {
  Say(signature, piece, whole_bytes);
  const NodeRanks::Rest rest(&node_, number_, round_);
  for (const int64_t p : positions_) node_.Await(p, HeaderOf(p).entered, round_);
}

void Circle::Enter(uint64_t signature) { EnterWith(signature, {}, 0); }

bool Circle::TryEnter(uint64_t signature) {
  Say(signature, {}, 0);
  const NodeRanks::Rest rest(&node_, number_, round_);
  return std::all_of(positions_.begin(), positions_.end(), [this](int64_t p) {
    return node_.AwaitUnlessAtRest(p, HeaderOf(p).entered, round_);
  });
}

// Those who gave up a round and those who never came count from the same number again.
void Circle::Restart() {
  round_ = node_.whole().round() << kRoundBits;
  posts_ = 0;
  staged_ = 0;
}

bool Circle::AllEntered(uint64_t signature) const {
  return std::all_of(positions_.begin(), positions_.end(), [&](int64_t p) {
    return HeaderOf(p).said[round_ % 2].signature == signature;
  });
}

uint64_t Circle::SignatureOfFirst() const {
  return HeaderOf(positions_.front()).said[round_ % 2].signature;
}

std::vector<std::string> Circle::GatherTexts(const std::string& mine) {
  constexpr size_t kPieceBytes = CircleHeader::kPieceBytes;
  std::vector<std::string> texts(positions_.size());
  std::string_view rest = mine;
  size_t longest = 0;
  for (size_t begin = 0; begin == 0 || begin < longest; begin += kPieceBytes) {
    EnterWith(0, rest.substr(0, kPieceBytes), mine.size());
    rest.remove_prefix(std::min(rest.size(), kPieceBytes));
    for (size_t r = 0; r < texts.size(); ++r) {
      const CircleHeader& peer = HeaderOf(positions_[r]);
      const size_t whole = peer.said[round_ % 2].text_bytes;
      longest = std::max(longest, whole);
      if (begin >= whole) continue;
      texts[r].append(reinterpret_cast<const char*>(peer.piece[round_ % 2]),
                      std::min(kPieceBytes, whole - begin));
    }
  }
  return texts;
}

std::byte* Circle::Scratch(size_t bytes) {
  constexpr size_t kStageBytes = CircleHeader::kStageBytes;
  const size_t begin = (staged_ + 63) / 64 * 64;
  if (bytes > kStageBytes || begin > kStageBytes - bytes) return nullptr;
  staged_ = begin + bytes;
  return Own().stage[(posts_ + 1) % 2] + begin;
}

void Circle::Post(std::span<const std::byte> bulletin) {
  HV_CHECK(bulletin.size() <= kBulletinBytes, "a bulletin too large");
  CircleHeader& own = Own();
  const size_t turn = ++posts_ % 2;
  staged_ = 0;
  own.bulletin_bytes[turn] = bulletin.size();
  if (!bulletin.empty()) std::memcpy(own.bulletin[turn], bulletin.data(), bulletin.size());
}

std::span<const std::byte> Circle::BulletinOf(int64_t position) const {
  const CircleHeader& peer = HeaderOf(position);
  const size_t turn = posts_ % 2;
  return {peer.bulletin[turn], peer.bulletin_bytes[turn]};
}

void Circle::PostLate(std::span<const std::byte> bulletin) {
  HV_CHECK(bulletin.size() <= kBulletinBytes, "a bulletin too large");
  CircleHeader& own = Own();
  own.late_bytes = bulletin.size();
  if (!bulletin.empty()) std::memcpy(own.late, bulletin.data(), bulletin.size());
}

std::span<const std::byte> Circle::LateBulletinOf(int64_t position) const {
  const CircleHeader& peer = HeaderOf(position);
  return {peer.late, peer.late_bytes};
}

void Circle::Reach(Stage stage) { Own().stages[stage].Raise(round_); }

void Circle::Await(Stage stage, int64_t position) {
  node_.Await(position, HeaderOf(position).stages[stage], round_);
}

}  // namespace hv
