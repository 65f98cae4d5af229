// A tensor as terms: disjoint regions that cover its elements, each with a term over the region's
// digits. Piece counts follow shards and pads, never elements.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "eval/value.h"
#include "hlo/view.h"
#include "verify/symbolic_algebra.h"

namespace hv {

struct SymbolicPiece {
  Region region;
  Term term;
  friend bool operator==(const SymbolicPiece&, const SymbolicPiece&) = default;
};

class SymbolicTensor : public ExtendedValue {
 public:
  // Sorts by base.
  explicit SymbolicTensor(std::vector<SymbolicPiece> pieces);
  const std::vector<SymbolicPiece>& pieces() const { return pieces_; }
  uint64_t Hash() const;  // of the pieces
  // Pieces that may hold offsets in [lowest, highest].
  std::span<const SymbolicPiece> Around(int64_t lowest, int64_t highest) const;

 private:
  std::vector<SymbolicPiece> pieces_;
  std::vector<int64_t> reach_;  // highest offset of this and all earlier pieces
};

// What an access reads: parts of its domain with the terms found there.
struct ReadPart {
  DigitMap access;
  Term term;
};

// Where two tensors differ: a region and the terms over it.
struct TensorDifference {
  Region region;
  Term before, after;
};

// One cell of the common refinement of several tensors.
struct ZippedCell {
  Region region;
  std::vector<Term> terms;
};

// Operations give nothing when more than `limit` pieces would come about.
class TensorMaker {
 public:
  TensorMaker(Algebra* algebra, size_t limit) : algebra_(algebra), limit_(limit) {}
  Algebra& algebra() { return *algebra_; }
  size_t limit() const { return limit_; }

  // All elements of source `source`, in order.
  SymbolicTensor Source(int64_t source, const Shape& shape);
  SymbolicTensor Uniform(const Term& constant, int64_t count);
  // iota along `dimension`.
  SymbolicTensor Iota(const Shape& shape, int64_t dimension);
  // A native value; an array of pred is cut into its runs if there are few.
  SymbolicTensor FromNative(const Value& value);

  bool Read(const SymbolicTensor& tensor, const Region& access, std::vector<ReadPart>* parts);
  // The tensors in a common refinement of their pieces.
  std::optional<std::vector<ZippedCell>> Zip(std::span<const SymbolicTensor* const> tensors);
  std::optional<SymbolicTensor> Move(const Pieces& pieces,
                                     std::span<const SymbolicTensor* const> operands,
                                     ElementType type, int64_t count);
  // Fuses digits and joins neighbouring pieces that continue one another.
  SymbolicTensor Simplified(std::vector<SymbolicPiece> pieces);

  // The first difference, or nothing if the tensors are equal as far as the normal forms see.
  // Pieces beyond the limit count as a difference. At most `budget` nodes are rebuilt on the way
  // (Algebra::Equal).
  static constexpr int64_t kThorough = 100000;
  std::optional<TensorDifference> Compare(const SymbolicTensor& before, const SymbolicTensor& after,
                                          int64_t budget = kThorough);

 private:
  SymbolicTensor FromRuns(const Value& value);
  bool Subtract(std::vector<SymbolicPiece>* pieces, const Region& region, int64_t count);

  Algebra* algebra_;
  size_t limit_;
};

// The region of all offsets below `count`.
Region WholeRegion(int64_t count);
Region AccessOf(const Piece& piece);  // operand offsets, by the digits of the piece
Region TargetOf(const Piece& piece);  // result offsets

}  // namespace hv
