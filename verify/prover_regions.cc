#include "verify/prover_regions.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "verify/device_sameness.h"
#include "verify/difference_region.h"
#include "verify/value_numbering.h"

namespace hv {
namespace {

constexpr size_t kMostNodes = 400;             // of one region, both sides
constexpr int64_t kMostFailures = 64;          // regions that stay open
constexpr int64_t kMostFailedTerms = 1000000;  // made for them
constexpr int64_t kMostTerms = 200000;         // made for one region at one level
constexpr int kLayers[] = {0, 1, 2, 4};        // how far a region is widened
constexpr int kMostUps = 3;                    // how far towards the users a failed pair moves

// Is proof `a` the weaker one?
bool Weaker(const ProofResult& a, const ProofResult& b) {
  return a.level != b.level ? a.level > b.level : a.sub_class > b.sub_class;
}

// Parameters of a region by the names of the values that they are.
std::string WithNames(std::string text, const Module& region) {
  for (size_t p = 0; p < region.Entry().parameters.size(); ++p) {
    const std::string_view name = region.Entry().At(region.Entry().parameters[p]).name;
    for (const std::string_view next : {" of device", "["}) {
      const std::string number = fmt::format("parameter {}{}", p, next);
      const std::string named = fmt::format("{}{}", name, next);
      for (size_t at = text.find(number); at != std::string::npos; at = text.find(number, at)) {
        text.replace(at, number.size(), named);
        at += named.size();
      }
    }
  }
  return text;
}

class RegionProof {
 public:
  RegionProof(const Module& before, const Module& after, const Mesh& mesh,
              const ProofOptions& options, const ProveWhole& prove)
      : modules_{&before, &after}, mesh_(mesh), options_(options), prove_(prove), graph_(mesh) {}

  // Numbers both modules. False if they have to be run as a whole.
  bool Number(int64_t* work) {
    for (const Side side : kSides) {
      auto roots = graph_.Add(*modules_[Index(side)], side);
      if (!roots) return false;
      roots_[Index(side)] = std::move(*roots);
    }
    if (roots_[0].size() != roots_[1].size()) return false;
    *work = static_cast<int64_t>(graph_.size()) * mesh_.devices();
    for (const Side side : kSides) {
      sameness_[Index(side)].emplace(graph_, *modules_[Index(side)], side, mesh_,
                                     options_.representative, roots_[Index(side)]);
      if (!sameness_[Index(side)]->loops_agree()) return false;
    }
    return true;
  }

  bool AllEqual() const {
    for (size_t r = 0; r < roots_[0].size(); ++r) {
      if (graph_.Find(roots_[0][r]) != graph_.Find(roots_[1][r])) return false;
    }
    return true;
  }

  ProofResult Prove() {
    result_.outcome = ProofOutcome::kProved;
    PairUp();
    while (!open_.empty() && !AllEqual()) {
      const Pairing pairing = *open_.begin();
      open_.erase(open_.begin());
      if (graph_.Find(pairing.before) == graph_.Find(pairing.after)) continue;
      if (!TryPair(pairing)) MoveUp(pairing);
    }
    if (!AllEqual()) return std::move(open_result_);
    if (proved_ == 0) {
      result_.method = "value numbering";
      result_.detail = "both modules compute the same values";
    } else if (proved_ > 1) {
      result_.detail = fmt::format("normal forms agree in {} regions", proved_);
    }
    return std::move(result_);
  }

 private:
  // Values that are equal if the modules are, in order of the later module.
  struct Pairing {
    size_t node;  // of the value after
    ValueId before, after;
    int ups = 0;
    friend auto operator<=>(const Pairing&, const Pairing&) = default;
  };
  using Values = std::pair<ValueId, ValueId>;

  static size_t Index(Side side) { return static_cast<size_t>(side); }

