// Exact runs of both modules in code domains: magnitude, random codes in F_p x F_p, and the power
// sums that turn them into a proof for linear programs. All in this process, whatever the mesh.
// Source: exact inputs as an error-correcting code.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "eval/code_domain.h"
#include "verify/arithmetic_facts.h"
#include "verify/decide.h"
#include "verify/decode.h"
#include "verify/leaf_codes.h"
#include "verify/native_input.h"
#include "verify/pair.h"

namespace hv {

struct CodeFindings {
  std::array<std::optional<Stall>, 2> stall;  // by side
  std::optional<Error> error;                 // why the code domain cannot run the pair
  Side failed = Side::kBefore;                // the side it was that could not
  int64_t discarded = 0;                      // runs on which the module before is undefined
  std::array<ArithmeticFacts, 2> facts;       // by side
  double weight = 0;                          // largest gross weight of an output
  std::optional<OutputPlace> difference;
  std::optional<Proof> proof;  // by power sums
  std::vector<Evidence> evidence;
  bool signs_of_zero = false;  // functions of zeros hang on their signs, which codes do not have
  std::string precision;       // sums moved to other types: "wider", ...
  // Parameters that decide control: they held concrete values, not codes.
  std::vector<int64_t> concrete_parameters;
};

class ExactRuns {
 public:
  // References must outlive it.
  ExactRuns(const Pair& pair, const InputSpace& space, const InputPlan& plan,
            const std::vector<std::optional<InputRange>>& ranges);
  ~ExactRuns();

  // Everything up to the first difference; `prove`: power sums too.
  CodeFindings Run(bool prove);

  // After Run(): do the outputs differ if only these leaves (sorted ids) hold codes and all others
  // are zero? Not an error: a run that is impossible shows no difference.
  std::optional<OutputPlace> DifferenceOn(const std::vector<int64_t>& active);

  // After Run() found a difference of linear programs: the summands that are wrong there. Empty if
  // they cannot be told.
  std::vector<WrongSummand> WrongSummands(const CodeFindings& findings);

 private:
  // What the leaves hold in one run.
  struct Codes {
    enum class Kind : uint8_t { kOnes, kPowers, kSets, kWrapped };
    Kind kind = Kind::kOnes;
    int64_t power = 1;                             // kPowers; kSets: the leaf in bit 0
    const std::vector<int64_t>* active = nullptr;  // other leaves are zero; null: all hold codes
    uint64_t trial = 0;                            // of concrete parameters, of kWrapped
  };
  static constexpr int64_t kCodeRuns = 4;  // certain for as many wrong summands

  uint64_t FieldSeed() const;
  Result<RunOutcome> RunSide(Side side, CodeDomain* domain, const Codes& codes,
                             ArithmeticFacts* facts);
  Result<std::array<RunOutcome, 2>> RunBoth(CodeDomain* domain, const Codes& codes,
                                            CodeFindings* findings);
  SlotFill Fill(CodeDomain* domain, const Codes& codes) const;
  uint64_t Word(const Codes& codes, const Leaf& leaf, int component) const;
  uint64_t ImageWord(const Codes& codes, int64_t leaf) const;
  bool Weigh(CodeFindings* findings);
  bool ChooseConcreteSlots(CodeFindings* findings);
  void RunCodes(CodeFindings* findings);
  std::optional<Fp> ExcessAt(const OutputPlace& place, int64_t power);
  void RunPowerSums(CodeFindings* findings);
  void RunSets(CodeFindings* findings);
  void RunIntegers(CodeFindings* findings);
  bool AgreeInPowers(CodeDomain* domain, int64_t from, int64_t to, CodeFindings* findings);
  void NoteOutputs(const std::array<RunOutcome, 2>& outcomes, CodeFindings* findings) const;

  const Pair& pair_;
  const InputSpace& space_;
  const InputPlan& plan_;
  const std::vector<std::optional<InputRange>>& ranges_;
  std::vector<bool> concrete_;  // by slot
  LeafCodes leaf_codes_;
  std::unique_ptr<CodeDomain> field_;
};

}  // namespace hv
