#include "sim/exchange.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "eval/move.h"
#include "hlo/view.h"
#include "sim/arriving_fold.h"
#include "sim/direct_completion.h"
#include "sim/fetch.h"
#include "sim/hash.h"
#include "sim/leaves.h"
#include "sim/library_reduction.h"
#include "sim/operand_board.h"
#include "sim/recipe.h"
#include "sim/reduction.h"
#include "sim/split_reduction.h"

namespace hv {
namespace {

using Recipe = std::vector<LeafRecipe>;

// One complete collective on its way to the results of its local members.
class Completion {
 public:
  Completion(RunContext* context, const Placement& placement, Fetcher* fetcher, size_t number,
             const Meeting& meeting)
      : context_(context),
        placement_(placement),
        fetcher_(*fetcher),
        number_(number),
        meeting_(meeting),
        shared_(ResultIsShared(*meeting.collective)) {
    for (const Meeting::Member& member : meeting.members) devices_.push_back(member.device);
    is_local_ = std::all_of(devices_.begin(), devices_.end(),
                            [this](DeviceId d) { return fetcher_.IsLocal(d); });
    reduces_once_ =
        Reduces(*meeting.collective) && context->options().order != ReductionOrder::kRing;
    by_library_ = ReducedByLibrary(*context, placement, meeting);
    if (reduces_once_) FindPositions();
    if (CanSplit()) split_ = SplitReduction::Of(*meeting.collective, RanksOfMembers());
    if (CanSplit()) {
      arriving_ = ArrivingFold::Of(context, placement, fetcher, number, meeting, SharesByRank());
    }
  }

  // Every rank that has a member learns the control operands of all members.
  void NeedControls() {
    ForEachControl([this](const Part& part) {
      for (DeviceId device : devices_) Check(fetcher_.Need(meeting_, number_, device, part));
    });
  }

  // What local members need of others, and others of local members.
  void NeedData() {
    ready_ = CheckTravel();
    if (ready_) ready_ = CheckSelectors();
    if (ready_) ready_ = ReadControls();
    if (!ready_ || is_local_ || by_library_ || arriving_) return;
    if (split_) return NeedSlices();
    std::optional<Result<Recipe>> recipe;
    for (size_t k = 0; k < devices_.size(); ++k) {
      const std::vector<Part> shares = SharesOf(placement_.RankOf(devices_[k]));
      if (!shares.empty()) {
        if (IsFirstOfItsRank(k)) NeedOfAll(k, shares);
        continue;
      }
      if (!recipe || !shared_) recipe = RecipeOf(k);
      if (!*recipe) continue;
      for (const LeafRecipe& leaf : **recipe) {
        leaf.fold ? NeedOfAll(k, leaf.parts) : NeedOf(k, leaf.parts);
      }
    }
  }

  // Of a reduction as data arrives: this rank's shares.
  void BeginFolding() {
    if (ready_ && arriving_) arriving_->Begin();
  }
  void FinishFolding() {
    if (ready_ && arriving_) folded_ = arriving_->Finish();
  }

  // Of a split reduction: this rank's slices, on their way to the others.
  void ReduceSlices() {
    if (!ready_ || !split_) return;
    const std::vector<Rank>& ranks = split_->ranks();
    slices_.resize(ranks.size());
    for (size_t n = 0; ready_ && n < ranks.size(); ++n) {
      for (size_t o = 0; ready_ && o < meeting_.collective->operands.size(); ++o) {
        ready_ = MakeSlice(n, o);
      }
    }
    if (!ready_) return;  // nobody's domain can fold this
    const Rank own = context_->options().transport->rank();
    for (size_t n = 0; n < ranks.size(); ++n) {
      for (size_t to = 0; ranks[n] == own && to < ranks.size(); ++to) {
        for (size_t o = 0; to != n && o < slices_[n].size(); ++o) {
          fetcher_.PassOn(ranks[to], slices_[n][o]);
        }
      }
      for (size_t o = 0; ranks[n] != own && o < slices_[n].size(); ++o) {
        fetcher_.Expect(ranks[n], &slices_[n][o]);
      }
    }
  }

