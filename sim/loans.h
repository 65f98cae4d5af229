// Values of one rank that other ranks of its node read where they lie, for as long as they like: what
// an all-reduce yields, one array for all. The lender keeps the value, so nobody writes to it; a count
// in its memory says how many ranks have not yet given it back. A rank gives it back with its last
// handle, without a word.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <vector>

#include "eval/borrowing.h"
#include "eval/value.h"
#include "sim/node_header.h"

namespace hv {

class Loans : public BorrowWatch {
 public:
  explicit Loans(RankHeader* own) : own_(*own), lent_(RankHeader::kMostLoans) {}

  // Keeps `value` until so many ranks have given it back. The number of the loan; -1: too many.
  int32_t Lend(Value value, uint32_t borrowers);
  // Of a loan that nobody has taken and nobody will.
  void Cancel(int32_t loan);
  // Drops what all have given back.
  void Collect();

  // What another rank has lent: dense bytes that nobody writes to any more.
  Value Take(RankHeader* lender, int32_t loan, const Shape* shape,
             std::span<const std::byte> bytes);

  void Began(const std::byte* data) override;
  void Ended(const std::byte* data) override;

 private:
  struct Taken {
    std::atomic<uint32_t>* count;  // the lender's
    int64_t storages = 0;          // that borrow it: a value of it, and views of that
  };

  RankHeader& own_;
  std::vector<Value> lent_;  // by number; empty: free
  std::map<const std::byte*, Taken> taken_;
};

}  // namespace hv
