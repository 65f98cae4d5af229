#include "sim/direct_completion.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/integers.h"
#include "base/parallel.h"
#include "eval/move.h"
#include "eval/stream_copy.h"
#include "eval/stream_fold.h"
#include "sim/hash.h"
#include "sim/leaves.h"
#include "sim/library_reduction.h"
#include "sim/meeting_plan.h"
#include "sim/recipe.h"
#include "sim/reduction.h"

namespace hv {
namespace {

// Runs of a box from which folding it where it lies beats folding everything and cutting it out. If it
// is one run and few of the members are here, that is always so.
constexpr int64_t kFoldedRunBytes = 256;
constexpr int64_t kFewMembersHere = 4;  // less than one in so many

// Elements of a slice but the last come in so many: whole cache lines, whatever the type.
constexpr int64_t kSliceGrain = 64;

}  // namespace

class DirectCompletion::Work {
 public:
  Work(RunContext* context, Fetcher* fetcher, const Meeting& meeting)
      : context_(*context),
        fetcher_(*fetcher),
        meeting_(meeting),
        collective_(*meeting.collective) {
    devices_.reserve(meeting.members.size());
    members_.reserve(meeting.members.size());
    posts_.reserve(meeting.members.size());
    for (const Meeting::Member& member : meeting.members) {
      devices_.push_back(member.device);
      const bool is_local = fetcher->IsLocal(member.device);
      members_here_ += is_local ? 1 : 0;
      members_.push_back(is_local ? &fetcher->LocalDevice(member.device) : nullptr);
      posts_.push_back(is_local ? &members_.back()->post({meeting.key, member.role}) : nullptr);
      const Rank rank = fetcher->RankOf(member.device);
      const bool is_known = std::find(ranks_.rbegin(), ranks_.rend(), rank) != ranks_.rend();
      if (!is_known) ranks_.push_back(rank);
    }
    reduced_.resize(collective_.operands.size());
  }

  Status Reduce() {
    if (!Reduces(collective_)) return {};
    HV_RETURN_IF_ERROR(ChooseFold());
    for (size_t o = 0; IsSplit() && o < reduced_.size(); ++o) ReduceSlice(o);
    return {};
  }

  void Fail(const Error& error) {
    for (Device* member : members_) {
      if (member == nullptr) continue;
      member->Fail(PlacedAt(error, context_.module(), *collective_.instruction));
    }
  }

  // Results first, then completion: completing a post drops the operands others still read.
  Status Finish() {
    const MeetingPlan& plan =
        context_.meeting_plans().Of(collective_, meeting_.key.group, devices_);
    for (size_t o = 0; IsSplit() && o < reduced_.size(); ++o) GatherSlices(o);
    std::vector<Value> results(plan.members.size());
    if (IsExchange(plan)) {
      for (size_t k = 0; k < results.size(); ++k) {
        results[k] = std::move(posts_[k]->operands[0]).WithShape(plan.members[k][0].shape);
      }
      Exchange(plan, &results);
    } else {
      for (size_t k = 0; k < results.size(); ++k) {
        const bool is_wanted = results.size() == 1 || members_[k] != nullptr;
        if (!is_wanted || plan.members[k].empty()) continue;  // not here; the sender of a message
        HV_ASSIGN(results[k], Make(plan.members[k]));
      }
    }
    reduced_.clear();
    RunCopies();
    RunFolds();
    results.resize(members_.size(), results[0]);  // where all receive the same
    for (size_t k = 0; k < members_.size(); ++k) {
      if (members_[k] == nullptr) continue;
      Value result = std::move(results[k]);
      if (context_.options().private_results && !result.empty()) {
        result = PrivateCopy(std::move(result));
      }
      members_[k]->Complete({meeting_.key, meeting_.members[k].role}, std::move(result));
    }
    return {};
  }

 private:
  Value Operand(LeafPlan::Source source) const {
    const Posted* post = posts_[source.member];
    return post != nullptr ? post->operands[source.operand]
                           : fetcher_.Peek(meeting_, source.member, source.operand);
  }

  Result<Value> Make(const std::vector<LeafPlan>& leaves) {
    std::vector<Value> made;
    for (const LeafPlan& leaf : leaves) {
      HV_ASSIGN(Value value, leaf.fold ? Fold(leaf) : Move(leaf));
      const bool is_lent = value.IsBorrowed() && !leaf.fold;  // for this superstep only
      made.push_back(is_lent ? PrivateCopy(std::move(value)) : std::move(value));
    }
    return Assemble(collective_.result, std::move(made));
  }

