#include "verify/prover.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "sim/cost.h"
#include "sim/transport.h"
#include "verify/device_sameness.h"
#include "verify/entry_argument.h"
#include "verify/lockstep.h"
#include "verify/loop_induction.h"
#include "verify/prover_precision.h"
#include "verify/prover_regions.h"
#include "verify/symbolic_domain.h"
#include "verify/symbolic_print.h"

namespace hv {
namespace {

constexpr size_t kTermLength = 300;  // of a term in words

constexpr Strictness kStrictnesses[] = {Strictness::kBitwise, Strictness::kReassociation,
                                        Strictness::kNestedSums, Strictness::kReal,
                                        Strictness::kRoundedConstant};

using Leaves = std::vector<SymbolicTensor>;
using Outputs = std::map<DeviceId, Leaves>;

bool HasFloats(const Module& module) {
  for (const Computation& computation : module.computations) {
    for (const Instruction& instruction : computation.instructions) {
      const ElementType type = instruction.shape->type;
      if (IsFloat(type) || IsComplex(type)) return true;
      for (const Shape* element : instruction.shape->elements) {
        if (IsFloat(element->type) || IsComplex(element->type) || element->IsTuple()) return true;
      }
    }
  }
  return false;
}

// Runs of both modules over one table of terms, at one strictness.
class Attempt {
 public:
  Attempt(Strictness strictness, const Mesh& mesh, const ProofOptions& options)
      : mesh_(mesh),
        options_(options),
        domain_(strictness, options.most_pieces),
        transport_(MakeLocalTransport()) {
    domain_.algebra().LimitWork(options.most_terms);
  }

  SymbolicDomain& domain() { return domain_; }
  void NameFoldsByPosition() { domain_.NameFoldsByPosition(); }

  // Leaves of the outputs of every device; false with `result` filled if there are none.
  bool Run(const Module& module, bool is_before, Outputs* outputs, ProofResult* result) {
    RunOptions run;
    run.domain = &domain_;
    run.transport = transport_.get();
    run.max_steps = options_.most_loop_steps;
    const auto input = [&](DeviceId device, int64_t parameter) -> Result<Value> {
      return EntryArgument(options_, mesh_, module, device, parameter, &domain_);
    };
    Result<RunOutcome> outcome = RunModule(module, mesh_, input, run);
    const std::string which = is_before ? "before: " : "after: ";
    result->before_failed = is_before;
    if (!outcome) {
      result->outcome = ProofOutcome::kUnsupported;
      result->reason = which + outcome.error().Message();
      return false;
    }
    if (outcome->stall) {
      result->outcome = ProofOutcome::kStalled;
      result->reason = which + outcome->stall->ToString();
      result->stall = std::move(outcome->stall);
      return false;
    }
    for (const auto& [device, value] : outcome->outputs) {
      (*outputs)[device] = domain_.LeavesOf(value);
    }
    return true;
  }

  // The first difference between outputs, device by device and leaf by leaf.
  std::optional<ProofDifference> Compare(const Outputs& before, const Outputs& after) {
    for (const auto& [device, leaves] : before) {
      const Leaves& others = after.at(device);
      for (size_t i = 0; i < leaves.size(); ++i) {
        auto difference = domain_.maker().Compare(leaves[i], others[i]);
        if (!difference) continue;
        ProofDifference found;
        found.device = device;
        found.output = static_cast<int64_t>(i);
        found.first_element = difference->region.base;
        found.elements = difference->region.count();
        found.before = DescribeTerm(&domain_, difference->before, kTermLength);
        found.after = DescribeTerm(&domain_, difference->after, kTermLength);
        found.summands = DescribeSummands(&domain_, difference->before, difference->after);
        return found;
      }
    }
    return std::nullopt;
  }

