// What every rank of a node keeps at the start of its shared memory. Written by its owner alone,
// but for the alarm of the first rank and the counts of loans. Pages come into being when they are
// touched, so circles that nobody uses cost address space only.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "sim/shared_counter.h"

namespace hv {

// A rank belongs to at most so many circles: that of the whole node, number 0, and one for each way
// in which groups join ranks.
inline constexpr size_t kMostCircles = 8;

// A rank's part in one circle (circle.h). Of two rounds in turn, since a peer may be one behind.
struct CircleHeader {
  static constexpr size_t kBulletinBytes = size_t{1} << 17;
  static constexpr size_t kPieceBytes = size_t{1} << 15;  // of a text, per round
  static constexpr size_t kStageBytes = size_t{1} << 22;  // for what lies outside of the arena
  static constexpr int kStages = 2;

  struct Said {
    uint64_t signature = 0;
    uint64_t text_bytes = 0;  // of the whole text
  };
  alignas(128) SharedCounter entered;
  Said said[2];
  uint64_t bulletin_bytes[2];  // in the same cache line
  alignas(128) SharedCounter stages[kStages];
  alignas(128) std::byte bulletin[2][kBulletinBytes];
  alignas(128) uint64_t late_bytes;
  std::byte late[kBulletinBytes];
  std::byte piece[2][kPieceBytes];
  alignas(4096) std::byte stage[2][kStageBytes];
};

struct RankHeader {
  static constexpr size_t kWorkBytes = 120;
  static constexpr size_t kMostLoans = 64;

  alignas(128) std::atomic<uint64_t> resting;  // 0: moves; else where it waits (NodeRanks::Rest)
  std::atomic<int64_t> awaits;                 // whom (NodeRanks::Wait)
  alignas(128) std::atomic<uint64_t> alarm;    // of the first rank (NodeRanks::RaiseAlarm)
  alignas(128) std::atomic<uint32_t> works;    // odd while `work` changes
  char work[kWorkBytes];                       // what it computes, in words
  alignas(128) std::atomic<uint32_t> loans[kMostLoans];  // who has yet to give each back (loans.h)
  CircleHeader circles[kMostCircles];          // where memory is scarce, the first ones only
};

}  // namespace hv