  Result<Value> Move(const LeafPlan& leaf) {
    if (leaf.pieces.empty() && !leaf.sources.empty()) {
      return WithShape(Operand(leaf.sources[0]), leaf.shape);
    }
    if (context_.domain().IsNative() && !leaf.sources.empty()) return Copied(leaf);
    std::vector<Value> operands;
    operands.reserve(leaf.sources.size());
    for (const LeafPlan::Source& source : leaf.sources) operands.push_back(Operand(source));
    return context_.domain().Move(leaf.shape, leaf.pieces, std::move(operands));
  }

  struct Copy {
    const Piece* piece;
    const std::byte* from;
    std::byte* to;
    int width;
  };

  // Past the caches if they hold less than all results.
  static void CopyRun(const std::byte* from, std::byte* to, int64_t bytes, int64_t bytes_of_all) {
    if (bytes_of_all < kBeyondCaches) {
      std::memcpy(to, from, static_cast<size_t>(bytes));
    } else {
      StreamCopy(from, to, static_cast<size_t>(bytes));
    }
  }
  void Run(const Copy& copy) const {
    const Piece& piece = *copy.piece;
    if (!IsRun(piece)) return CopyPiece(piece, copy.from, copy.to, copy.width);
    CopyRun(copy.from + piece.in_base * copy.width, copy.to + piece.out_base * copy.width,
            piece.digits[0].extent * copy.width, bytes_of_all_);
  }

  // What RunCopies will fill, for all members at once.
  Value Copied(const LeafPlan& leaf) {
    Value result = Value::NewNative(leaf.shape);
    for (const Piece& piece : leaf.pieces) {
      copies_.push_back({&piece, Operand(leaf.sources[static_cast<size_t>(piece.operand)]).bytes().data(),
                         result.MutableBytes().data(), result.element_bytes()});
      copied_bytes_ += static_cast<int64_t>(result.bytes().size() / leaf.pieces.size());
    }
    return result;
  }

  void RunCopies() {
    if (copies_.empty()) return;
    bytes_of_all_ = copied_bytes_ * std::ssize(ranks_);  // other ranks copy as much
    const int64_t count = std::ssize(copies_);
    ParallelFor(count, std::max<int64_t>(1, kGrainBytes * count / std::max<int64_t>(copied_bytes_, 1)),
                [this](int64_t begin, int64_t end) {
                  for (int64_t c = begin; c < end; ++c) {
                    Run(copies_[static_cast<size_t>(c)]);
                  }
                });
  }

  // In group order and on native values streams are folded; the bits are Domain::Fold's.
  Status ChooseFold() {
    const ComputationIndex reducer = ReducerOf();
    const ReductionOrder order = context_.options().order;
    const Computation& body = context_.module().At(reducer);
    const ElementType type = body.At(body.parameters[0]).shape->type;
    const bool one_type = std::all_of(collective_.operands.begin(), collective_.operands.end(),
                                      [type](const Shape* s) { return s->type == type; });
    if (!one_type || !context_.domain().IsNative() ||
        (order != ReductionOrder::kGroup && order != ReductionOrder::kMpi)) {
      return {};
    }
    HV_ASSIGN(fold_, StreamFold::Make(context_.module(), reducer, type,
                                      context_.options().accumulate_wide));
    return {};
  }

  ComputationIndex ReducerOf() const {
    return collective_.instruction->Computation(Attr::kToApply);
  }

  Result<Value> Fold(const LeafPlan& leaf) {
    const size_t o = leaf.sources[0].operand;
    if (leaf.pieces.empty()) {
      HV_ASSIGN(Value whole, FoldWhole(o));
      return WithShape(std::move(whole), leaf.shape);
    }
    const Piece& box = leaf.pieces[0];
    const bool runs = !box.digits.empty() && box.digits.back().in_stride == 1;
    const int64_t run = runs ? box.digits.back().extent : 1;
    const bool is_run = box.digits.size() <= (runs ? 1 : 0);
    const bool few_here = kFewMembersHere * members_here_ < std::ssize(members_);
    const bool is_long = run * HostBytes(leaf.shape->type) >= kFoldedRunBytes;
    if (fold_ && (is_long || (is_run && few_here))) {
      return FoldBox(leaf.shape, box, run, o);
    }
    if (reduced_[o].empty()) {
      HV_ASSIGN(reduced_[o], FoldWhole(o));
    }
    return context_.domain().Move(leaf.shape, leaf.pieces, {reduced_[o]});
  }

