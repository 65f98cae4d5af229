// Loops compiled once per vector width; the one that this machine runs best is chosen when it is
// looked up. Contraction is off, so all of them give the same bits; fused multiply-adds are written
// out where they are meant.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#define HV_X86 1
#else
#define HV_X86 0
#endif

// What a loop calls must be inlined, or it would be compiled for the narrowest vectors.
#define HV_INLINE [[gnu::always_inline]] inline

#define HV_AVX2 "avx2,fma"
#if defined(__clang__)
#define HV_AVX512 "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl"
#else
#define HV_AVX512 "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512"
#endif

namespace hv {

enum class Isa : uint8_t { kBase, kAvx2, kAvx512 };

// The widest vectors of this machine, or what LimitIsa has set.
Isa UsableIsa();
// For tests: loops looked up from now on use at most these.
void LimitIsa(Isa widest);

namespace isa {
#if HV_X86
template <auto kLoop, class A>
[[gnu::target(HV_AVX2)]] void OnAvx2(const A& a) {
  kLoop(a);
}
template <auto kLoop, class A>
[[gnu::target(HV_AVX512)]] void OnAvx512(const A& a) {
  kLoop(a);
}
#endif

template <class A, void (*kLoop)(const A&), Isa kWidest>
auto Choose() -> void (*)(const A&) {
#if HV_X86
  const Isa usable = UsableIsa();
  if (kWidest >= Isa::kAvx512 && usable >= Isa::kAvx512) return OnAvx512<kLoop, A>;
  if (usable >= Isa::kAvx2) return OnAvx2<kLoop, A>;
#endif
  return kLoop;
}
}  // namespace isa

}  // namespace hv