  // Pairs the results, values of one name, and what pairs of one function are made of.
  void PairUp() {
    std::vector<std::pair<Values, Values>> stack;  // pair, and the pair of users it comes from
    for (size_t r = 0; r < roots_[0].size(); ++r) {
      stack.push_back({{roots_[0][r], roots_[1][r]}, {-1, -1}});
    }
    PairByName(&stack);
    while (!stack.empty()) {
      const auto [pair, users] = stack.back();
      stack.pop_back();
      if (graph_.Find(pair.first) == graph_.Find(pair.second)) continue;
      if (!users_.emplace(pair, users).second) continue;
      const ValueNode &b = graph_.DefinitionOf(pair.first), &a = graph_.DefinitionOf(pair.second);
      const bool alike = a.key == b.key && a.operands.size() == b.operands.size() &&
                         graph_.ResultNumber(pair.first) == graph_.ResultNumber(pair.second);
      if (!alike || a.operands.empty()) {
        open_.insert({graph_.NodeOf(pair.second), pair.first, pair.second, 0});
        continue;
      }
      for (size_t i = 0; i < a.operands.size(); ++i) {
        stack.push_back({{b.operands[i], a.operands[i]}, pair});
      }
    }
  }

  void PairByName(std::vector<std::pair<Values, Values>>* stack) {
    std::unordered_map<std::string_view, size_t> by_name;
    for (size_t n = 0; n < graph_.size(); ++n) {
      const ValueNode& node = graph_.node(n);
      if (node.source[0].instruction != nullptr && node.source[1].instruction == nullptr) {
        by_name.emplace(node.source[0].instruction->name, n);
      }
    }
    for (size_t n = 0; n < graph_.size(); ++n) {
      const ValueNode& node = graph_.node(n);
      if (node.source[1].instruction == nullptr || node.source[0].instruction != nullptr) continue;
      const auto same = by_name.find(node.source[1].instruction->name);
      if (same == by_name.end()) continue;
      const ValueNode& other = graph_.node(same->second);
      if (other.key != node.key) continue;
      for (int32_t r = 0; r < node.results; ++r) {
        stack->push_back({{other.first + r, node.first + r}, {-1, -1}});
      }
    }
  }

  // A pair that is not equal may still be made into equal values by its users.
  void MoveUp(const Pairing& pairing) {
    const auto users = users_.find({pairing.before, pairing.after});
    if (users == users_.end() || users->second.first < 0 || pairing.ups == kMostUps) return;
    const auto [before, after] = users->second;
    open_.insert({graph_.NodeOf(after), before, after, pairing.ups + 1});
  }

  bool TryPair(const Pairing& pairing) {
    const Shape* shape = graph_.ShapeOf(pairing.before);
    const Shape* other = graph_.ShapeOf(pairing.after);
    if (shape == nullptr || other == nullptr || !SameShape(*shape, *other)) return false;
    size_t size = 0;
    for (const int layers : kLayers) {
      const DifferenceRegion region =
          CollectRegion(graph_, pairing.before, pairing.after, layers, kMostNodes);
      if (region.size() > kMostNodes || failures_ > kMostFailures ||
          failed_terms_ > kMostFailedTerms) {
        break;
      }
      if (region.size() == size) continue;
      size = region.size();
      const ProofResult& proof = ProveRegion(region);
      if (proof.outcome == ProofOutcome::kProved) {
        Accept(pairing, proof);
        return true;
      }
      NoteSuspect(region, proof);
    }
    return false;
  }

  void Accept(const Pairing& pairing, const ProofResult& proof) {
    ++proved_;
    result_.by_induction = result_.by_induction || proof.by_induction;
    if (Weaker(proof, result_)) {
      result_.level = proof.level;
      result_.sub_class = proof.sub_class;
    }
    if (options_.explain) {
      result_.explanation += fmt::format("{} = {} [{}]\n{}", NameOf(pairing.before, Side::kBefore),
                                         NameOf(pairing.after, Side::kAfter), ToString(proof.level),
                                         proof.explanation);
    }
    graph_.Merge(pairing.before, pairing.after);
    if (open_result_.suspect &&
        graph_.Find(first_suspect_.first) == graph_.Find(first_suspect_.second)) {
      open_result_ = {};
    }
  }

  // The first region that stays open, in its smallest form.
  void NoteSuspect(const DifferenceRegion& region, const ProofResult& proof) {
    if (open_result_.suspect) return;
    first_suspect_ = {region.before, region.after};
    open_result_.difference = proof.difference;
    Suspect suspect{SideOf(region, Side::kBefore), SideOf(region, Side::kAfter),
                    NameOf(region.before, Side::kBefore), NameOf(region.after, Side::kAfter), ""};
    const auto& difference = proof.difference;
    const bool summands = difference && !difference->summands.empty();
    suspect.reason =
        WithNames(summands ? fmt::format("on device {} it {}", mesh_.NameOf(difference->device),
                                         difference->summands)
                           : proof.reason,
                  suspect.before);
    open_result_.reason = fmt::format("{} before and {} after: {}", suspect.before_name,
                                      suspect.after_name, suspect.reason);
    open_result_.suspect = std::move(suspect);
  }

