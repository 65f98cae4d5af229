#include "sim/exchange.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "hlo/view.h"
#include "sim/fetch.h"
#include "sim/hash.h"
#include "sim/leaves.h"
#include "sim/library_reduction.h"
#include "sim/recipe.h"
#include "sim/reduction.h"

namespace hv {
namespace {

class Exchanger {
 public:
  Exchanger(RunContext* context, const std::vector<std::unique_ptr<Device>>& devices,
            const Placement& placement, const std::vector<Meeting>& meetings)
      : context_(context), placement_(placement), meetings_(meetings),
        fetcher_(context, devices, placement), controls_(meetings.size()),
        recipes_(meetings.size()) {}

  void Run() {
    if (NeedControls()) fetcher_.Exchange();
    for (size_t m = 0; m < meetings_.size(); ++m) NeedData(m);
    fetcher_.Exchange();
    for (size_t m = 0; m < meetings_.size(); ++m) Finish(m);
  }

 private:
  using Recipe = std::vector<LeafRecipe>;

  void Fail(const Meeting& meeting, const Error& error) {
    for (const Meeting::Member& member : meeting.members) {
      if (fetcher_.IsLocal(member.device)) Fail(meeting, member.device, error);
    }
  }
  void Fail(const Meeting& meeting, DeviceId device, const Error& error) {
    fetcher_.LocalDevice(device).Fail(
        PlacedAt(error, context_->module(), *meeting.collective->instruction));
  }

  // Every rank that has a member learns the control operands of all members.
  bool NeedControls() {
    bool any = false;
    for (size_t m = 0; m < meetings_.size(); ++m) {
      ForEachControl(meetings_[m], [&](const Part& part) {
        any = true;
        for (const Meeting::Member& member : meetings_[m].members) {
          Check(meetings_[m], fetcher_.Need(meetings_[m], m, member.device, part));
        }
      });
    }
    return any;
  }

  template <class Visit>
  static void ForEachControl(const Meeting& meeting, Visit visit) {
    const Collective& collective = *meeting.collective;
    for (size_t k = 0; k < meeting.members.size(); ++k) {
      for (size_t o = FirstControl(collective); o < collective.operands.size(); ++o) {
        visit(WholeOperand(collective, static_cast<int64_t>(k), static_cast<int64_t>(o)));
      }
    }
  }

  Status ReadControls(size_t m) {
    const Meeting& meeting = meetings_[m];
    controls_[m].resize(meeting.members.size());
    Status status;
    ForEachControl(meeting, [&](const Part& part) {
      const auto& encodings = meeting.members[static_cast<size_t>(part.member)].encodings;
      if (encodings[static_cast<size_t>(part.operand)] != kNativeOperand) {
        status = Unsupported("control-is-data",
                             "offsets of " + std::string(ToString(meeting.collective->opcode)) +
                                 " depend on data that has no concrete value in the domain " +
                                 std::string(context_->domain().name()));
        return;
      }
      controls_[m][static_cast<size_t>(part.member)].push_back(
          IntegersOf(fetcher_.Find(meeting, m, part)));
    });
    return status;
  }

  // An operand that is no bytes cannot leave its process.
  Status CheckTravel(const Meeting& meeting) const {
    bool local = true, extended = false;
    for (const Meeting::Member& member : meeting.members) {
      local &= fetcher_.IsLocal(member.device);
      extended |= member.encodings.find(kExtendedOperand) != std::string::npos;
    }
    if (local || !extended) return {};
    return Unsupported("domain-is-local", "values of the domain " +
                                              std::string(context_->domain().name()) +
                                              " cannot be sent to another rank");
  }

  // Recipes of all members: a rank needs those of its own, and of whoever reads its operands.
  void NeedData(size_t m) {
    const Meeting& meeting = meetings_[m];
    Status ready = CheckTravel(meeting);
    if (ready) ready = ReadControls(m);
    if (!ready) {
      Fail(meeting, ready.error());
      return;
    }
    const bool shared = ResultIsShared(*meeting.collective);
    const bool by_library = ReducedByLibrary(*context_, placement_, meeting);
    for (size_t k = 0; k < meeting.members.size(); ++k) {
      if (k == 0 || !shared) {
        std::vector<DeviceId> devices;
        for (const Meeting::Member& member : meeting.members) devices.push_back(member.device);
        recipes_[m].push_back(
            meeting.members[k].role == Role::kSender
                ? Result<Recipe>(Recipe{})
                : RecipeFor(*meeting.collective, static_cast<int64_t>(k), devices, controls_[m]));
      }
      const Result<Recipe>& recipe = recipes_[m].back();
      if (!recipe || by_library) continue;
      for (const LeafRecipe& leaf : *recipe) {
        for (const Part& part : leaf.parts) {
          Check(meeting, fetcher_.Need(meeting, m, meeting.members[k].device, part));
        }
      }
    }
  }

