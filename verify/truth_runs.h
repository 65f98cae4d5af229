// Deciding by enumeration: programs whose behaviour hangs on few truth values are run for every
// assignment of them, everything else held as codes. Inputs of few bits are enumerated outright,
// and where nothing else is input, that is a proof.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "eval/code_domain.h"
#include "verify/arithmetic_facts.h"
#include "verify/decide.h"
#include "verify/leaf_codes.h"
#include "verify/pair.h"

namespace hv {

struct TruthFindings {
  bool agree = false;          // in every assignment
  std::optional<Proof> proof;  // nothing but the enumerated bits was input
  Evidence evidence;           // if they agree
  std::string precision;       // as in CodeFindings
  // A wrong assignment: the leaves that are true in it, if the inputs are truth values alone.
  std::optional<std::vector<int64_t>> counterexample;
};

class TruthRuns {
 public:
  // References must outlive it.
  TruthRuns(const Pair& pair, const InputSpace& space, uint64_t seed);

  // Is every input made of enumerated bits?
  bool EnumeratesInputs() const;

  // Nothing if there are no unknown truth values, too many, or runs that cannot be made.
  std::optional<TruthFindings> Run();

 private:
  struct Table;
  bool IsEnumerated(const Shape& shape) const;
  Result<Value> Fill(const Shape* shape, int64_t slot, int64_t device, Table* table);
  std::optional<Outputs> RunSide(Side side, Table* table, ArithmeticFacts* facts);

  const Pair& pair_;
  const InputSpace& space_;
  LeafCodes leaf_codes_;
  std::unique_ptr<CodeDomain> field_;
  bool small_integers_ = false;  // all integer inputs together have few bits
};

}  // namespace hv