  // Results first, then completion: completing a post drops the operands others still read.
  void Finish() {
    if (ready_) ready_ = ReduceOnce();
    if (!ready_) return FailAll(ready_.error());
    std::optional<Result<Value>> built;
    std::vector<std::pair<const Meeting::Member*, Value>> results;
    for (size_t k = 0; k < devices_.size(); ++k) {
      if (!fetcher_.IsLocal(devices_[k])) continue;
      if (!built || !shared_) built = Build(k);
      if (*built) {
        results.emplace_back(&meeting_.members[k], **built);
      } else {
        Fail(devices_[k], built->error());
      }
    }
    built.reset();
    reduced_.clear();
    for (auto& [member, value] : results) {
      if (context_->options().private_results && !value.empty())
        value = PrivateCopy(std::move(value));
      fetcher_.LocalDevice(member->device).Complete({meeting_.key, member->role}, std::move(value));
    }
  }

 private:
  void Fail(DeviceId device, const Error& error) {
    fetcher_.LocalDevice(device).Fail(
        PlacedAt(error, context_->module(), *meeting_.collective->instruction));
  }
  void FailAll(const Error& error) {
    for (DeviceId device : devices_) {
      if (fetcher_.IsLocal(device)) Fail(device, error);
    }
  }
  void Check(const Status& status) {
    if (!status) FailAll(status.error());
  }

  template <class Visit>
  void ForEachControl(Visit visit) const {
    const Collective& collective = *meeting_.collective;
    for (size_t k = 0; k < devices_.size(); ++k) {
      for (size_t o = FirstControl(collective); o < collective.operands.size(); ++o) {
        visit(WholeOperand(collective, static_cast<int64_t>(k), static_cast<int64_t>(o)));
      }
    }
  }

  void NeedOf(size_t k, const std::vector<Part>& parts) {
    for (const Part& part : parts) Check(fetcher_.Need(meeting_, number_, devices_[k], part));
  }
  // The same boxes of every member.
  void NeedOfAll(size_t k, std::vector<Part> parts) {
    for (size_t member = 0; member < devices_.size(); ++member) {
      for (Part& part : parts) part.member = static_cast<int64_t>(member);
      NeedOf(k, parts);
    }
  }

  // Between nodes bytes are dear; within one everybody reads what it needs in place.
  bool CanSplit() const {
    if (!reduces_once_ || by_library_ || is_local_) return false;
    bool spans_nodes = false;
    for (const Meeting::Member& member : meeting_.members) {
      if (member.encodings.find_first_not_of(kNativeOperand) != std::string::npos) return false;
      spans_nodes |= !fetcher_.Reaches(placement_.RankOf(member.device));
    }
    return spans_nodes;
  }
  // The boxes that each rank reduces.
  ArrivingFold::Shares SharesByRank() const {
    ArrivingFold::Shares shares;
    for (const Rank rank : RanksOfMembers()) {
      const size_t number = shares.size();
      shares[rank] = split_ ? SlicesOf(number) : SharesOf(rank);
    }
    return shares;
  }
  // Of a split reduction: of the rank with number `n` among its ranks.
  std::vector<Part> SlicesOf(size_t n) const {
    std::vector<Part> slices;
    for (size_t o = 0; o < meeting_.collective->operands.size(); ++o) {
      slices.push_back(split_->SliceOf(n, o));
    }
    return slices;
  }
  std::vector<Rank> RanksOfMembers() const {
    std::vector<Rank> ranks;
    for (const auto& [rank, positions] : positions_) ranks.push_back(rank);
    return ranks;
  }
  void NeedSlices() {
    for (size_t n = 0; n < split_->ranks().size(); ++n) {
      NeedOfAll(static_cast<size_t>(positions_.at(split_->ranks()[n]).front()), SlicesOf(n));
    }
  }
  // Of this rank: reduced; of another: room for it.
  Status MakeSlice(size_t n, size_t o) {
    const Part slice = split_->SliceOf(n, o);
    Value made;
    if (split_->ranks()[n] == context_->options().transport->rank()) {
      HV_ASSIGN(made, FoldLocal(slice));
    } else {
      made = Value::NewNative(context_->module().context->shapes.Array(slice.type, slice.sizes));
    }
    slices_[n].push_back(std::move(made));
    return {};
  }
  Result<Value> JoinSlices(size_t o) {
    const Shape* whole = meeting_.collective->operands[o];
    Pieces pieces;
    std::vector<Value> values;
    for (size_t n = 0; n < slices_.size(); ++n) {
      const Part slice = split_->SliceOf(n, o);
      int64_t base = 0;
      const std::vector<int64_t> strides = RowMajorStrides(whole->dims);
      for (size_t d = 0; d < slice.at.size(); ++d) base += slice.at[d] * strides[d];
      pieces.push_back(BoxPiece(static_cast<int>(n), slice.sizes,
                                std::vector<int64_t>(slice.sizes.size()), slice.sizes, base,
                                strides));
      values.push_back(std::move(slices_[n][o]));
    }
    return context_->domain().Move(whole, pieces, std::move(values));
  }