  std::string NameOf(ValueId value, Side side) const {
    const NodeSource& source = graph_.DefinitionOf(value).source[Index(side)];
    return source.instruction == nullptr ? "?" : std::string(source.instruction->name);
  }

  Module SideOf(const DifferenceRegion& region, Side side) const {
    return RegionModule(graph_, region, side, *modules_[Index(side)], mesh_);
  }

  // Under what is known of the frontier in every context in which the value before is computed.
  const ProofResult& ProveRegion(const DifferenceRegion& region) {
    const DeviceSameness& sameness = *sameness_[Index(Side::kBefore)];
    const std::vector<int>& contexts = sameness.ContextsOf(region.before);
    // Values of loop bodies: equal for all arguments, whatever is known about them.
    const bool in_entry = contexts.size() == 1 && contexts[0] == 0;
    std::vector<std::vector<int>> facts;
    if (!in_entry) facts.emplace_back();
    for (const int context : contexts) {
      facts.push_back(FactsOf(region, sameness, context));
      if (facts.size() > 1 && facts.back() == facts[facts.size() - 2]) facts.pop_back();
    }
    std::string key = RegionKey(graph_, region);
    for (const std::vector<int>& known : facts) {
      key.append("|");
      key.append(reinterpret_cast<const char*>(known.data()), known.size() * sizeof(int));
    }
    const auto [entry, is_new] = known_.emplace(std::move(key), ProofResult{});
    if (is_new) {
      entry->second = ProveUnder(region, facts);
      if (entry->second.outcome != ProofOutcome::kProved) {
        ++failures_;
        failed_terms_ += entry->second.terms;
      }
    }
    return entry->second;
  }

  // By parameter, the devices that certainly hold the same; -1: nothing is known.
  std::vector<int> FactsOf(const DifferenceRegion& region, const DeviceSameness& sameness,
                           int context) const {
    std::vector<int> facts;
    for (const ValueId value : region.frontier) {
      const ValueId own = graph_.OfSide(value, Side::kBefore);
      facts.push_back(own < 0 ? -1 : sameness.PartitionOf(context, own));
    }
    return facts;
  }

  ProofResult ProveUnder(const DifferenceRegion& region,
                         const std::vector<std::vector<int>>& facts) {
    const Module before = SideOf(region, Side::kBefore), after = SideOf(region, Side::kAfter);
    const DeviceSameness& sameness = *sameness_[Index(Side::kBefore)];
    ProofResult proof;
    for (size_t i = 0; i < facts.size(); ++i) {
      ProofOptions options = options_;
      options.representative = nullptr;
      options.most_terms = kMostTerms;
      if (!facts[i].empty()) {
        options.representative = [&, i](DeviceId device, int64_t parameter) {
          const int partition = facts[i][static_cast<size_t>(parameter)];
          if (partition < 0) return device;
          return DeviceId(sameness.Partition(partition)[static_cast<size_t>(device.value)]);
        };
      }
      ProofResult under = prove_(before, after, options);
      if (under.outcome != ProofOutcome::kProved) return under;
      if (i == 0) proof = std::move(under);
    }
    return proof;
  }

  const std::array<const Module*, 2> modules_;
  const Mesh mesh_;
  const ProofOptions& options_;
  const ProveWhole& prove_;
  ValueGraph graph_;
  std::array<std::vector<ValueId>, 2> roots_;
  std::array<std::optional<DeviceSameness>, 2> sameness_;
  std::set<Pairing> open_;
  std::map<Values, Values> users_;                      // of each pair met, the pair that led to it
  std::unordered_map<std::string, ProofResult> known_;  // by problem
  ProofResult result_, open_result_;
  Values first_suspect_;
  int64_t failures_ = 0, failed_terms_ = 0;
  int64_t proved_ = 0;
};

}  // namespace

std::optional<ProofResult> ProveByRegions(const Module& before, const Module& after,
                                          const Mesh& mesh, const ProofOptions& options,
                                          const ProveWhole& prove, int64_t* work) {
  RegionProof proof(before, after, mesh, options, prove);
  if (!proof.Number(work)) return std::nullopt;
  return proof.Prove();
}

}  // namespace hv