  std::vector<const std::byte*> StreamsOf(size_t o) const {
    std::vector<const std::byte*> streams;
    streams.reserve(posts_.size());
    for (size_t k = 0; k < posts_.size(); ++k) streams.push_back(Operand({k, o}).bytes().data());
    return streams;
  }

  // All ranks see the same.
  bool IsSplit() const {
    if (!fold_ || ranks_.size() < 2 || collective_.opcode != Opcode::kAllReduce) return false;
    int64_t bytes = 0;
    for (const Shape* operand : collective_.operands) {
      bytes += operand->element_count * HostBytes(operand->type);
    }
    return bytes >= kSplitBytes;
  }
  // The elements that the rank with number `n` among those of the members reduces.
  std::pair<int64_t, int64_t> SliceOf(size_t n, size_t o) const {
    const int64_t count = collective_.operands[o]->element_count;
    const auto ranks = static_cast<int64_t>(ranks_.size());
    const int64_t grains = CeilDiv(count, kSliceGrain);
    const auto edge = [&](int64_t i) { return std::min(count, grains * i / ranks * kSliceGrain); };
    return {edge(static_cast<int64_t>(n)), edge(static_cast<int64_t>(n) + 1)};
  }
  void FoldSlice(size_t n, size_t o) {
    const auto [begin, end] = SliceOf(n, o);
    std::vector<const std::byte*> streams = StreamsOf(o);
    const int64_t at = begin * HostBytes(collective_.operands[o]->type);
    for (const std::byte*& stream : streams) stream += at;
    fold_->Run(streams, places_[o] + at, static_cast<size_t>(end - begin));
  }
  size_t OwnNumber() const {
    return static_cast<size_t>(std::find(ranks_.begin(), ranks_.end(), fetcher_.rank()) -
                               ranks_.begin());
  }
  // Into the one array that all ranks will share, or into one of this rank.
  void ReduceSlice(size_t o) {
    const Shape* shape = collective_.operands[o];
    const auto bytes = static_cast<size_t>(shape->element_count * HostBytes(shape->type));
    places_.push_back(fetcher_.FindRoom(ranks_.front(), meeting_.key, o, bytes));
    if (places_[o] == nullptr) {
      reduced_[o] = Value::NewNative(shape);
      places_[o] = reduced_[o].MutableBytes().data();
      fetcher_.PublishReduced(meeting_.key, o, reduced_[o]);
    }
    FoldSlice(OwnNumber(), o);
  }
  void GatherSlices(size_t o) {
    if (!reduced_[o].empty()) return CopySlices(o);
    for (const Rank rank : ranks_) fetcher_.AwaitReduced(rank);
    reduced_[o] = fetcher_.TakeRoom(ranks_.front(), meeting_.key, o, collective_.operands[o]);
  }
  // Starting behind the own slice, so that the ranks do not all read the same one.
  void CopySlices(size_t o) {
    const size_t first = OwnNumber();
    const int64_t width = reduced_[o].element_bytes();
    const auto bytes_of_all = static_cast<int64_t>(reduced_[o].bytes().size() * ranks_.size());
    for (size_t k = 1; k < ranks_.size(); ++k) {
      const size_t n = (first + k) % ranks_.size();
      const auto [begin, end] = SliceOf(n, o);
      const std::byte* whole =
          fetcher_.FindReduced(ranks_[n], meeting_.key, o, reduced_[o].bytes().size());
      if (whole == nullptr) {  // it had no room that others can read
        FoldSlice(n, o);
        continue;
      }
      CopyRun(whole + begin * width, places_[o] + begin * width, (end - begin) * width,
              bytes_of_all);
    }
  }

  // Into the first operand's storage if nobody else needs it.
  Result<Value> FoldWhole(size_t o) {
    if (!reduced_[o].empty()) return std::move(reduced_[o]);  // split
    if (posts_.size() == 1) return posts_[0]->operands[o];
    if (fold_) {
      const std::vector<const std::byte*> streams = StreamsOf(o);
      const bool is_free = posts_[0] != nullptr && posts_[0]->operands[o].IsUnique();
      Value result =
          is_free ? std::move(posts_[0]->operands[o]) : Value::NewNative(collective_.operands[o]);
      fold_->Run(streams, result.MutableBytes().data(),
                 static_cast<size_t>(result.element_count()));
      return result;
    }
    std::vector<Value> values;
    for (size_t k = 0; k < posts_.size(); ++k) values.push_back(Operand({k, o}));
    context_.domain().EnterCollective(*collective_.instruction, devices_);
    const CollectiveKey& key = meeting_.key;
    const uint64_t salt =
        Mix(Mix(key.site, static_cast<uint64_t>(key.execution)), static_cast<uint64_t>(key.group));
    return FoldMembers(context_.module(), ReducerOf(), std::move(values), context_.options(), salt);
  }