  // Are all outputs equal? Nothing if a module does not run in lockstep.
  std::optional<bool> EqualInLockstep(const Module& before, const Module& after) {
    Lockstep first(&domain_, before, mesh_, options_), second(&domain_, after, mesh_, options_);
    const auto old = first.Run();
    if (!old) return std::nullopt;
    const auto now = second.Run();
    if (!now) return std::nullopt;
    for (size_t leaf = 0; leaf < old->size(); ++leaf) {
      if (domain_.maker().Compare((*old)[leaf].tensor, (*now)[leaf].tensor)) return false;
    }
    return true;
  }

  std::string Explain(const Outputs& outputs) {
    std::string text;
    for (const auto& [device, leaves] : outputs) {
      for (size_t i = 0; i < leaves.size(); ++i) {
        for (const SymbolicPiece& piece : leaves[i].pieces()) {
          text += "  device " + mesh_.NameOf(device) + ", output " + std::to_string(i) + ", " +
                  DescribeRegion(piece.region) + ": " +
                  DescribeTerm(&domain_, piece.term, kTermLength) + "\n";
        }
      }
    }
    return text;
  }

 private:
  Mesh mesh_;
  const ProofOptions& options_;
  SymbolicDomain domain_;
  std::unique_ptr<Transport> transport_;
};

class Prover {
 public:
  Prover(const Module& before, const Module& after, const Mesh& mesh, const ProofOptions& options)
      : before_(before), after_(after), mesh_(mesh), options_(options) {}

  ProofResult Prove() {
    const bool floats = HasFloats(before_) || HasFloats(after_);
    const bool lockstep = mesh_.devices() >= options_.lockstep_from && !options_.explain;
    if (lockstep && ProveInLockstep(floats)) {
      return std::move(result_);
    }
    ProofResult open;  // of the level before
    for (const Strictness strictness : kStrictnesses) {
      if (Try(strictness)) break;
      // Terms may grow too large at one level only.
      if (result_.outcome == ProofOutcome::kUnsupported && open.difference) {
        open.terms = result_.terms;
        return open;
      }
      if (result_.outcome != ProofOutcome::kNotProved || !floats) return std::move(result_);
      open = result_;
    }
    if (result_.outcome != ProofOutcome::kProved) return std::move(result_);
    if (result_.level == ProofLevel::kReal) {
      result_.precision = PrecisionChange(before_, after_);
    }
    if (result_.level != ProofLevel::kBitwise) CheckConsistency();
    return std::move(result_);
  }

 private:
  bool Try(Strictness strictness) {
    Attempt attempt(strictness, mesh_, options_);
    Outputs before, after;
    const bool ran = attempt.Run(before_, true, &before, &result_) &&
                     attempt.Run(after_, false, &after, &result_);
    if (ran) result_.difference = attempt.Compare(before, after);
    result_.terms += attempt.domain().algebra().Work();
    if (!ran) return false;
    if (options_.explain) {
      result_.explanation =
          "before:\n" + attempt.Explain(before) + "after:\n" + attempt.Explain(after);
    }
    if (result_.difference) {
      result_.outcome = ProofOutcome::kNotProved;
      result_.reason = InWords(*result_.difference);
      return false;
    }
    SetProved(strictness);
    return true;
  }

  void SetProved(Strictness strictness) {
    result_.outcome = ProofOutcome::kProved;
    result_.reason.clear();
    switch (strictness) {
      case Strictness::kBitwise:
        result_.level = ProofLevel::kBitwise;
        break;
      case Strictness::kNestedSums:
        result_.sub_class = "nested sums";
        [[fallthrough]];
      case Strictness::kReassociation:
        result_.level = ProofLevel::kReassociation;
        break;
      case Strictness::kRoundedConstant:
        result_.sub_class = "constant rounded";
        [[fallthrough]];
      case Strictness::kReal:
        result_.level = ProofLevel::kReal;
        break;
    }
  }

