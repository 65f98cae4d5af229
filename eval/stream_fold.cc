// The common reducers have loops that read up to eight streams side by side, which keeps the
// accumulator in a register; any other reducer folds blocks that stay in the first-level cache.
#include "eval/stream_fold.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/parallel.h"
#include "eval/combiner.h"
#include "eval/half_floats.h"
#include "eval/narrow_floats.h"
#include "eval/scalar_op.h"
#include "eval/span_float.h"
#include "eval/span_integers.h"

namespace hv {
namespace {

using Kernel = StreamFold::Kernel;
using Kernels = StreamFold::Kernels;

constexpr size_t kBlock = 1024;              // elements folded at a time where several passes are made
constexpr size_t kGrainBytes = size_t{1} << 18;  // read by one thread at least: it pays from here on

template <class Fn>
struct OnIntegers {
  template <class T>
  static T Apply(T x, T y) {
    return Fn::Apply(x, y, static_cast<int>(8 * sizeof(T)));
  }
};

inline Bf16 Round(float value, Bf16) { return {NarrowBf16(value)}; }
inline F16 Round(float value, F16) { return {NarrowF16(value)}; }

// In f32, rounded at every step.
template <class Fn>
struct OnHalves {
  template <class T>
  static T Apply(T x, T y) {
    return Round(Fn::template Apply<float>(x, y), T());
  }
};

template <class Fn, class T, class... Rest>
[[gnu::always_inline]] inline void Loop(T* out, size_t count, const T* first, const Rest*... rest) {
  HV_INDEPENDENT_LOOP
  for (size_t i = 0; i < count; ++i) {
    T folded = first[i];
    ((folded = Fn::Apply(folded, rest[i])), ...);
    out[i] = folded;
  }
}

template <class Fn, class T, size_t... k>
[[gnu::always_inline]] inline void LoopOver(const std::byte* const* in, std::byte* out,
                                            size_t count, std::index_sequence<k...>) {
  Loop<Fn>(reinterpret_cast<T*>(out), count, reinterpret_cast<const T*>(in[k])...);
}

template <class Fn, class T, size_t n>
void Plain(const std::byte* const* in, std::byte* out, size_t count) {
  LoopOver<Fn, T>(in, out, count, std::make_index_sequence<n>());
}

#if defined(__x86_64__)
// Sums of floats by the instruction itself, whose operands no compiler swaps: the NaN of the first
// stays, at no cost. (clang wants no asm of vectors that it is not yet compiled for.)
template <class Fn, class T>
constexpr bool kByInstruction =
#if defined(__clang__)
    false;
#else
    std::is_same_v<Fn, span::Add> && std::is_floating_point_v<T>;
#endif

template <class T>
struct Vector {
  typedef T Of32Bytes __attribute__((vector_size(32), aligned(alignof(T)), may_alias));
  static const Of32Bytes& At(const T* p) { return *reinterpret_cast<const Of32Bytes*>(p); }
  static Of32Bytes& At(T* p) { return *reinterpret_cast<Of32Bytes*>(p); }

