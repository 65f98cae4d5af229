// Runs compiled groups of elementwise instructions block by block.
#include "eval/elementwise_program.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.h"
#include "base/parallel.h"
#include "eval/move.h"
#include "eval/vector_isa.h"
#include "hlo/op.h"

namespace hv {
namespace {

constexpr int64_t kGrain = 16 * 1024;  // elements that are worth a thread

using Period = ElementwiseProgram::Period;

// out[k] = in[((begin + k) / inner) % extent].
template <class T>
void Spread(const void* in, const Period& period, int64_t begin, size_t count, void* out) {
  const T* from = static_cast<const T*>(in);
  T* to = static_cast<T*>(out);
  int64_t part = begin % period.inner, at = begin / period.inner % period.extent;
  for (T* const end = to + count; to != end;) {
    const int64_t left = end - to;
    if (period.inner == 1) {
      const int64_t run = std::min(left, period.extent - at);
      to = std::copy_n(from + at, run, to);
      at = 0;
      continue;
    }
    const int64_t run = std::min(left, period.inner - part);
    to = std::fill_n(to, run, from[at]);
    part = 0;
    if (++at == period.extent) at = 0;
  }
}

struct Wide128 {
  uint64_t low, high;
};

void SpreadAny(int width, const void* in, const Period& period, int64_t begin, size_t count,
               void* out) {
  switch (width) {
    case 1:
      return Spread<uint8_t>(in, period, begin, count, out);
    case 2:
      return Spread<uint16_t>(in, period, begin, count, out);
    case 4:
      return Spread<uint32_t>(in, period, begin, count, out);
    case 8:
      return Spread<uint64_t>(in, period, begin, count, out);
    default:
      return Spread<Wide128>(in, period, begin, count, out);
  }
}

template <class Count>
struct Ascent {
  Count* out;
  Count first;
  size_t count;
};

template <class Count>
HV_INLINE void FillAscent(const Ascent<Count>& a) {
  for (size_t k = 0; k < a.count; ++k) a.out[k] = a.first + static_cast<Count>(k);
}

// convert((begin + k) / inner % extent), counted in `Count`, whose element type is `counted`.
template <class Count>
void FillPositions(ElementType counted, ElementType type, const Period& period, int64_t begin,
                   size_t count, std::byte* out) {
  Count buffer[ElementwiseProgram::kMostBlock];
  Count* positions = counted == type ? reinterpret_cast<Count*>(out) : buffer;
  const bool ascends = period.inner == 1;  // a run of ascending positions, or of equal ones
  int64_t part = begin % period.inner, at = begin / period.inner % period.extent;
  for (size_t done = 0; done < count;) {
    const auto run = static_cast<size_t>(std::min(
        static_cast<int64_t>(count - done), ascends ? period.extent - at : period.inner - part));
    Count* const from = positions + done;
    const auto first = static_cast<Count>(at);
    if (ascends) {
      isa::Choose<Ascent<Count>, FillAscent<Count>, Isa::kAvx512>()({from, first, run});
    } else {
      std::fill_n(from, run, first);
    }
    done += run;
    part = 0;
    at = ascends ? 0 : (at + 1) % period.extent;
  }
  if (counted == type) return;
  const std::byte* in[1] = {reinterpret_cast<const std::byte*>(positions)};
  ScalarOp::Convert(counted, type)->Run(in, out, count);
}

// Cache-line aligned memory of this thread for at least `bytes`.
std::byte* Scratch(size_t bytes) {
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  static thread_local std::vector<Line> memory;
  if (memory.size() * sizeof(Line) < bytes) memory.resize(bytes / sizeof(Line) + 1);
  return reinterpret_cast<std::byte*>(memory.data());  // null when nothing is asked for
}

}  // namespace

void ElementwiseProgram::FillScalars(const std::byte* const* in, std::byte* slots,
                                     size_t count) const {
  for (const Register& r : registers_) {
    if (r.source == Source::kScalar && r.slot >= 0) {
      SpreadAny(HostBytes(r.type), in[r.operand], {static_cast<int64_t>(count), 1}, 0, count,
                Slot(slots, r.slot));
    }
  }
}

void ElementwiseProgram::FillLeaves(const std::byte* const* in, std::byte* slots, int64_t begin,
                                    size_t count) const {
  for (const Register& r : registers_) {
    if (r.source == Source::kSpread) {
      SpreadAny(HostBytes(r.type), in[r.operand], r.period, begin, count, Slot(slots, r.slot));
    } else if (r.source == Source::kPosition) {
      const bool narrow = r.period.extent <= std::numeric_limits<int32_t>::max();
      const auto fill = narrow ? FillPositions<int32_t> : FillPositions<int64_t>;
      fill(narrow ? ElementType::kS32 : ElementType::kS64, r.type, r.period, begin, count,
           Slot(slots, r.slot));
    }
  }
}

ElementwiseProgram::Bound ElementwiseProgram::Bind(const Step& step, const std::byte* const* in,
                                                   std::byte* out, std::byte* slots,
                                                   int64_t begin) const {
  Bound bound;
  bound.step = &step;
  for (size_t k = 0; k < step.registers.size(); ++k) {
    const Register& r = registers_[static_cast<size_t>(step.registers[k])];
    const bool in_memory = r.slot < 0 && r.source != Source::kScalar;
    bound.strides[k] = in_memory ? HostBytes(r.type) : 0;
    bound.places[k] = r.slot >= 0 ? Slot(slots, r.slot)
                      : r.operand < 0
                          ? out
                          : const_cast<std::byte*>(in[r.operand]);  // steps only read it
    bound.places[k] += begin * bound.strides[k];
  }
  return bound;
}

// The step on the next `count` elements.
void ElementwiseProgram::RunBound(Bound* bound, int64_t count) {
  const Step& step = *bound->step;
  if (step.loop != nullptr) {
    step.loop->Run(bound->places, count);
  } else if (step.kernel != nullptr) {
    SpanArgs a = step.arguments;
    a.count = static_cast<size_t>(count);
    for (size_t k = 0; k < step.operand_count; ++k) a.in[k] = bound->places[k];
    a.out = bound->places[step.operand_count];
    step.kernel(a);
  } else {
    step.op.Run({bound->places, step.operand_count}, bound->places[step.operand_count],
                static_cast<size_t>(count));
  }
  for (size_t k = 0; k < step.registers.size(); ++k) {
    bound->places[k] += count * bound->strides[k];
  }
}

void ElementwiseProgram::RunRange(const std::byte* const* in, std::byte* out, int64_t begin,
                                  int64_t end) const {
  std::byte* const slots = Scratch(static_cast<size_t>(slots_) * slot_bytes_);
  if (slots_ == 0) {  // nothing that should stay in the cache
    for (const Step& step : steps_) {
      Bound whole = Bind(step, in, out, slots, begin);
      RunBound(&whole, end - begin);
    }
    return;
  }
  static thread_local std::vector<Bound> bound;
  bound.clear();
  for (const Step& step : steps_) bound.push_back(Bind(step, in, out, slots, begin));
  FillScalars(in, slots, static_cast<size_t>(std::min(block_, end - begin)));
  for (int64_t done = begin; done < end; done += block_) {
    const int64_t count = std::min(block_, end - done);
    FillLeaves(in, slots, done, static_cast<size_t>(count));
    for (Bound& b : bound) RunBound(&b, count);
  }
}

Value ElementwiseProgram::Run(std::span<Value> operands) const {
  HV_CHECK(operands.size() == operands_.size(), "operands of an elementwise program");
  const std::byte* in[kMostOperands];
  for (size_t i = 0; i < operands.size(); ++i) {
    HV_CHECK(operands[i].IsNative() && operands[i].shape()->type == operand_types_[i],
             "an operand of another type than its instruction states");
    in[i] = operands[i].bytes().data();
  }
  Value result;
  for (const Register& r : registers_) {
    if (r.source != Source::kArray || HostBytes(r.type) != HostBytes(shape_->type)) continue;
    Value& operand = operands[static_cast<size_t>(r.operand)];
    if (!operand.IsUnique() || operand.element_count() != shape_->element_count) continue;
    result = std::exchange(operand, Value()).WithShape(shape_);
    break;
  }
  if (result.empty()) result = Value::NewNative(shape_);
  std::byte* const out = result.MutableBytes().data();
  if (slots_ == 0 && shape_->element_count == 1) {  // what loops count with
    for (const Step& step : steps_) {
      Bound one = Bind(step, in, out, nullptr, 0);
      RunBound(&one, 1);
    }
    return result;
  }
  ParallelFor(shape_->element_count, kGrain,
              [&](int64_t begin, int64_t end) { RunRange(in, out, begin, end); });
  return result;
}

}  // namespace hv
