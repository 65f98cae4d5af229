#include "sim/reduction.h"

#include <utility>

#include "base/philox.h"
#include "hlo/view.h"

namespace hv {
namespace {

class Folder {
 public:
  Folder(const Module& module, ComputationIndex reducer, const RunOptions& options)
      : module_(module), reducer_(reducer), options_(options) {}

  Result<Value> InOrder(std::vector<Value> values) {
    return options_.domain->Fold(module_, reducer_, std::move(values), options_.accumulate_wide);
  }

  // Neighbours first: a balanced binary tree over the members.
  Result<Value> Tree(std::vector<Value> values) {
    while (values.size() > 1) {
      std::vector<Value> level;
      for (size_t i = 0; i + 1 < values.size(); i += 2) {
        HV_ASSIGN(Value pair, InOrder({std::move(values[i]), std::move(values[i + 1])}));
        level.push_back(std::move(pair));
      }
      if (values.size() % 2 != 0) level.push_back(std::move(values.back()));
      values = std::move(level);
    }
    return std::move(values[0]);
  }

  // As a ring does it: chunk c starts at the member after c and ends at member c.
  Result<Value> Ring(std::vector<Value> values) {
    const Shape* shape = values[0].shape();
    const int64_t members = static_cast<int64_t>(values.size());
    std::vector<Value> chunks;
    Pieces pieces;
    for (int64_t c = 0; c < members; ++c) {
      const int64_t begin = shape->element_count * c / members;
      const int64_t count = shape->element_count * (c + 1) / members - begin;
      if (count == 0) continue;
      HV_ASSIGN(Value chunk, RingChunk(values, c, begin, count));
      pieces.push_back(Run(static_cast<int>(chunks.size()), 0, begin, count));
      chunks.push_back(std::move(chunk));
    }
    return options_.domain->Move(shape, pieces, std::move(chunks));
  }

 private:
  static Piece Run(int operand, int64_t in_base, int64_t out_base, int64_t count) {
    Piece piece;
    piece.operand = operand;
    piece.in_base = in_base;
    piece.out_base = out_base;
    if (count > 1) piece.digits.push_back({count, 1, 1});
    return piece;
  }

  Result<Value> RingChunk(const std::vector<Value>& values, int64_t chunk, int64_t begin,
                          int64_t count) {
    const Shape* shape =
        module_.context->shapes.Array(values[0].shape()->type, {count});
    std::vector<Value> parts;
    for (size_t i = 1; i <= values.size(); ++i) {
      const size_t member = (static_cast<size_t>(chunk) + i) % values.size();
      HV_ASSIGN(Value part,
                options_.domain->Move(shape, {Run(0, begin, 0, count)}, {values[member]}));
      parts.push_back(std::move(part));
    }
    return InOrder(std::move(parts));
  }

  const Module& module_;
  ComputationIndex reducer_;
  const RunOptions& options_;
};

// Fisher-Yates from the counter-based generator.
void Shuffle(std::vector<Value>* values, uint64_t seed, uint64_t salt) {
  const CounterRng rng(seed, salt);
  for (size_t i = values->size(); i > 1; --i) {
    std::swap((*values)[i - 1], (*values)[rng.Word(i) % i]);
  }
}

}  // namespace

Result<Value> FoldMembers(const Module& module, ComputationIndex reducer,
                          std::vector<Value> values, const RunOptions& options, uint64_t salt) {
  if (values.size() == 1) return std::move(values[0]);
  Folder folder(module, reducer, options);
  switch (options.order) {
    case ReductionOrder::kTree: return folder.Tree(std::move(values));
    case ReductionOrder::kRing: return folder.Ring(std::move(values));
    case ReductionOrder::kRandom:
      Shuffle(&values, options.order_seed, salt);
      return folder.InOrder(std::move(values));
    case ReductionOrder::kMpi:  // where the library has no such reduction: group order
    case ReductionOrder::kGroup: return folder.InOrder(std::move(values));
  }
  return std::move(values[0]);
}

}  // namespace hv