  [[gnu::always_inline]] static void Add(const Of32Bytes& term, Of32Bytes* sum) {
    if constexpr (sizeof(T) == sizeof(float)) {
      asm("vaddps %1, %0, %0" : "+x"(*sum) : "m"(term));
    } else {
      asm("vaddpd %1, %0, %0" : "+x"(*sum) : "m"(term));
    }
  }
};

// Whole vectors; the number of elements that are done.
template <class T, class... Rest>
[[gnu::always_inline]] inline size_t AddVectors(T* out, size_t count, const T* first,
                                                const Rest*... rest) {
  constexpr size_t kLanes = 32 / sizeof(T);
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    auto sum = Vector<T>::At(first + i);
    (Vector<T>::Add(Vector<T>::At(rest + i), &sum), ...);
    Vector<T>::At(out + i) = sum;
  }
  return i;
}

template <class Fn, class T, size_t... k>
[[gnu::target("avx2"), gnu::always_inline]] inline void OnAvx2(const std::byte* const* in,
                                                               std::byte* out, size_t count,
                                                               std::index_sequence<k...>) {
  size_t done = 0;
  if constexpr (kByInstruction<Fn, T>) {
    done = AddVectors(reinterpret_cast<T*>(out), count, reinterpret_cast<const T*>(in[k])...);
  }
  Loop<Fn>(reinterpret_cast<T*>(out) + done, count - done,
           (reinterpret_cast<const T*>(in[k]) + done)...);
}

// Compiled for wider vectors where the machine has them.
template <class Fn, class T, size_t n>
[[gnu::target("avx2")]] void Avx2(const std::byte* const* in, std::byte* out, size_t count) {
  OnAvx2<Fn, T>(in, out, count, std::make_index_sequence<n>());
}
template <class Fn, class T, size_t n>
Kernel Choose() {
  return __builtin_cpu_supports("avx2") ? Avx2<Fn, T, n> : Plain<Fn, T, n>;
}
#else
template <class Fn, class T, size_t n>
Kernel Choose() {
  return Plain<Fn, T, n>;
}
#endif

template <class Fn, class T>
Kernels Make(size_t words = 1) {
  return {Choose<Fn, T, 2>(), Choose<Fn, T, 4>(), Choose<Fn, T, 8>(), words};
}

template <class Fn>
Kernels OfFloats(ElementType type) {
  switch (type) {
    case ElementType::kF32: return Make<Fn, float>();
    case ElementType::kF64: return Make<Fn, double>();
    case ElementType::kBF16: return Make<OnHalves<Fn>, Bf16>();
    case ElementType::kF16: return Make<OnHalves<Fn>, F16>();
    default: return {};
  }
}

// Wraps around: the same for signed and unsigned numbers. Types below 8 bits have a width of their own.
Kernels OfIntegerSums(ElementType type) {
  switch (BitWidth(type)) {
    case 8: return Make<OnIntegers<span::IntAdd>, uint8_t>();
    case 16: return Make<OnIntegers<span::IntAdd>, uint16_t>();
    case 32: return Make<OnIntegers<span::IntAdd>, uint32_t>();
    case 64: return Make<OnIntegers<span::IntAdd>, uint64_t>();
    default: return {};
  }
}

Kernels OfSums(ElementType type) {
  if (type == ElementType::kC64) return Make<span::Add, float>(2);
  if (type == ElementType::kC128) return Make<span::Add, double>(2);
  return IsInteger(type) ? OfIntegerSums(type) : OfFloats<span::Add>(type);
}

template <class OnFloat, class OnInteger>
Kernels OfExtremes(ElementType type) {
  if (type == ElementType::kS32) return Make<OnIntegers<OnInteger>, int32_t>();
  if (type == ElementType::kU32) return Make<OnIntegers<OnInteger>, uint32_t>();
  return OfFloats<OnFloat>(type);
}

template <class Fn>
Kernels OfBits(ElementType type) {
  if (!IsInteger(type) && !IsPred(type)) return {};
  return Make<OnIntegers<Fn>, uint8_t>(static_cast<size_t>(HostBytes(type)));
}

// What is not here has a loop over two operands all the same, run block by block.
Kernels Find(ScalarFn fn, ElementType type) {
  switch (fn) {
    case ScalarFn::kAdd: return OfSums(type);
    case ScalarFn::kMultiply: return OfFloats<span::Multiply>(type);
    case ScalarFn::kMaximum: return OfExtremes<span::Maximum, span::IntMaximum>(type);
    case ScalarFn::kMinimum: return OfExtremes<span::Minimum, span::IntMinimum>(type);
    case ScalarFn::kAnd: return OfBits<span::IntAnd>(type);
    case ScalarFn::kOr: return OfBits<span::IntOr>(type);
    case ScalarFn::kXor: return OfBits<span::IntXor>(type);
    default: return {};
  }
}

// Calls body(first, number) for blocks of a range.
template <class F>
void ForBlocks(size_t count, F body) {
  for (size_t at = 0; at < count; at += kBlock) body(at, std::min(kBlock, count - at));
}

}  // namespace

Result<StreamFold> StreamFold::Make(const Module& module, ComputationIndex reducer,
                                    ElementType type, bool accumulate_wide) {
  StreamFold fold(module, reducer, type);
  const Reducer known = RecognizeReducer(module, reducer);
  const bool rounds = known.fn == ScalarFn::kAdd || known.fn == ScalarFn::kMultiply;
  if (accumulate_wide && rounds && IsNarrowFloat(type)) {
    fold.wide_ = known.fn;
    return fold;
  }
  if (known.element == type) fold.kernels_ = Find(known.fn, type);
  if (fold.kernels_.of_two == nullptr) {
    HV_RETURN_IF_ERROR(MakeNativeCombiner(module, reducer, {&type, 1}));
  }
  return fold;
}