  void FindPositions() {
    for (size_t k = 0; k < devices_.size(); ++k) {
      positions_[placement_.RankOf(devices_[k])].push_back(static_cast<int64_t>(k));
    }
  }
  bool IsFirstOfItsRank(size_t k) const {
    return positions_.at(placement_.RankOf(devices_[k])).front() == static_cast<int64_t>(k);
  }

  // A rank reduces what its members receive in one go, operand by operand; nothing if that is no
  // box or the order of reduction depends on the position.
  std::vector<Part> SharesOf(Rank rank) const {
    std::vector<Part> shares;
    if (!reduces_once_) return shares;
    const std::vector<int64_t>& positions = positions_.at(rank);
    for (size_t o = 0; o < meeting_.collective->operands.size(); ++o) {
      const std::optional<Part> share = ShareOf(*meeting_.collective, static_cast<int64_t>(o),
                                                positions, static_cast<int64_t>(devices_.size()));
      if (!share) return {};
      shares.push_back(*share);
    }
    return shares;
  }

  Status ReadControls() {
    controls_.resize(devices_.size());
    Status status;
    ForEachControl([&](const Part& part) {
      const size_t member = static_cast<size_t>(part.member);
      if (meeting_.members[member].encodings[static_cast<size_t>(part.operand)] != kNativeOperand) {
        status = Unsupported("control-is-data",
                             std::string(ToString(meeting_.collective->opcode)) +
                                 " whose offsets depend on data: they have no concrete value in "
                                 "the domain " +
                                 std::string(context_->domain().name()));
        return;
      }
      controls_[member].push_back(IntegersOf(fetcher_.Find(meeting_, number_, part)));
    });
    return status;
  }

  // An operand that is no bytes cannot leave its process.
  Status CheckTravel() const {
    const bool extended =
        std::any_of(meeting_.members.begin(), meeting_.members.end(), [](const auto& member) {
          return member.encodings.find(kExtendedOperand) != std::string::npos;
        });
    if (is_local_ || !extended) return {};
    return Unsupported("domain-is-local", "values of the domain " +
                                              std::string(context_->domain().name()) +
                                              " cannot be sent to another rank");
  }

  // Inside a branch that data picks, all members must be there for the same reason.
  Status CheckSelectors() const {
    const std::vector<Value>* first = nullptr;
    for (const Meeting::Member& member : meeting_.members) {
      if (!fetcher_.IsLocal(member.device)) continue;
      const Device& device = fetcher_.LocalDevice(member.device);
      const std::vector<Value>& own = device.posted().at({meeting_.key, member.role}).selectors;
      if (first == nullptr) first = &own;
      const bool same = std::equal(
          first->begin(), first->end(), own.begin(), own.end(),
          [this](const Value& a, const Value& b) { return context_->domain().SameSelector(a, b); });
      if (same && (is_local_ || own.empty())) continue;
      return Unsupported("control-is-data",
                         std::string(ToString(meeting_.collective->opcode)) +
                             " in a branch that data picks, not known to be the same data on all "
                             "devices that take part");
    }
    return {};
  }

