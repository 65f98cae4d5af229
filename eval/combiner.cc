// Native reducers: one scalar op where the computation is recognised, a copy where it overwrites,
// the compiled computation otherwise.
#include "eval/combiner.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "eval/scalar_op.h"
#include "eval/scalar_program.h"
#include "eval/span_extreme.h"
#include "eval/span_float.h"
#include "eval/vector_isa.h"

namespace hv {
namespace {

constexpr int64_t kLineBytes = 64;

// Sums of short stretches here and there.
struct StretchArgs {
  std::byte* into;
  const std::byte* from;
  Stretches stretches, ahead;
  int64_t length;
};

template <class T>
HV_INLINE T Sum(T x, T y) {
  if constexpr (std::is_floating_point_v<T>) return span::Add::Apply(x, y);
  return static_cast<T>(x + y);
}

// Stretches of kBytes, or of any length (0), by vectors that the machine has.
template <class T, int64_t kBytes, int64_t kVectorBytes>
HV_INLINE void AddStretches(const StretchArgs& a) {
  constexpr int64_t kStep = kVectorBytes / static_cast<int64_t>(sizeof(T));
  typedef T Some __attribute__((vector_size(kVectorBytes), aligned(sizeof(T)), may_alias));
  T* into = reinterpret_cast<T*>(a.into);
  const T* from = reinterpret_cast<const T*>(a.from);
  const Stretches stretches = a.stretches, ahead = a.ahead;
  const int64_t length = kBytes > 0 ? kBytes / static_cast<int64_t>(sizeof(T)) : a.length;
  const int64_t bytes = length * static_cast<int64_t>(sizeof(T));
  for (size_t k = 0; k < stretches.count; ++k) {
    if (k < ahead.count) PrefetchLines<kBytes>(into + ahead.into[k], bytes, true);
    T* to = into + stretches.into[k];
    const T* terms = from + stretches.from[k];
    int64_t i = 0;
    for (; i + kStep <= length; i += kStep) {
      Some* const x = reinterpret_cast<Some*>(to + i);
      const Some y = *reinterpret_cast<const Some*>(terms + i);
      *x += std::is_floating_point_v<T> ? (*x == *x ? y : *x) : y;  // as Sum does
    }
    for (; i < length; ++i) to[i] = Sum(to[i], terms[i]);
  }
}

struct StretchKernels {
  void (*of_any)(const StretchArgs&) = nullptr;
  void (*of_a_line)(const StretchArgs&) = nullptr;
};

template <class T, int64_t kVectorBytes, Isa kWidest>
StretchKernels StretchSumBy() {
  return {isa::Choose<StretchArgs, AddStretches<T, 0, kVectorBytes>, kWidest>(),
          isa::Choose<StretchArgs, AddStretches<T, kLineBytes, kVectorBytes>, kWidest>()};
}

template <class T>
StretchKernels StretchSum() {
  return UsableIsa() >= Isa::kAvx512 ? StretchSumBy<T, 64, Isa::kAvx512>()
                                     : StretchSumBy<T, 32, Isa::kAvx2>();
}

// For sums of types that are stored as they are added; none for others.
StretchKernels FindStretchSum(ScalarFn fn, ElementType type) {
  if (fn != ScalarFn::kAdd) return {};
  if (type == ElementType::kF32) return StretchSum<float>();
  if (type == ElementType::kF64) return StretchSum<double>();
  if (!IsInteger(type)) return {};
  switch (BitWidth(type)) {
    case 8:
      return StretchSum<uint8_t>();
    case 16:
      return StretchSum<uint16_t>();
    case 32:
      return StretchSum<uint32_t>();
    case 64:
      return StretchSum<uint64_t>();
    default:
      return {};
  }
}

class OpCombiner : public Combiner {
 public:
  OpCombiner(ScalarOp op, ScalarFn fn, ElementType type)
      : op_(op),
        stretch_sum_(FindStretchSum(fn, type)),
        width_(BitWidth(type)),
        in_any_order_(IsInteger(type) || IsPred(type)),
        may_regroup_(in_any_order_ || fn == ScalarFn::kMaximum || fn == ScalarFn::kMinimum) {
    if (!IsNarrowFloat(type)) fold_ = FindFoldKernel(fn, ComputeTypeOf(type));
    extreme_ = FindExtremeKernel(fn, type);
  }
  Status Combine(std::span<std::byte* const> accumulators, std::span<const std::byte* const> values,
                 size_t count) override {
    const std::byte* in[2] = {accumulators[0], values[0]};
    op_.Run(in, accumulators[0], count);
    return {};
  }
  Status CombineStretches(std::span<std::byte* const> accumulators,
                          std::span<const std::byte* const> values, std::span<const int> widths,
                          const Stretches& stretches, const Stretches& ahead,
                          int64_t length) override {
    if (stretch_sum_.of_any == nullptr) {
      return Combiner::CombineStretches(accumulators, values, widths, stretches, ahead, length);
    }
    const bool lines = length * widths[0] == kLineBytes;
    (lines ? stretch_sum_.of_a_line : stretch_sum_.of_any)(
        {accumulators[0], values[0], stretches, ahead, length});
    return {};
  }
  bool FoldRun(std::byte* accumulator, const std::byte* values, size_t count) override {
    SpanArgs a;
    a.in[0] = values;
    a.out = accumulator;
    a.count = count;
    a.width = width_;
    if (extreme_ != nullptr && count > 0) {
      uint64_t winner = 0;
      a.out = &winner;
      extreme_(a);
      const std::byte* in[2] = {accumulator, reinterpret_cast<const std::byte*>(&winner)};
      op_.Run(in, accumulator, 1);
      return true;
    }
    if (fold_ == nullptr) return false;
    fold_(a);
    return true;
  }
  bool IsStateless() const override { return true; }
  // The greatest that comes first, in any grouping: of equal operands the left one wins.
  bool MayRegroup() const override { return may_regroup_; }
  bool PrefersRuns() const override {
    return extreme_ != nullptr || (fold_ != nullptr && in_any_order_);
  }

