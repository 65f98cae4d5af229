// A domain that hands everything to another one and looks at, or changes, each result. Whoever
// needs more overrides single kinds.
#pragma once

#include <utility>
#include <vector>

#include "eval/domain.h"

namespace hv {

class ForwardingDomain : public Domain {
 public:
  // `inner` must outlive it.
  explicit ForwardingDomain(Domain* inner) : inner_(*inner) {}

  std::string_view name() const override { return inner_.name(); }
  bool IsNative() const override { return inner_.IsNative(); }
  int code_bytes() const override { return inner_.code_bytes(); }
  Result<Value> Constant(const Literal& literal) override { return inner_.Constant(literal); }
  std::optional<Value> Concrete(const Value& value) const override {
    return inner_.Concrete(value);
  }
  void EnterCollective(const Instruction& collective, std::span<const DeviceId> group) override {
    inner_.EnterCollective(collective, group);
  }

  Result<Value> Scalar(const KernelCall& call, std::vector<Value> operands) override {
    return Seen(inner_.Scalar(call, std::move(operands)));
  }
  Result<Value> Reduce(const KernelCall& call, std::vector<Value> operands) override {
    return Seen(inner_.Reduce(call, std::move(operands)));
  }
  Result<Value> Window(const KernelCall& call, std::vector<Value> operands) override {
    return Seen(inner_.Window(call, std::move(operands)));
  }
  Result<Value> Contract(const KernelCall& call, std::vector<Value> operands) override {
    return Seen(inner_.Contract(call, std::move(operands)));
  }
  Result<Value> Gather(const KernelCall& call, std::vector<Value> operands) override {
    return Seen(inner_.Gather(call, std::move(operands)));
  }
  Result<Value> Scatter(const KernelCall& call, std::vector<Value> operands) override {
    return Seen(inner_.Scatter(call, std::move(operands)));
  }
  Result<Value> Opaque(const KernelCall& call, std::vector<Value> operands) override {
    return Seen(inner_.Opaque(call, std::move(operands)));
  }
  Result<Value> Map(const KernelCall& call, std::vector<Value> operands) override {
    return Seen(inner_.Map(call, std::move(operands)));
  }
  Result<Value> Move(const Shape* shape, const Pieces& pieces,
                     std::vector<Value> operands) override {
    return Seen(inner_.Move(shape, pieces, std::move(operands)));
  }
  Result<Value> Fold(const Module& module, ComputationIndex reducer, std::vector<Value> values,
                     bool accumulate_wide) override {
    return Seen(inner_.Fold(module, reducer, std::move(values), accumulate_wide));
  }
  Result<Value> Iota(const KernelCall& call) override { return Seen(inner_.Iota(call)); }
  Result<Value> ElidedConstant(const Instruction& constant) override {
    return Seen(inner_.ElidedConstant(constant));
  }
  Result<Value> DataDependentView(const KernelCall& call, std::vector<Value> operands) override {
    return Seen(inner_.DataDependentView(call, std::move(operands)));
  }

 private:
  virtual Result<Value> Seen(Result<Value> result) = 0;

  Domain& inner_;
};

}  // namespace hv