  Result<Recipe> RecipeOf(size_t k) const {
    if (meeting_.members[k].role == Role::kSender) return Recipe{};
    return RecipeFor(*meeting_.collective, static_cast<int64_t>(k), devices_, controls_);
  }

  // The same bits as block by block. The MPI library reduces whole operands.
  Status ReduceOnce() {
    if (by_library_ || split_) {
      for (size_t o = 0; o < meeting_.collective->operands.size(); ++o) {
        shares_.push_back(WholeOperand(*meeting_.collective, 0, static_cast<int64_t>(o)));
      }
    } else {
      shares_ = SharesOf(context_->options().transport->rank());
    }
    for (const Part& share : shares_) {
      const size_t o = static_cast<size_t>(share.operand);
      HV_ASSIGN(Value folded, split_ ? JoinSlices(o) : FoldLocal(share));
      if (by_library_) folded = ReduceByLibrary(*context_, placement_, meeting_, folded);
      reduced_.push_back(std::move(folded));
    }
    return {};
  }

  Result<Value> Build(size_t k) {
    HV_ASSIGN(const Recipe recipe, RecipeOf(k));
    if (meeting_.members[k].role == Role::kSender) return Value();
    std::vector<Value> leaves;
    for (const LeafRecipe& leaf : recipe) {
      HV_ASSIGN(Value value, leaf.fold ? Fold(leaf) : Move(leaf));
      leaves.push_back(value.IsBorrowed() ? Owned(std::move(value)) : std::move(value));
    }
    return Assemble(meeting_.collective->result, std::move(leaves));
  }

  Result<Value> Fold(const LeafRecipe& leaf) {
    Part box = leaf.parts[0];
    if (reduced_.empty()) {
      HV_ASSIGN(Value folded, FoldLocal(box));
      return WithShape(std::move(folded), leaf.shape);
    }
    const size_t o = static_cast<size_t>(box.operand);
    for (size_t d = 0; d < box.starts.size(); ++d) box.starts[d] -= shares_[o].starts[d];
    HV_ASSIGN(Value cut, fetcher_.CutBox(reduced_[o], box));
    return WithShape(std::move(cut), leaf.shape);
  }

  // The box of every member whose operand is here, its own or received, reduced.
  Result<Value> FoldLocal(Part part) {
    if (arriving_) return std::move(folded_[static_cast<size_t>(part.operand)]);
    std::vector<Value> values;
    for (size_t k = 0; k < devices_.size(); ++k) {
      part.member = static_cast<int64_t>(k);
      if (by_library_ && !fetcher_.IsLocal(devices_[k])) continue;
      HV_ASSIGN(Value value, fetcher_.View(meeting_, number_, part));
      values.push_back(std::move(value));
    }
    context_->domain().EnterCollective(*meeting_.collective->instruction, devices_);
    const CollectiveKey& key = meeting_.key;
    const uint64_t salt =
        Mix(Mix(key.site, static_cast<uint64_t>(key.execution)), static_cast<uint64_t>(key.group));
    return FoldMembers(context_->module(),
                       meeting_.collective->instruction->Computation(Attr::kToApply),
                       std::move(values), context_->options(), salt);
  }

