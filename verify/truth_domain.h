// Codes in which truth values are concrete: every predicate of data that nothing is known about is
// an unknown truth value, known by its code, and has the value that the assignment at hand gives
// it. What is computed from truth values alone is then native, and exact.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>

#include "eval/code_domain.h"

namespace hv {

// The unknown truth values met so far, numbered; the value of number i is bit i of the assignment.
class TruthTable {
 public:
  static constexpr size_t kMost = 12;

  using Code = std::array<uint64_t, 2>;
  void Assign(uint64_t assignment) { assignment_ = assignment; }
  size_t size() const { return numbers_.size(); }
  // Nothing if that would be one more than kMost. A code and its negation (1 - code) are one.
  std::optional<bool> ValueOf(const Code& code);
  // Bits of an input that is enumerated: always the code's own.
  std::optional<bool> BitOf(const Code& code);

 private:
  uint64_t assignment_ = 0;
  std::map<Code, size_t> numbers_;
};

// Both must outlive it.
std::unique_ptr<Domain> MakeTruthDomain(CodeDomain* codes, TruthTable* truths);

}  // namespace hv