void StreamFold::Run(std::span<const std::byte* const> in, std::byte* out, size_t count) const {
  const size_t width = static_cast<size_t>(HostBytes(type_));
  const size_t grain = std::max(kBlock, kGrainBytes / (width * in.size()) / kBlock * kBlock);
  ParallelFor(static_cast<int64_t>(count), static_cast<int64_t>(grain),
              [&](int64_t begin, int64_t end) {
                std::vector<const std::byte*> streams(in.begin(), in.end());
                const size_t offset = static_cast<size_t>(begin) * width;
                for (const std::byte*& stream : streams) stream += offset;
                RunRange(streams, out + offset, static_cast<size_t>(end - begin));
              });
}

void StreamFold::RunRange(std::span<const std::byte* const> in, std::byte* out,
                          size_t count) const {
  if (in.size() == 1) {
    std::memmove(out, in[0], count * static_cast<size_t>(HostBytes(type_)));
  } else if (kernels_.of_two != nullptr) {
    RunKernels(in, out, count);
  } else if (wide_ != ScalarFn::kNone) {
    RunWide(in, out, count);
  } else {
    RunCombiner(in, out, count);
  }
}

// Eight, four or two streams at a time; from the second time on the result so far is the first.
void StreamFold::RunKernels(std::span<const std::byte* const> in, std::byte* out,
                            size_t count) const {
  const size_t width = static_cast<size_t>(HostBytes(type_));
  const auto fold_block = [&](size_t at, size_t now) {
    const std::byte* streams[8];
    size_t done = 0;
    while (done < in.size()) {
      const size_t held = done > 0 ? 1 : 0;
      const size_t left = in.size() - done + held;
      const size_t n = left >= 8 ? 8 : left >= 4 ? 4 : 2;
      streams[0] = out + at * width;
      for (size_t k = held; k < n; ++k) streams[k] = in[done++] + at * width;
      const Kernel kernel = n == 8   ? kernels_.of_eight
                            : n == 4 ? kernels_.of_four
                                     : kernels_.of_two;
      kernel(streams, out + at * width, now * kernels_.words);
    }
  };
  const bool one_pass = in.size() == 2 || in.size() == 4 || in.size() == 8;
  one_pass ? fold_block(0, count) : ForBlocks(count, fold_block);
}

void StreamFold::RunWide(std::span<const std::byte* const> in, std::byte* out,
                         size_t count) const {
  const ScalarOp op = *ScalarOp::Make(wide_, ElementType::kF32);
  const size_t width = static_cast<size_t>(HostBytes(type_));
  alignas(64) float sum[kBlock], term[kBlock];
  const std::byte* operands[2] = {reinterpret_cast<const std::byte*>(sum),
                                  reinterpret_cast<const std::byte*>(term)};
  ForBlocks(count, [&](size_t at, size_t now) {
    WidenFloats(type_, in[0] + at * width, sum, now);
    for (const std::byte* stream : in.subspan(1)) {
      WidenFloats(type_, stream + at * width, term, now);
      op.Run(operands, reinterpret_cast<std::byte*>(sum), now);
    }
    NarrowFloats(type_, sum, out + at * width, now);
  });
}

void StreamFold::RunCombiner(std::span<const std::byte* const> in, std::byte* out,
                             size_t count) const {
  const auto combiner = MakeNativeCombiner(*module_, reducer_, {&type_, 1});  // holds blocks of its own
  const size_t width = static_cast<size_t>(HostBytes(type_));
  ForBlocks(count, [&](size_t at, size_t now) {
    std::byte* const folded = out + at * width;
    if (folded != in[0] + at * width) std::memcpy(folded, in[0] + at * width, now * width);
    for (const std::byte* stream : in.subspan(1)) {
      const std::byte* const term = stream + at * width;
      HV_CHECK((*combiner)->Combine({&folded, 1}, {&term, 1}, now), "a reducer failed in mid-run");
    }
  });
}

}  // namespace hv
