// The native domain: HLO's own types. Every kernel kind goes to its file; movement is
// element-blind.
#include <memory>
#include <utility>

#include "eval/gather_scatter.h"
#include "eval/hidden_state.h"
#include "eval/in_order_domain.h"
#include "eval/move.h"
#include "eval/native_kernels.h"

namespace hv {
namespace {

class NativeDomain : public Domain {
 public:
  NativeDomain(bool sums_wide, std::optional<uint64_t> seed) : sums_wide_(sums_wide) {
    if (seed) random_.emplace(*seed);
  }
  std::string_view name() const override { return "native"; }
  bool IsNative() const override { return true; }
  std::unique_ptr<PreparedKernel> Prepare(const KernelCall& call) override {
    return PrepareNative(call);
  }

  Result<Value> Scalar(const KernelCall& call, std::vector<Value> operands) override {
    return NativeScalar(call, std::move(operands));
  }
  Result<Value> Reduce(const KernelCall& call, std::vector<Value> operands) override {
    return NativeReduce(call, std::move(operands), sums_wide_);
  }
  Result<Value> Window(const KernelCall& call, std::vector<Value> operands) override {
    return NativeWindow(call, std::move(operands));
  }
  Result<Value> Contract(const KernelCall& call, std::vector<Value> operands) override {
    return NativeContract(call, std::move(operands));
  }
  Result<Value> Gather(const KernelCall& call, std::vector<Value> operands) override {
    const IndexPlan plan =
        PlanGather(call.instruction, *operands[0].shape(), *operands[1].shape(), *call.shape);
    return GatherWith(plan, operands[0], operands[1], call.shape);
  }
  Result<Value> Scatter(const KernelCall& call, std::vector<Value> operands) override {
    return NativeScatter(call, std::move(operands));
  }
  Result<Value> Opaque(const KernelCall& call, std::vector<Value> operands) override {
    return NativeOpaque(call, std::move(operands));
  }
  Result<Value> Map(const KernelCall& call, std::vector<Value> operands) override {
    return NativeMap(call, std::move(operands));
  }
  Result<Value> Move(const Shape* shape, const Pieces& pieces,
                     std::vector<Value> operands) override {
    return MovePieces(shape, pieces, std::move(operands));
  }
  Result<Value> Fold(const Module& module, ComputationIndex reducer, std::vector<Value> values,
                     bool accumulate_wide) override {
    return NativeFold(module, reducer, std::move(values), accumulate_wide);
  }
  Result<Value> HiddenRandom(const KernelCall& call, std::vector<Value> operands, int64_t replica,
                             int64_t partition) override {
    if (random_) return random_->Draw(call, operands, replica, partition);
    return Domain::HiddenRandom(call, std::move(operands), replica, partition);
  }

 private:
  const bool sums_wide_;
  std::optional<HiddenState> random_;
};

}  // namespace

std::unique_ptr<Domain> MakeNativeDomain(std::optional<uint64_t> seed) {
  return std::make_unique<NativeDomain>(true, seed);
}
std::unique_ptr<Domain> MakeInOrderDomain() {
  return std::make_unique<NativeDomain>(false, std::nullopt);
}

tl::unexpected<Error> NotImplemented(const KernelCall& call, std::string_view why) {
  std::string message(ToString(call.instruction.opcode));
  if (!why.empty()) message.append(": ").append(why);
  return Unsupported("unsupported-op", std::move(message));
}

std::span<const Shape* const> ResultShapes(const KernelCall& call) {
  if (call.shape->IsTuple()) return call.shape->elements;
  return {&call.shape, 1};
}

Value PackResults(const KernelCall& call, std::vector<Value> results) {
  if (call.shape->IsTuple()) return Value::Tuple(call.shape, std::move(results));
  return std::move(results[0]);
}

std::vector<ElementType> ParameterTypes(const Module& module, ComputationIndex computation,
                                        size_t count) {
  const Computation& body = module.At(computation);
  std::vector<ElementType> types;
  for (size_t k = 0; k < count; ++k) types.push_back(body.At(body.parameters[k]).shape->type);
  return types;
}

}  // namespace hv