 private:
  ScalarOp op_;
  SpanKernel fold_ = nullptr, extreme_ = nullptr;
  StretchKernels stretch_sum_;
  int width_;
  bool in_any_order_;  // vectorises along a run
  bool may_regroup_;
};

class CopyCombiner : public Combiner {
 public:
  explicit CopyCombiner(int width) : width_(width) {}
  Status Combine(std::span<std::byte* const> accumulators, std::span<const std::byte* const> values,
                 size_t count) override {
    std::memcpy(accumulators[0], values[0], count * static_cast<size_t>(width_));
    return {};
  }

 private:
  int width_;
};

class ProgramCombiner : public Combiner {
 public:
  ProgramCombiner(ScalarProgram program, ReducerOrder order)
      : program_(std::move(program)), order_(order) {}
  Status Combine(std::span<std::byte* const> accumulators, std::span<const std::byte* const> values,
                 size_t count) override {
    arguments_.assign(accumulators.begin(), accumulators.end());
    const auto at =
        order_ == ReducerOrder::kAccumulatorFirst ? arguments_.end() : arguments_.begin();
    arguments_.insert(at, values.begin(), values.end());
    program_.Run(arguments_, accumulators, count);
    return {};
  }

 private:
  ScalarProgram program_;
  ReducerOrder order_;
  std::vector<const std::byte*> arguments_;
};

Status CheckTypes(const ScalarProgram& program, std::span<const ElementType> types) {
  const std::span<const ElementType> parameters = program.parameter_types();
  const bool fits =
      parameters.size() == 2 * types.size() &&
      std::equal(types.begin(), types.end(), parameters.begin()) &&
      std::equal(types.begin(), types.end(), parameters.begin() + std::ssize(types)) &&
      std::equal(types.begin(), types.end(), program.result_types().begin(),
                 program.result_types().end());
  if (fits) return {};
  return Unsupported("unsupported-op", "a reducer over other types than its operands");
}

}  // namespace

Status Combiner::CombineStretches(std::span<std::byte* const> accumulators,
                                  std::span<const std::byte* const> values,
                                  std::span<const int> widths, const Stretches& stretches,
                                  const Stretches& ahead, int64_t length) {
  std::vector<std::byte*> into(accumulators.size());
  std::vector<const std::byte*> from(values.size());
  for (size_t i = 0; i < stretches.count; ++i) {
    for (size_t k = 0; k < into.size(); ++k) {
      if (i < ahead.count) {
        PrefetchLines(accumulators[k] + ahead.into[i] * widths[k], length * widths[k], true);
      }
      into[k] = accumulators[k] + stretches.into[i] * widths[k];
      from[k] = values[k] + stretches.from[i] * widths[k];
    }
    HV_RETURN_IF_ERROR(Combine(into, from, static_cast<size_t>(length)));
  }
  return {};
}

bool ReturnsParameter(const Module& module, ComputationIndex computation, int64_t parameter) {
  const Computation& body = module.At(computation);
  return body.Root().opcode == Opcode::kParameter && body.Root().parameter_number == parameter;
}

Result<std::unique_ptr<Combiner>> MakeNativeCombiner(const Module& module,
                                                     ComputationIndex computation,
                                                     std::span<const ElementType> types,
                                                     ReducerOrder order) {
  std::unique_ptr<Combiner> made;
  if (types.size() == 1) {
    const ElementType type = types[0];
    const Reducer reducer = RecognizeReducer(module, computation);
    const auto op = reducer.fn == ScalarFn::kNone || reducer.element != type ||
                            order == ReducerOrder::kValueFirst
                        ? std::nullopt
                        : ScalarOp::Make(reducer.fn, type);
    if (op) {
      made = std::make_unique<OpCombiner>(*op, reducer.fn, type);
    } else if (ReturnsParameter(module, computation,
                                order == ReducerOrder::kAccumulatorFirst ? 1 : 0)) {
      made = std::make_unique<CopyCombiner>(HostBytes(type));
    }
    if (made != nullptr) return made;
  }
  HV_ASSIGN(ScalarProgram program, ScalarProgram::Compile(module, computation));
  HV_RETURN_IF_ERROR(CheckTypes(program, types));
  made = std::make_unique<ProgramCombiner>(std::move(program), order);
  return made;
}

}  // namespace hv
