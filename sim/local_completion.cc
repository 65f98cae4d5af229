#include "sim/local_completion.h"

#include <algorithm>
#include <utility>

#include "base/parallel.h"
#include "eval/move.h"
#include "eval/stream_copy.h"
#include "eval/stream_fold.h"
#include "sim/hash.h"
#include "sim/leaves.h"
#include "sim/recipe.h"
#include "sim/reduction.h"

namespace hv {
namespace {

// Runs of a box from which folding it where it lies beats folding everything and cutting it out.
constexpr int64_t kFoldedRunBytes = 256;

class LocalCompletion {
 public:
  LocalCompletion(RunContext* context, const Fetcher& fetcher, const Meeting& meeting)
      : context_(*context), meeting_(meeting), collective_(*meeting.collective) {
    for (const Meeting::Member& member : meeting.members) {
      members_.push_back(&fetcher.LocalDevice(member.device));
      devices_.push_back(member.device);
      posts_.push_back(&members_.back()->post({meeting.key, member.role}));
    }
    reduced_.resize(collective_.operands.size());
  }

  // Results first, then completion: completing a post drops the operands others still read.
  Status Finish() {
    const MeetingPlan& plan =
        context_.meeting_plans().Of(collective_, meeting_.key.group, devices_);
    if (Reduces(collective_)) HV_RETURN_IF_ERROR(ChooseFold());
    std::vector<Value> results;
    for (const std::vector<LeafPlan>& leaves : plan.members) {
      if (leaves.empty()) {
        results.emplace_back();  // the sender of a message
        continue;
      }
      HV_ASSIGN(Value result, Make(leaves));
      results.push_back(std::move(result));
    }
    reduced_.clear();
    RunCopies();
    results.resize(members_.size(), results[0]);  // where all receive the same
    for (size_t k = 0; k < members_.size(); ++k) {
      Value result = std::move(results[k]);
      if (context_.options().private_results && !result.empty()) {
        result = PrivateCopy(std::move(result));
      }
      members_[k]->Complete({meeting_.key, meeting_.members[k].role}, std::move(result));
    }
    return {};
  }

 private:
  const Value& Operand(LeafPlan::Source source) const {
    return posts_[source.member]->operands[source.operand];
  }

  Result<Value> Make(const std::vector<LeafPlan>& leaves) {
    std::vector<Value> made;
    for (const LeafPlan& leaf : leaves) {
      HV_ASSIGN(Value value, leaf.fold ? Fold(leaf) : Move(leaf));
      made.push_back(std::move(value));
    }
    return Assemble(collective_.result, std::move(made));
  }

  Result<Value> Move(const LeafPlan& leaf) {
    if (leaf.pieces.empty()) return WithShape(Operand(leaf.sources[0]), leaf.shape);
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
  void Run(const Copy& copy) const {
    const Piece& piece = *copy.piece;
    const bool is_run = piece.digits.size() == 1 && piece.digits[0].in_stride == 1 &&
                        piece.digits[0].out_stride == 1;
    if (!is_run || copied_bytes_ < kBeyondCaches) {
      return CopyPiece(piece, copy.from, copy.to, copy.width);
    }
    StreamCopy(copy.from + piece.in_base * copy.width, copy.to + piece.out_base * copy.width,
               static_cast<size_t>(piece.digits[0].extent * copy.width));
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
    if (fold_ && (is_run || run * HostBytes(leaf.shape->type) >= kFoldedRunBytes)) {
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
    for (const Posted* post : posts_) streams.push_back(post->operands[o].bytes().data());
    return streams;
  }

  // Into the first operand's storage if nobody else needs it.
  Result<Value> FoldWhole(size_t o) {
    if (posts_.size() == 1) return posts_[0]->operands[o];
    if (fold_) {
      const std::vector<const std::byte*> streams = StreamsOf(o);
      Value& first = posts_[0]->operands[o];
      Value result = first.IsUnique() ? std::move(first) : Value::NewNative(first.shape());
      fold_->Run(streams, result.MutableBytes().data(),
                 static_cast<size_t>(result.element_count()));
      return result;
    }
    std::vector<Value> values;
    for (const Posted* post : posts_) values.push_back(post->operands[o]);
    context_.domain().EnterCollective(*collective_.instruction, devices_);
    const CollectiveKey& key = meeting_.key;
    const uint64_t salt =
        Mix(Mix(key.site, static_cast<uint64_t>(key.execution)), static_cast<uint64_t>(key.group));
    return FoldMembers(context_.module(), ReducerOf(), std::move(values), context_.options(), salt);
  }

  // Run by run: `run` elements lie side by side in the operands and in the result.
  Value FoldBox(const Shape* shape, const Piece& box, int64_t run, size_t o) {
    Value result = Value::NewNative(shape);
    const int64_t width = result.element_bytes();
    std::byte* const out = result.MutableBytes().data();
    const std::vector<const std::byte*> streams = StreamsOf(o);
    ParallelFor(shape->element_count / run, std::max<int64_t>(1, kGrainBytes / (run * width)),
                [&](int64_t begin, int64_t end) {
                  std::vector<const std::byte*> at(streams.size());
                  for (int64_t r = begin; r < end; ++r) {
                    int64_t from = box.in_base;
                    for (int64_t rest = r, d = std::ssize(box.digits) - 2; d >= 0; --d) {
                      const Digit& digit = box.digits[static_cast<size_t>(d)];
                      from += rest % digit.extent * digit.in_stride;
                      rest /= digit.extent;
                    }
                    for (size_t k = 0; k < at.size(); ++k) at[k] = streams[k] + from * width;
                    fold_->Run(at, out + r * run * width, static_cast<size_t>(run));
                  }
                });
    return result;
  }

  Result<Value> WithShape(Value value, const Shape* shape) {
    if (value.shape() == shape) return value;
    if (value.IsDense()) return std::move(value).WithShape(shape);
    Piece all;
    if (shape->element_count > 1) all.digits.push_back({shape->element_count, 1, 1});
    return context_.domain().Move(shape, {all}, {std::move(value)});
  }

  static constexpr int64_t kBeyondCaches = int64_t{1} << 25;
  static constexpr int64_t kGrainBytes = int64_t{1} << 16;  // of a result: work for one thread


  RunContext& context_;
  const Meeting& meeting_;
  const Collective& collective_;
  std::vector<Device*> members_;
  std::vector<DeviceId> devices_;
  std::vector<Posted*> posts_;
  std::optional<StreamFold> fold_;
  std::vector<Copy> copies_;
  int64_t copied_bytes_ = 0;
  std::vector<Value> reduced_;  // operands that were folded as a whole to be cut up
};

}  // namespace

bool CompletesLocally(const RunContext& context, const Fetcher& fetcher, const Meeting& meeting) {
  const Collective& collective = *meeting.collective;
  if (FirstControl(collective) != collective.operands.size()) return false;
  if (Reduces(collective) && context.options().order == ReductionOrder::kRing) return false;
  return std::all_of(meeting.members.begin(), meeting.members.end(), [&](const auto& member) {
    return fetcher.IsLocal(member.device) &&
           fetcher.LocalDevice(member.device).post({meeting.key, member.role}).selectors.empty();
  });
}

void CompleteLocally(RunContext* context, const Fetcher& fetcher, const Meeting& meeting) {
  const Status made = LocalCompletion(context, fetcher, meeting).Finish();
  if (made) return;
  for (const Meeting::Member& member : meeting.members) {
    fetcher.LocalDevice(member.device)
        .Fail(PlacedAt(made.error(), context->module(), *meeting.collective->instruction));
  }
}

}  // namespace hv