  // All devices at once. What is not proved so is tried device by device.
  bool ProveInLockstep(bool floats) {
    for (const Strictness strictness : kStrictnesses) {
      Attempt attempt(strictness, mesh_, options_);
      const auto equal = attempt.EqualInLockstep(before_, after_);
      result_.terms += attempt.domain().algebra().Work();
      if (!equal) return false;
      if (*equal) {
        if (strictness != Strictness::kBitwise && !KeepsSameness()) return false;
        SetProved(strictness);
        if (result_.level == ProofLevel::kReal) {
          result_.precision = PrecisionChange(before_, after_);
        }
        return true;
      }
      if (!floats) return false;
    }
    return false;
  }

  // Do devices that hold one value of an output before hold one after, by their structure?
  bool KeepsSameness() const {
    ValueGraph graph(mesh_);
    const auto before = graph.Add(before_, Side::kBefore), after = graph.Add(after_, Side::kAfter);
    if (!before || !after || before->size() != after->size()) return false;
    const DeviceSameness b(graph, before_, Side::kBefore, mesh_, options_.representative, *before);
    const DeviceSameness a(graph, after_, Side::kAfter, mesh_, options_.representative, *after);
    for (size_t leaf = 0; leaf + 1 < before->size(); ++leaf) {  // the last is the order of effects
      const SameDevices& old = b.Of(0, (*before)[leaf]);
      const SameDevices& now = a.Of(0, (*after)[leaf]);
      for (size_t d = 0; d < old.size(); ++d) {
        if (now[d] != now[static_cast<size_t>(old[d])]) return false;
      }
    }
    return true;
  }

  std::string InWords(const ProofDifference& d) const {
    std::string text = "device " + mesh_.NameOf(d.device) + ", output " + std::to_string(d.output) +
                       ", " + std::to_string(d.elements) + " element(s) from " +
                       std::to_string(d.first_element) + ": ";
    if (!d.summands.empty()) return text + "after " + d.summands;
    return text + "before is " + d.before + ", after is " + d.after;
  }

  // Devices whose outputs were the same value before must agree after, bit for bit. A fold is known
  // by its operands by position, so that groups that fold the same values agree.
  void CheckConsistency() {
    Attempt attempt(Strictness::kBitwise, mesh_, options_);
    attempt.NameFoldsByPosition();
    Outputs before, after;
    ProofResult scratch;
    if (!attempt.Run(before_, true, &before, &scratch)) return;
    if (!attempt.Run(after_, false, &after, &scratch)) return;
    const size_t leaves = before.begin()->second.size();
    for (size_t leaf = 0; leaf < leaves; ++leaf) {
      std::map<uint64_t, std::vector<DeviceId>> classes;  // first devices, by hash of the value
      for (const auto& [device, values] : before) {
        std::vector<DeviceId>& firsts = classes[values[leaf].Hash()];
        const auto found = std::find_if(firsts.begin(), firsts.end(), [&](DeviceId first) {
          return before.at(first)[leaf].pieces() == before.at(device)[leaf].pieces();
        });
        if (found == firsts.end()) {
          firsts.push_back(device);
        } else if (attempt.domain().maker().Compare(after.at(*found)[leaf],
                                                    after.at(device)[leaf])) {
          ReportDrift(static_cast<int64_t>(leaf), *found, device);
          return;
        }
      }
    }
  }

  void ReportDrift(int64_t output, DeviceId a, DeviceId b) {
    result_.outcome = ProofOutcome::kInconsistent;
    result_.reason = "output " + std::to_string(output) + " was one value on devices " +
                     mesh_.NameOf(a) + " and " + mesh_.NameOf(b) +
                     "; after, each adds in an order of its own, so they may drift apart";
  }