  Result<Value> Move(const LeafRecipe& leaf) {
    if (leaf.parts.empty()) return Zeros(context_->domain(), leaf.shape);
    const auto dims = leaf.shape->dims;
    if (leaf.parts.size() == 1 && std::equal(leaf.parts[0].sizes.begin(), leaf.parts[0].sizes.end(),
                                             dims.begin(), dims.end())) {
      HV_ASSIGN(Value whole, fetcher_.Cut(meeting_, number_, leaf.parts[0]));
      return WithShape(std::move(whole), leaf.shape);
    }
    Pieces pieces;
    std::vector<Value> operands;
    std::map<const Value*, int> numbers;
    const std::vector<int64_t> out_strides = RowMajorStrides(dims);
    for (const Part& part : leaf.parts) {
      if (CountElements(part.sizes) == 0) continue;
      const Value& operand = fetcher_.Find(meeting_, number_, part);
      const auto [number, is_new] = numbers.emplace(&operand, static_cast<int>(operands.size()));
      if (is_new) operands.push_back(operand);
      pieces.push_back(PlacedBox(number->second, operand, part, out_strides));
    }
    return context_->domain().Move(leaf.shape, pieces, std::move(operands));
  }

  // A received box is the part; a local operand holds it at part.starts.
  static Piece PlacedBox(int number, const Value& operand, const Part& part,
                         const std::vector<int64_t>& out_strides) {
    const auto dims = operand.shape()->dims;
    const bool whole = std::equal(part.sizes.begin(), part.sizes.end(), dims.begin(), dims.end());
    int64_t out_base = 0;
    for (size_t d = 0; d < part.at.size(); ++d) out_base += part.at[d] * out_strides[d];
    return BoxPiece(number, dims, whole ? std::vector<int64_t>(dims.size()) : part.starts,
                    part.sizes, out_base, out_strides);
  }

  Result<Value> WithShape(Value value, const Shape* shape) {
    if (value.shape() == shape) return value;
    if (value.IsDense()) return value.WithShape(shape);
    Piece all;
    if (shape->element_count > 1) all.digits.push_back({shape->element_count, 1, 1});
    return context_->domain().Move(shape, {all}, {std::move(value)});
  }

  RunContext* context_;
  const Placement& placement_;
  Fetcher& fetcher_;
  const size_t number_;
  const Meeting& meeting_;
  const bool shared_;  // all members receive the same
  std::vector<DeviceId> devices_;
  bool is_local_ = false;      // all members are on this rank
  bool by_library_ = false;    // the MPI library reduces
  bool reduces_once_ = false;  // the members of a rank can be served by one reduction
  std::map<Rank, std::vector<int64_t>> positions_;  // of members by rank, if so
  Status ready_;
  Controls controls_;
  std::optional<SplitReduction> split_;     // every rank reduces a slice
  std::vector<std::vector<Value>> slices_;  // by rank and operand, if so
  std::optional<ArrivingFold> arriving_;    // shares are folded as they arrive
  std::vector<Value> folded_;               // by operand, if so
  std::vector<Part> shares_;    // what this rank has reduced once, by operand; often none
  std::vector<Value> reduced_;  // and the results
};

}  // namespace

void CompleteMeetings(RunContext* context, const std::vector<std::unique_ptr<Device>>& devices,
                      const Placement& placement, const std::vector<Meeting>& meetings,
                      OperandBoard* board) {
  Fetcher fetcher(context, devices, placement, *board);
  std::vector<DirectCompletion> direct;
  std::vector<Completion> others;
  for (size_t m = 0; m < meetings.size(); ++m) {
    if (CompletesDirectly(*context, placement, fetcher, meetings[m])) {
      direct.emplace_back(context, &fetcher, meetings[m]);
    } else {
      others.emplace_back(context, placement, &fetcher, m, meetings[m]);
    }
  }
  for (DirectCompletion& completion : direct) completion.Reduce();
  board->FinishReducing();
  for (Completion& completion : others) completion.NeedControls();
  fetcher.Exchange();
  for (Completion& completion : others) completion.NeedData();
  for (Completion& completion : others) completion.BeginFolding();
  fetcher.Exchange();
  for (Completion& completion : others) completion.FinishFolding();
  for (Completion& completion : others) completion.ReduceSlices();
  fetcher.Exchange();
  for (DirectCompletion& completion : direct) completion.Finish();
  for (Completion& completion : others) completion.Finish();
  board->FinishReading();
}

}  // namespace hv