  void Check(const Meeting& meeting, const Status& status) {
    if (!status) Fail(meeting, status.error());
  }

  // Results first, then completion: completing a post drops the operands others still read.
  void Finish(size_t m) {
    const Meeting& meeting = meetings_[m];
    if (recipes_[m].empty()) return;
    library_results_.clear();
    if (ReducedByLibrary(*context_, placement_, meeting)) {
      Result<std::vector<Value>> reduced =
          ReduceByLibrary(context_, placement_, fetcher_, m, meeting);
      if (!reduced) return Fail(meeting, reduced.error());
      library_results_ = std::move(*reduced);
    }
    std::optional<Result<Value>> shared;
    std::vector<std::pair<const Meeting::Member*, Value>> results;
    for (size_t k = 0; k < meeting.members.size(); ++k) {
      const Meeting::Member& member = meeting.members[k];
      if (!fetcher_.IsLocal(member.device)) continue;
      if (recipes_[m].size() > 1) shared.reset();
      if (!shared) shared = Build(m, recipes_[m][recipes_[m].size() > 1 ? k : 0], member.role);
      if (*shared) {
        results.emplace_back(&member, **shared);
      } else {
        Fail(meeting, member.device, shared->error());
      }
    }
    shared.reset();
    for (auto& [member, value] : results) {
      fetcher_.LocalDevice(member->device).Complete({meeting.key, member->role}, std::move(value));
    }
  }

  Result<Value> Build(size_t m, const Result<Recipe>& recipe, Role role) {
    if (!recipe) return tl::make_unexpected(recipe.error());
    if (role == Role::kSender) return Value();
    std::vector<Value> leaves;
    for (const LeafRecipe& leaf : *recipe) {
      HV_ASSIGN(Value value, leaf.fold ? Fold(m, leaf) : Move(m, leaf));
      leaves.push_back(std::move(value));
    }
    return Assemble(meetings_[m].collective->result, std::move(leaves));
  }

  Result<Value> Fold(size_t m, const LeafRecipe& leaf) {
    const Meeting& meeting = meetings_[m];
    if (!library_results_.empty()) {
      const Part& part = leaf.parts[0];
      const Value& whole = library_results_[static_cast<size_t>(part.operand)];
      HV_ASSIGN(Value cut, fetcher_.CutBox(whole, part));
      return WithShape(std::move(cut), leaf.shape);
    }
    std::vector<Value> values;
    for (const Part& part : leaf.parts) {
      HV_ASSIGN(Value value, fetcher_.Cut(meeting, m, part));
      values.push_back(std::move(value));
    }
    const uint64_t salt =
        Mix(Mix(meeting.key.site, static_cast<uint64_t>(meeting.key.execution)),
            static_cast<uint64_t>(meeting.key.group));
    HV_ASSIGN(Value folded,
              FoldMembers(context_->module(),
                          meeting.collective->instruction->Computation(Attr::kToApply),
                          std::move(values), context_->options(), salt));
    return WithShape(std::move(folded), leaf.shape);
  }

  Result<Value> Move(size_t m, const LeafRecipe& leaf) {
    const Meeting& meeting = meetings_[m];
    if (leaf.parts.empty()) return Zeros(context_->domain(), leaf.shape);
    const auto dims = leaf.shape->dims;
    const std::vector<int64_t> out_strides = RowMajorStrides(dims);
    if (leaf.parts.size() == 1 &&
        std::equal(leaf.parts[0].sizes.begin(), leaf.parts[0].sizes.end(), dims.begin(),
                   dims.end())) {
      HV_ASSIGN(Value whole, fetcher_.Cut(meeting, m, leaf.parts[0]));
      return WithShape(std::move(whole), leaf.shape);
    }
    Pieces pieces;
    std::vector<Value> operands;
    std::map<const Value*, int> numbers;
    for (const Part& part : leaf.parts) {
      if (CountElements(part.sizes) == 0) continue;
      const Value& operand = fetcher_.Find(meeting, m, part);
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
  const std::vector<Meeting>& meetings_;
  Fetcher fetcher_;
  std::vector<Value> library_results_;  // of the meeting being finished, by operand; usually none
  std::vector<Controls> controls_;
  std::vector<std::vector<Result<Recipe>>> recipes_;  // one per member, or one that all share
};

}  // namespace

void CompleteMeetings(RunContext* context, const std::vector<std::unique_ptr<Device>>& devices,
                      const Placement& placement, const std::vector<Meeting>& meetings) {
  Exchanger(context, devices, placement, meetings).Run();
}

}  // namespace hv
