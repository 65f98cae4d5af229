// The sound counterpart of aws_neuron_delete_permute: deletes a collective only where it gives
// every device its own operand back. That is so if every device is alone in its (effective) group,
// if every device is exactly its own source, or if the reducer is idempotent and the operand
// provably the same on all members.
#pragma once

#include "hlo/groups.h"
#include "hlo/op.h"
#include "hlo/validator.h"
#include "passes/op_expander.h"

namespace hv {

class DeleteIdentityCollectives : public OpExpander {
 public:
  explicit DeleteIdentityCollectives(DeviceCounts counts) : counts_(counts) {}
  bool IsCandidate(const Instruction& instruction) const override;
  std::optional<std::string> WhyNot(const Site& site) override;
  Result<InstructionIndex> Expand(const Site& site, Rebuild* rebuild) override;
  std::string Describe(const Instruction& replacement) const override;

 protected:
  // The steps a wrong twin gets wrong.
  virtual std::vector<std::vector<DeviceId>> GroupsOf(const Instruction& collective) const;
  virtual std::optional<std::string> WhyNotOwnSource(const Instruction& permute) const;
  virtual bool IsIdempotent(const Reducer& reducer) const;
  virtual bool AgreesOnMembers(const Site& site, const std::vector<std::vector<DeviceId>>& groups);

  DeviceCounts counts() const { return counts_; }

 private:
  std::optional<std::string> WhyNotAlone(const Site& site);

  DeviceCounts counts_;
};

}  // namespace hv
