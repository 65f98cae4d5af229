// The three passes under test, as the hlo-opt binary of AWS Neuron has them, unsound corners
// included. Source: the published reconstruction of xla::hilo::RewriteAllReduceDynamicSlice,
// RewriteAllReduceDynamicSliceMultipleGroups and DeletePermute (neuron_cc 2.24.5133.0).
#pragma once

#include <optional>
#include <string>

#include "passes/op_expander.h"
#include "passes/shard_slice.h"

namespace hv {

// aws_neuron_rewrite_all_reduce_dynamic_slice: one replica group, offset partition-id * slice size.
// A combined (tuple-shaped) all-reduce is read through a get-tuple-element, hence never matches.
class RewriteAllReduceDynamicSlice : public OpExpander {
 public:
  bool IsCandidate(const Instruction& instruction) const override;
  std::optional<std::string> WhyNot(const Site& site) override;
  // The emitter shared by both passes: always a fresh channel id, whatever the all-reduce has.
  Result<InstructionIndex> Expand(const Site& site, Rebuild* rebuild) override;

 protected:
  // Above every id of the module, each call one more; an expander serves one module.
  int64_t FreshChannelId(const Module& module);

 private:
  int64_t last_channel_id_ = 0;
};

// The two readings of the `repeated` pool of the multiple-groups matcher, for G groups of g
// members: entry p is p / G (the position in the group, if groups are strided) or p / g (the
// group).
enum class RepeatedPool { kPosition, kGroup };

// aws_neuron_rewrite_all_reduce_dynamic_slice_multiple_groups: groups of one width, the offset
// comes from a constant pool indexed by partition-id.
class RewriteAllReduceDynamicSliceMultipleGroups : public RewriteAllReduceDynamicSlice {
 public:
  explicit RewriteAllReduceDynamicSliceMultipleGroups(RepeatedPool reading) : reading_(reading) {}
  std::optional<std::string> WhyNot(const Site& site) override;

 protected:
  // Is the pool one of the three ramps? `groups` of `width` members, slices of `size`.
  virtual bool IsRamp(const Literal& pool, int64_t groups, int64_t width, int64_t size) const;

 private:
  RepeatedPool reading_;
};

// aws_neuron_delete_permute: every all-reduce and collective-permute gives way to its operand 0. On
// a combined (tuple-shaped) one the shapes do not fit, which the driver reports as an error.
class DeletePermute : public OpExpander {
 public:
  bool IsCandidate(const Instruction& instruction) const override;
  std::optional<std::string> WhyNot(const Site& site) override;
  Result<InstructionIndex> Expand(const Site& site, Rebuild* rebuild) override;
  std::string Describe(const Instruction& replacement) const override;
};

}  // namespace hv
