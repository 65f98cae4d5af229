// The states of one loop as functions of how often it has turned: what it hands on unchanged, what
// grows by the same amount in every turn, and what a turn computes from these alone (a value carried
// over from the turn before). What is left depends on the history and is unknown here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "verify/loop_parts.h"

namespace hv {

// How many turns have been made: offset, or factor * j + offset with j in [0, bound) unknown
// (bound < 0: any number).
struct Turn {
  int64_t factor = 0, offset = 0, bound = -1;
  std::string symbol;  // names j

  bool IsKnown() const { return factor == 0; }
  Turn Before() const { return {factor, offset - 1, bound, symbol}; }
  std::string ToString() const;
};

// j in [0, count), or any turn if the count is not known; a single turn is a number.
Turn AnyTurn(const std::string& symbol, std::optional<int64_t> count);

class LoopForms {
 public:
  // The loop `loop` of `computation` of the parts' module, entered in the state `first`. `name` is
  // part of the names of its unknowns.
  LoopForms(LoopParts* parts, ComputationIndex computation, InstructionIndex loop, LoopState first,
            std::string name);

  // Sorts the leaves of the state. False if the body cannot be run.
  bool Find();

  LoopParts& parts() const { return *parts_; }
  const std::string& name() const { return name_; }
  const LoopState& first() const { return first_; }
  const std::vector<const Shape*>& shapes() const { return shapes_; }
  ComputationIndex body() const { return loop_->Computation(Attr::kBody); }
  bool IsCarried(size_t leaf) const { return forms_[leaf] == Form::kCarried; }

  // The state after so many turns; leaves that depend on the history are unknowns named by `tag`.
  std::optional<LoopState> At(const Turn& turn, const std::string& tag);
  // One turn; loops inside are run.
  std::optional<LoopState> Next(const LoopState& state) { return parts_->Run(body(), state); }
  std::optional<ByDevice> Condition(const LoopState& state);

  // How often the loop turns, if that is the same number whatever the inputs: the condition holds for
  // all turns below it, whatever the history, and fails then.
  std::optional<int64_t> Trips();

 private:
  enum class Form : uint8_t { kCarried, kConstant, kGrowing, kComputed };

  std::optional<LoopState> At(const Turn& turn, const std::string& tag, int stage);
  std::optional<LoopState> NextWhereKnown(const LoopState& state);
  std::optional<ByDevice> Grown(size_t leaf, const Turn& turn);
  bool FindMore(int stage, bool* found);
  std::optional<bool> ConditionAt(const Turn& turn);
  bool TurnsExactly(int64_t trips);

  LoopParts* parts_;
  const Computation& computation_;
  const Instruction* loop_;
  const LoopState first_;
  const std::string name_;
  std::vector<const Shape*> shapes_;
  std::vector<Form> forms_;
  std::vector<int> stages_;    // kComputed: turns back that it depends on
  std::vector<ByDevice> step_; // kGrowing
  int last_stage_ = 0;
};

}  // namespace hv