  // What RunFolds will fill, for all members at once: rows of `run` elements that lie side by side in
  // the operands and in the result.
  Value FoldBox(const Shape* shape, const Piece& box, int64_t run, size_t o) {
    Value result = Value::NewNative(shape);
    const int64_t width = result.element_bytes();
    const auto number = folds_.size();
    folds_.push_back({&box, StreamsOf(o), result.MutableBytes().data(), run, width});
    const int64_t columns = std::min(run, std::max<int64_t>(1, kFoldBytes / width));
    const int64_t rows = std::max<int64_t>(1, kFoldBytes / (run * width));
    for (int64_t r = 0; r < shape->element_count / run; r += rows) {
      for (int64_t c = 0; c < run; c += columns) {
        fold_parts_.push_back({number, r, std::min(rows, shape->element_count / run - r), c,
                               std::min(columns, run - c)});
      }
    }
    return result;
  }

  struct BoxFold {
    const Piece* box;
    std::vector<const std::byte*> streams;
    std::byte* out;
    int64_t run, width;

    // The first element of a row in the operands.
    int64_t At(int64_t row) const {
      int64_t from = box->in_base;
      for (int64_t d = std::ssize(box->digits) - 2; d >= 0; --d) {
        const Digit& digit = box->digits[static_cast<size_t>(d)];
        from += row % digit.extent * digit.in_stride;
        row /= digit.extent;
      }
      return from;
    }
  };
  struct FoldPart {
    size_t fold;
    int64_t row, rows, column, columns;
  };

  void RunFolds() {
    const int64_t count = std::ssize(fold_parts_);
    ParallelFor(count, 1, [this](int64_t begin, int64_t end) {
      std::vector<const std::byte*> at;
      for (int64_t k = begin; k < end; ++k) {
        const FoldPart& part = fold_parts_[static_cast<size_t>(k)];
        const BoxFold& fold = folds_[part.fold];
        for (int64_t r = part.row; r < part.row + part.rows; ++r) {
          const int64_t from = (fold.At(r) + part.column) * fold.width;
          at = fold.streams;
          for (const std::byte*& stream : at) stream += from;
          fold_->Run(at, fold.out + (r * fold.run + part.column) * fold.width,
                     static_cast<size_t>(part.columns));
        }
      }
    });
  }

  // Do members only exchange blocks that lie in both at each other's places, in operands that nobody
  // else holds? Then they do so where the blocks lie.
  bool IsExchange(const MeetingPlan& plan) const {
    const size_t n = plan.members.size();
    if (collective_.opcode != Opcode::kAllToAll || n != members_.size() ||
        members_here_ != std::ssize(members_) || !context_.domain().IsNative()) {
      return false;
    }
    for (size_t k = 0; k < n; ++k) {
      const std::vector<LeafPlan>& leaves = plan.members[k];
      if (leaves.size() != 1 || leaves[0].pieces.size() != n || leaves[0].fold ||
          !posts_[k]->operands[0].IsUnique() ||
          leaves[0].shape->element_count != posts_[k]->operands[0].element_count()) {
        return false;
      }
    }
    for (size_t k = 0; k < n; ++k) {
      for (size_t j = 0; j < n; ++j) {
        if (!AreMirrored(plan.members[k][0], k, plan.members[j][0], j)) return false;
      }
    }
    return true;
  }

  // Is piece j of member k a run from member j, and piece k of member j the way back?
  static bool AreMirrored(const LeafPlan& a, size_t k, const LeafPlan& b, size_t j) {
    const Piece &there = a.pieces[j], &back = b.pieces[k];
    return a.sources[static_cast<size_t>(there.operand)].member == j &&
           b.sources[static_cast<size_t>(back.operand)].member == k && IsRun(there) &&
           IsRun(back) && there.in_base == back.out_base && there.out_base == back.in_base &&
           there.digits[0].extent == back.digits[0].extent;
  }
  static bool IsRun(const Piece& piece) {
    return piece.digits.size() == 1 && piece.digits[0].in_stride == 1 &&
           piece.digits[0].out_stride == 1;
  }

