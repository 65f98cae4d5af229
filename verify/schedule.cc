#include "verify/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <utility>

#include "hlo/op.h"
#include "sim/plan.h"

namespace hv {
namespace {

constexpr size_t kMostNotes = 5;               // of each kind
constexpr size_t kMostBits = size_t{1} << 31;  // of the table of ancestors

// A collective of one computation; of an asynchronous one, its start.
struct Meeting {
  const Instruction* instruction = nullptr;
  const Collective* collective = nullptr;
  size_t issue = 0;  // position in the text
  size_t done = 0;   // where it is complete: the same unless it is asynchronous
  bool is_async() const { return done != issue; }
};

bool IsDone(const Instruction& instruction) {
  return Definition(instruction).kernel == KernelKind::kDone;
}

// Which of some instructions of a computation lie on paths to which.
class Paths {
 public:
  Paths(const Computation& computation, const std::vector<size_t>& marked, bool with_control)
      : words_((marked.size() + 63) / 64), rows_(computation.instructions.size() * words_) {
    std::map<size_t, size_t> number;
    for (size_t m = 0; m < marked.size(); ++m) number[marked[m]] = m;
    for (size_t i = 0; i < computation.instructions.size(); ++i) {
      const Instruction& instruction = computation.instructions[i];
      for (const InstructionIndex o : instruction.operands) Join(i, static_cast<size_t>(o));
      if (with_control) {
        for (const InstructionIndex p : instruction.ControlPredecessors()) {
          Join(i, static_cast<size_t>(p));
        }
      }
      const auto mark = number.find(i);
      if (mark != number.end()) rows_[i * words_ + mark->second / 64] |= Bit(mark->second);
    }
  }

  // Is marked instruction number `from` `to` itself or before it?
  bool Leads(size_t from, size_t to) const {
    return (rows_[to * words_ + from / 64] & Bit(from)) != 0;
  }

 private:
  static uint64_t Bit(size_t m) { return uint64_t{1} << (m % 64); }
  void Join(size_t to, size_t from) {
    for (size_t w = 0; w < words_; ++w) rows_[to * words_ + w] |= rows_[from * words_ + w];
  }

  size_t words_;
  std::vector<uint64_t> rows_;
};

// Different groups with a device in common.
bool Overlap(const Grouping& a, const Grouping& b) {
  for (size_t d = 0; d < a.group_of.size(); ++d) {
    if (a.group_of[d] < 0 || b.group_of[d] < 0) continue;
    const auto& x = a.groups[static_cast<size_t>(a.group_of[d])];
    const auto& y = b.groups[static_cast<size_t>(b.group_of[d])];
    if (!std::is_permutation(x.begin(), x.end(), y.begin(), y.end())) return true;
  }
  return false;
}

using Names = std::pair<std::string, std::string>;

// The collectives of one module and their order.
class Schedule {
 public:
  Schedule(const Module& module, const ModulePlan& plan) : module_(module) {
    for (const Collective& collective : plan.collectives) {
      known_[collective.instruction] = &collective;
    }
    for (const Computation& computation : module.computations) Read(computation);
  }

  // Pairs that control dependencies alone put in order.
  const std::vector<Names>& ordered_by_control() const { return by_control_; }
  // Does a path lead from the first to the second, both of one computation?
  bool Orders(const Names& pair) {
    if (module_.is_scheduled) return true;
    const Place& from = place_.at(pair.first);
    const Place& to = place_.at(pair.second);
    auto& paths = paths_[from.computation];
    if (!paths) {
      paths = std::make_unique<Paths>(*from.computation, issues_[from.computation], true);
    }
    return paths->Leads(from.meeting, issues_[to.computation][to.meeting]);
  }
  bool SameComputation(const Names& pair) const {
    const auto a = place_.find(pair.first), b = place_.find(pair.second);
    return a != place_.end() && b != place_.end() &&
           a->second.computation == b->second.computation;
  }
  // Pairs over overlapping groups that may be in flight at once, by what they do.
  const std::map<Names, std::vector<Names>>& in_flight() const { return in_flight_; }

 private:
  const Collective* CollectiveOf(const Instruction& instruction) const {
    const Instruction* found = &instruction;
    if (instruction.opcode == Opcode::kAsyncStart) {
      found = &module_.At(instruction.Computation(Attr::kCalls)).Root();
    }
    const auto known = known_.find(found);
    return known == known_.end() ? nullptr : known->second;
  }

  void Read(const Computation& computation) {
    std::vector<Meeting> meetings;
    std::map<InstructionIndex, size_t> started;  // by the last link of the chain from the start
    for (size_t i = 0; i < computation.instructions.size(); ++i) {
      const Instruction& instruction = computation.instructions[i];
      const auto index = static_cast<InstructionIndex>(i);
      if (const Collective* collective = CollectiveOf(instruction)) {
        started[index] = meetings.size();
        meetings.push_back({&instruction, collective, i, i});
      } else if (instruction.opcode == Opcode::kAsyncUpdate || IsDone(instruction)) {
        const auto start = started.find(instruction.operands[0]);
        if (start == started.end()) continue;
        meetings[start->second].done = i;
        started[index] = start->second;
      }
    }
    const size_t bits = 2 * meetings.size() * computation.instructions.size();
    if (meetings.size() > 1 && bits <= kMostBits) Compare(computation, meetings);
  }

