#include "verify/device_digits.h"

#include <map>
#include <tuple>

namespace hv {
namespace {

// How many moves from `first` on run with equal steps.
size_t RunLength(std::span<const BlockMove> moves, size_t first) {
  if (first + 1 >= moves.size()) return 1;
  const int64_t in = moves[first + 1].in - moves[first].in;
  const int64_t out = moves[first + 1].out - moves[first].out;
  size_t end = first + 2;
  while (end < moves.size() && moves[end].in - moves[end - 1].in == in &&
         moves[end].out - moves[end - 1].out == out) {
    ++end;
  }
  return end - first;
}

// The one nest of a list of devices by position.
std::optional<std::vector<DeviceDigit>> NestOf(const std::vector<int64_t>& devices) {
  std::vector<BlockMove> moves;
  for (size_t i = 0; i < devices.size(); ++i) {
    moves.push_back({devices[i], static_cast<int64_t>(i)});
  }
  const Pieces pieces = FactorMoves(moves);
  if (pieces.size() != 1) return std::nullopt;
  std::vector<DeviceDigit> digits;
  for (const Digit& d : pieces[0].digits) {
    if (d.in_stride <= 0) return std::nullopt;
    digits.push_back({d.extent, d.in_stride, d.out_stride});
  }
  return digits;
}

}  // namespace

Pieces FactorMoves(std::span<const BlockMove> moves) {
  if (moves.empty()) return {};
  if (moves.size() == 1) {
    Piece piece;
    piece.in_base = moves[0].in;
    piece.out_base = moves[0].out;
    return {piece};
  }
  using Kind = std::tuple<size_t, int64_t, int64_t>;  // length, steps
  std::map<Kind, std::vector<BlockMove>> runs;
  for (size_t i = 0; i < moves.size();) {
    const size_t length = RunLength(moves, i);
    const Kind kind =
        length == 1 ? Kind{1, 0, 0}
                    : Kind{length, moves[i + 1].in - moves[i].in, moves[i + 1].out - moves[i].out};
    runs[kind].push_back(moves[i]);
    i += length;
  }
  Pieces pieces;
  for (const auto& [kind, starts] : runs) {
    const auto [length, in, out] = kind;
    for (Piece& piece : FactorMoves(starts)) {
      if (length > 1) piece.digits.push_back({static_cast<int64_t>(length), in, out});
      pieces.push_back(std::move(piece));
    }
  }
  return pieces;
}

std::optional<GroupDigits> DigitsOf(const Grouping& grouping) {
  const auto& groups = grouping.groups;
  if (groups.empty() || groups[0].empty() || groups[0][0].value != 0) return std::nullopt;
  std::vector<int64_t> firsts, members;
  for (const auto& group : groups) {
    if (group.size() != groups[0].size()) return std::nullopt;
    firsts.push_back(group[0].value);
    for (size_t k = 0; k < group.size(); ++k) {
      if (group[k].value - group[0].value != groups[0][k].value - groups[0][0].value) {
        return std::nullopt;
      }
    }
  }
  for (const DeviceId member : groups[0]) members.push_back(member.value - groups[0][0].value);
  const auto by_group = NestOf(firsts), by_member = NestOf(members);
  if (!by_group || !by_member) return std::nullopt;
  const size_t devices = groups.size() * members.size();
  if (devices != grouping.group_of.size()) return std::nullopt;
  return GroupDigits{static_cast<int64_t>(groups.size()), static_cast<int64_t>(members.size()),
                     *by_group, *by_member};
}

}  // namespace hv