  static void Exchange(const MeetingPlan& plan, std::vector<Value>* values) {
    struct Pair {
      std::byte *a, *b;
      int64_t bytes;
    };
    std::vector<Pair> pairs;
    for (size_t k = 0; k < values->size(); ++k) {
      for (size_t j = 0; j < k; ++j) {
        const Piece& piece = plan.members[k][0].pieces[j];
        const int64_t width = (*values)[k].element_bytes();
        std::byte* const a = (*values)[k].MutableBytes().data() + piece.out_base * width;
        std::byte* const b = (*values)[j].MutableBytes().data() + piece.in_base * width;
        const int64_t bytes = piece.digits[0].extent * width;
        for (int64_t at = 0; at < bytes; at += kGrainBytes) {
          pairs.push_back({a + at, b + at, std::min(kGrainBytes, bytes - at)});
        }
      }
    }
    const int64_t size = pairs.empty() ? 1 : pairs[0].bytes;
    ParallelFor(std::ssize(pairs), std::max<int64_t>(1, kGrainBytes / size),
                [&](int64_t begin, int64_t end) {
                  for (int64_t p = begin; p < end; ++p) {
                    const Pair& pair = pairs[static_cast<size_t>(p)];
                    SwapBytes(pair.a, pair.b, static_cast<size_t>(pair.bytes));
                  }
                });
  }

  // By way of a block in the first-level cache.
  static void SwapBytes(std::byte* a, std::byte* b, size_t bytes) {
    constexpr size_t kBlock = 4096;
    alignas(64) std::byte block[kBlock];
    for (size_t at = 0; at < bytes; at += kBlock) {
      const size_t now = std::min(kBlock, bytes - at);
      std::memcpy(block, a + at, now);
      std::memcpy(a + at, b + at, now);
      std::memcpy(b + at, block, now);
    }
  }

  Result<Value> WithShape(Value value, const Shape* shape) {
    if (value.shape() == shape) return value;
    if (value.IsDense()) return std::move(value).WithShape(shape);
    Piece all;
    if (shape->element_count > 1) all.digits.push_back({shape->element_count, 1, 1});
    return context_.domain().Move(shape, {all}, {std::move(value)});
  }

  static constexpr int64_t kFoldBytes = int64_t{1} << 15;   // of a result: at least as much
  static constexpr int64_t kGrainBytes = int64_t{1} << 16;  // of a result: work for one thread

  RunContext& context_;
  Fetcher& fetcher_;
  const Meeting& meeting_;
  const Collective& collective_;
  std::vector<Device*> members_;  // null: on another rank
  int64_t members_here_ = 0;
  std::vector<DeviceId> devices_;
  std::vector<Posted*> posts_;
  std::vector<Rank> ranks_;  // that have members
  std::optional<StreamFold> fold_;
  std::vector<Copy> copies_;
  int64_t copied_bytes_ = 0, bytes_of_all_ = 0;
  std::vector<BoxFold> folds_;
  std::vector<FoldPart> fold_parts_;
  std::vector<Value> reduced_;      // operands folded as a whole: to be cut up, or slice by slice
  std::vector<std::byte*> places_;  // of those, while slices are still written
};

bool CompletesDirectly(const RunContext& context, const Placement& placement,
                       const Fetcher& fetcher, const Meeting& meeting) {
  const Collective& collective = *meeting.collective;
  if (FirstControl(collective) != collective.operands.size()) return false;
  if (Reduces(collective) && context.options().order == ReductionOrder::kRing) return false;
  bool is_local = true;
  for (const Meeting::Member& member : meeting.members) {
    if (!fetcher.IsLocal(member.device)) {
      is_local = false;
    } else if (!fetcher.LocalDevice(member.device)
                    .post({meeting.key, member.role})
                    .selectors.empty()) {
      return false;
    }
  }
  if (is_local) return true;
  return !ReducedByLibrary(context, placement, meeting) &&
         std::all_of(meeting.members.begin(), meeting.members.end(),
                     [&](const auto& member) { return fetcher.IsPublished(meeting, member); });
}

DirectCompletion::DirectCompletion(RunContext* context, Fetcher* fetcher, const Meeting& meeting)
    : work_(std::make_unique<Work>(context, fetcher, meeting)) {}

DirectCompletion::DirectCompletion(DirectCompletion&&) noexcept = default;
DirectCompletion::~DirectCompletion() = default;

void DirectCompletion::Reduce() {
  if (const Status reduced = work_->Reduce(); !reduced) {
    work_->Fail(reduced.error());
    work_.reset();
  }
}

void DirectCompletion::Finish() {
  if (work_ == nullptr) return;
  if (const Status made = work_->Finish(); !made) work_->Fail(made.error());
}

}  // namespace hv