  const Module& before_;
  const Module& after_;
  const Mesh mesh_;
  const ProofOptions& options_;
  ProofResult result_;
};

constexpr int64_t kQuickWork = 20000;  // instructions x devices

// The most turns that a loop of ENTRY takes, kUnknownTurns if one does not tell.
constexpr int64_t kUnknownTurns = INT64_MAX;
int64_t MostTurns(const Module& module) {
  int64_t most = 0;
  for (const Instruction& i : module.Entry().instructions) {
    if (i.opcode != Opcode::kWhile) continue;
    const int64_t turns = TripCountOf(module, module.Entry(), i);
    most = turns < 0 ? kUnknownTurns : std::max(most, turns);
  }
  return most;
}

enum class Loops : uint8_t { kRun, kByInduction, kBoth };

// Loops of few turns are run; for others a relation between both is looked for before they are run
// further.
ProofResult ProveWith(const Module& before, const Module& after, const Mesh& mesh,
                      const ProofOptions& options, Loops loops) {
  constexpr int64_t kQuickTurns = 256;
  const int64_t turns = std::max(MostTurns(before), MostTurns(after));
  ProofOptions quick = options;
  quick.most_loop_steps = std::min(kQuickTurns, options.most_loop_steps);
  ProofResult result;
  result.outcome = ProofOutcome::kUnsupported;
  result.reason = "a loop of many iterations";
  if (turns <= quick.most_loop_steps || turns == kUnknownTurns) {
    result = Prover(before, after, mesh, quick).Prove();
    if (result.outcome != ProofOutcome::kUnsupported) return result;
  }
  if (loops == Loops::kRun) return result;
  if (auto proof = ProveByInduction(before, after, mesh, options)) return std::move(*proof);
  const bool may_end = turns <= options.most_loop_steps || turns == kUnknownTurns;
  if (loops == Loops::kByInduction || turns <= quick.most_loop_steps || !may_end) return result;
  // Terms of long loops grow beyond all bounds more often than not.
  ProofOptions limited = options;
  limited.most_terms /= 5;
  return Prover(before, after, mesh, limited).Prove();
}

}  // namespace

std::string_view ToString(ProofLevel level) {
  switch (level) {
    case ProofLevel::kBitwise:
      return "bitwise";
    case ProofLevel::kReassociation:
      return "reassociation";
    case ProofLevel::kReal:
      return "real";
  }
  return "";
}

bool LoopsEnd(const Module& module) {
  for (const Computation& computation : module.computations) {
    for (const Instruction& i : computation.instructions) {
      if (i.opcode == Opcode::kWhile && !CountsToItsEnd(module, i)) return false;
    }
  }
  return true;
}

ProofResult ProvePair(const Module& before, const Module& after, const Mesh& mesh,
                      const ProofOptions& options) {
  int64_t work = 0;
  // Long loops are run, and induction is tried, with the modules as a whole where they can be.
  const ProveWhole region = [&](const Module& b, const Module& a, const ProofOptions& o) {
    return ProveWith(b, a, mesh, o, work > options.most_work ? Loops::kByInduction : Loops::kRun);
  };
  std::optional<ProofResult> by_regions =
      ProveByRegions(before, after, mesh, options, region, &work);
  const bool proved = by_regions && by_regions->outcome == ProofOutcome::kProved;
  if (proved) {
    by_regions->assumes_end = !LoopsEnd(before) || !LoopsEnd(after);
    if (by_regions->level == ProofLevel::kReal) {
      by_regions->precision = PrecisionChange(before, after);
    }
  }
  // A region's border forgets what the whole knows: where that is quick, or where the level is weak,
  // the whole may be proved at a stronger one.
  const ProofLevel enough = work > kQuickWork ? ProofLevel::kReassociation : ProofLevel::kBitwise;
  const bool strong = proved && by_regions->level <= enough && by_regions->sub_class.empty();
  if (strong || (by_regions && work > options.most_work)) return std::move(*by_regions);
  ProofResult result = ProveWith(before, after, mesh, options, Loops::kBoth);
  const bool settled = result.outcome == ProofOutcome::kProved ||
                       result.outcome == ProofOutcome::kInconsistent ||
                       result.outcome == ProofOutcome::kStalled;
  if (proved && !settled) return std::move(*by_regions);
  return result;
}

}  // namespace hv