  void Compare(const Computation& computation, const std::vector<Meeting>& meetings) {
    std::vector<size_t>& issues = issues_[&computation];
    for (const Meeting& m : meetings) {
      place_[std::string(m.instruction->name)] = {&computation, issues.size()};
      issues.push_back(m.issue);
    }
    const bool controls = std::any_of(
        computation.instructions.begin(), computation.instructions.end(),
        [](const Instruction& i) { return !i.ControlPredecessors().empty(); });
    if (controls) NoteOrders(computation, meetings, issues);
    std::vector<Meeting> flights;
    std::copy_if(meetings.begin(), meetings.end(), std::back_inserter(flights),
                 [](const Meeting& m) { return m.is_async(); });
    if (flights.size() > 1) NoteFlights(computation, flights);
  }

  void NoteOrders(const Computation& computation, const std::vector<Meeting>& meetings,
                  const std::vector<size_t>& issues) {
    const Paths all(computation, issues, true), data(computation, issues, false);
    for (size_t b = 0; b < meetings.size(); ++b) {
      for (size_t a = 0; a < b; ++a) {
        if (!all.Leads(a, issues[b]) || data.Leads(a, issues[b])) continue;
        by_control_.emplace_back(meetings[a].instruction->name, meetings[b].instruction->name);
      }
    }
  }

  void NoteFlights(const Computation& computation, const std::vector<Meeting>& flights) {
    std::vector<size_t> dones;
    for (const Meeting& m : flights) dones.push_back(m.done);
    const Paths complete(computation, dones, true);
    for (size_t b = 0; b < flights.size(); ++b) {
      const Meeting& second = flights[b];
      for (size_t a = 0; a < b; ++a) {
        const Meeting& first = flights[a];
        const bool apart =
            module_.is_scheduled ? first.done < second.issue : complete.Leads(a, second.issue);
        if (apart || !Overlap(*first.collective->grouping, *second.collective->grouping)) continue;
        in_flight_[{first.collective->signature, second.collective->signature}].emplace_back(
            first.instruction->name, second.instruction->name);
      }
    }
  }

  struct Place {
    const Computation* computation = nullptr;
    size_t meeting = 0;
  };

  const Module& module_;
  std::map<const Instruction*, const Collective*> known_;
  std::map<std::string, Place> place_;
  std::map<const Computation*, std::vector<size_t>> issues_;        // positions of its meetings
  std::map<const Computation*, std::unique_ptr<Paths>> paths_;  // made when asked for
  std::vector<Names> by_control_;
  std::map<Names, std::vector<Names>> in_flight_;
};

void Limit(std::vector<std::string>* notes) {
  if (notes->size() <= kMostNotes) return;
  const size_t more = notes->size() - kMostNotes;
  notes->resize(kMostNotes);
  notes->back() += fmt::format(" (and {} more)", more);
}

// Instructions keep their names where a pass leaves them alone; what was renamed is not compared.
std::vector<std::string> LostOrders(const Schedule& before, Schedule* after) {
  std::vector<std::string> notes;
  for (const Names& pair : before.ordered_by_control()) {
    if (!after->SameComputation(pair) || after->Orders(pair)) continue;
    notes.push_back(
        fmt::format("schedule: a control dependency put {} before {}; after, nothing orders them",
                    pair.first, pair.second));
  }
  Limit(&notes);
  return notes;
}

std::vector<std::string> NewOverlaps(const Schedule& before, const Schedule& after) {
  std::vector<std::string> notes;
  for (const auto& [kind, pairs] : after.in_flight()) {
    const auto old = before.in_flight().find(kind);
    if (old != before.in_flight().end() && old->second.size() >= pairs.size()) continue;
    notes.push_back(fmt::format(
        "schedule: {} and {} may be in flight at once over groups that overlap; before, they were "
        "not",
        pairs.back().first, pairs.back().second));
  }
  Limit(&notes);
  return notes;
}

}  // namespace

std::vector<std::string> NotesOnSchedule(const Pair& pair) {
  const Result<ModulePlan> old_plan = MakePlan(pair.before, pair.mesh);
  const Result<ModulePlan> new_plan = MakePlan(pair.after, pair.mesh);
  if (!old_plan || !new_plan) return {};
  const Schedule before(pair.before, *old_plan);
  Schedule after(pair.after, *new_plan);
  std::vector<std::string> notes = LostOrders(before, &after);
  for (std::string& note : NewOverlaps(before, after)) notes.push_back(std::move(note));
  return notes;
}

}  // namespace hv
