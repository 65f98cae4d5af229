// f32 functions that are odd and level off: tanh and erf. Stretches of the argument have a
// polynomial each, f(c + h) = f(c) + h S(h), about a point c where f(c) is all but a float; below
// 1/4 it is x + x S(x). Within 1 ulp, with one rounding that counts. The 16 rows are what one
// permutation of 512 bits looks up; narrower machines read them from memory. Coefficients: weighted
// minimax fits.
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <bit>
#include <cmath>

#include "eval/span_loops.h"

namespace hv::span {
namespace {

constexpr int kRows = 16;
constexpr int kDegree = 5;
constexpr float kSmall = 0.25f;
constexpr int kRowShift = 21;  // leaves the exponent and two bits of the mantissa

// A row for each quarter octave of |x| + 1, by the low bits of what the shift leaves. From `limit`
// on the function is 1.
struct alignas(64) Table {
  float limit;
  alignas(64) float center[kRows];
  alignas(64) float value[kRows];
  alignas(64) float slope[kDegree + 1][kRows];
};

constexpr Table kTanh = {
    9,
    {0x1.3fed1ep0f, 0x1.bff09ap0f, 0x1.1ff226p1f, 0x1.5fe7f2p1f, 0x1.c01338p1f, 0x1.1fe142p2f,
     0x1.5fe8bep2f, 0x1.9fef28p2f, 0x1.fe2804p2f, 0x1.2p3f, 0, 0, 0, 0x1.80169p-2f,
     0x1.400dfap-1f, 0x1.c0129cp-1f},
    {0x1.b247a4p-1f, 0x1.e1f878p-1f, 0x1.f4bd6ep-1f, 0x1.fbd37ap-1f, 0x1.ff1174p-1f,
     0x1.ffdf88p-1f, 0x1.fffb9cp-1f, 0x1.ffff68p-1f, 0x1.fffff8p-1f, 0x1.0p0f, 0, 0, 0,
     0x1.6f08e8p-2f, 0x1.1bfe2cp-1f, 0x1.686fb4p-1f},
    {
        {0x1.1f48fcp-2f, 0x1.d26162p-4f, 0x1.645bfp-5f, 0x1.0a0ac4p-6f, 0x1.dcab22p-9f,
         0x1.03b92ap-11f, 0x1.190054p-14f, 0x1.30017ep-17f, 0x1.0060dep-21f, 0, 0, 0,
         0x1.6e442ap-28f, 0x1.be38aep-1f, 0x1.627a08p-1f, 0x1.0242d2p-1f},
        {-0x1.e75a3p-3f, -0x1.b706ccp-4f, -0x1.5c859cp-5f, -0x1.07df88p-6f, -0x1.dbcc5ep-9f,
         -0x1.03a81cp-11f, -0x1.18fd5ap-14f, -0x1.300098p-17f, -0x1.000f12p-21f, 0, 0, 0,
         -0x1.a1efep-20f, -0x1.3fe178p-2f, -0x1.893cd2p-2f, -0x1.6b9eb6p-2f},
        {0x1.bbc34p-4f, 0x1.01d822p-4f, 0x1.bc25a2p-6f, 0x1.5a1234p-7f, 0x1.3bbf5p-9f,
         0x1.59acf4p-12f, 0x1.763b0ap-15f, 0x1.94e6cp-18f, 0x1.4f40c4p-22f, 0, 0, 0,
         -0x1.5541fep-2f, -0x1.6da4fp-3f, -0x1.2354dp-6f, 0x1.4f3b0ep-4f},
        {-0x1.9b79bcp-7f, -0x1.817f94p-6f, -0x1.9414e6p-7f, -0x1.4eb1a6p-8f, -0x1.397f92p-10f,
         -0x1.596eb4p-13f, -0x1.764582p-16f, -0x1.94fa82p-19f, -0x1.535bb2p-23f, 0, 0, 0,
         -0x1.504c22p-10f, 0x1.586b8ep-3f, 0x1.1a50fp-3f, 0x1.f1fe0cp-5f},
        {-0x1.43054p-6f, 0x1.c82a1cp-9f, 0x1.04c634p-8f, 0x1.f6927ep-10f, 0x1.00be8p-11f,
         0x1.1f7efp-14f, 0x1.382ff8p-17f, 0x1.51eb16p-20f, 0x1.413936p-24f, 0, 0, 0,
         0x1.25dbe2p-3f, 0x1.3265c8p-6f, -0x1.bc5692p-5f, -0x1.e1038p-5f},
        {0x1.eed9fap-7f, 0x1.137aa2p-9f, -0x1.776178p-11f, -0x1.1e02e6p-11f, -0x1.4aac78p-13f,
         -0x1.7b7532p-16f, -0x1.9dfacap-19f, -0x1.c0ad14p-22f, -0x1.928866p-26f, 0, 0, 0,
         -0x1.33be04p-5f, -0x1.24be18p-4f, -0x1.7e227cp-6f, 0x1.757354p-7f},
    }};


constexpr Table kErf = {
    4,
    {0x1.3fe7fcp0f, 0x1.c005b8p0f, 0x1.1ffc88p1f, 0x1.6003dap1f, 0x1.c0ac1ap1f, 0x1.0p2f, 0, 0, 0,
     0, 0, 0, 0, 0x1.800baap-2f, 0x1.400fcp-1f, 0x1.c0091ep-1f},
    {0x1.d87bp-1f, 0x1.f92da2p-1f, 0x1.ff402ep-1f, 0x1.fff2d2p-1f, 0x1.ffffe8p-1f, 0x1.0p0f, 0, 0,
     0, 0, 0, 0, 0, 0x1.9ddc42p-2f, 0x1.3f2574p-1f, 0x1.917712p-1f},
    {
        {0x1.e4d6dep-3f, 0x1.b0331p-5f, 0x1.d44d0ap-8f, 0x1.333032p-11f, 0x1.63b8f2p-18f, 0, 0, 0,
         0, 0, 0, 0, 0x1.06eba8p-3f, 0x1.f5ec84p-1f, 0x1.86da62p-1f, 0x1.0ca302p-1f},
        {-0x1.2eefa6p-2f, -0x1.7a31b8p-4f, -0x1.076804p-6f, -0x1.a6643ap-10f, -0x1.35b3ccp-16f, 0,
         0, 0, 0, 0, 0, 0, -0x1.21348p-21f, -0x1.787ccep-2f, -0x1.e8a8fap-2f, -0x1.d626e2p-2f},
        {0x1.571b98p-3f, 0x1.714c64p-4f, 0x1.641afap-6f, 0x1.69532p-9f, 0x1.3b755cp-15f, 0, 0, 0,
         0, 0, 0, 0, -0x1.811ea2p-2f, -0x1.e0f73cp-3f, -0x1.c76d1p-5f, 0x1.7cbff4p-4f},
        {-0x1.8bac8ep-8f, -0x1.8a1238p-5f, -0x1.38d936p-6f, -0x1.aac4cep-9f, -0x1.022b58p-14f, 0,
         0, 0, 0, 0, 0, 0, -0x1.4706ep-11f, 0x1.5527a4p-3f, 0x1.694a3ep-3f, 0x1.cc6b68p-4f},
        {-0x1.7faba4p-5f, 0x1.87a114p-8f, 0x1.5ad314p-7f, 0x1.7236dp-9f, 0x1.bd5498p-14f, 0, 0, 0,
         0, 0, 0, 0, 0x1.e31eaep-4f, 0x1.73a6e6p-5f, -0x1.b8733ep-6f, -0x1.124c76p-4f},
        {0x1.4fc1f6p-6f, 0x1.291a26p-7f, -0x1.6add06p-9f, -0x1.b56e48p-10f, -0x1.97feeap-14f, 0,
         0, 0, 0, 0, 0, 0, -0x1.386becp-6f, -0x1.93a7c4p-5f, -0x1.463f9cp-5f, -0x1.84c552p-7f},
    }};


HV_INLINE float Fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }

template <const Table& t>
HV_INLINE void Loop(const SpanArgs& a) {
  const float* x = In<float>(a, 0);
  float* out = static_cast<float*>(a.out);
  const auto& s = t.slope;
  HV_INDEPENDENT_LOOP
  for (size_t i = 0; i < a.count; ++i) {
    const float magnitude = std::fabs(x[i]);
    const float y = t.limit < magnitude ? t.limit : magnitude;  // a NaN stays
    const uint32_t row = std::bit_cast<uint32_t>(y + 1) >> kRowShift & (kRows - 1);
    const float h = y - t.center[row], q = h * h;
    // Even and odd powers side by side: a shorter chain.
    const float even = Fma(Fma(s[4][row], q, s[2][row]), q, s[0][row]);
    const float odd = Fma(Fma(s[5][row], q, s[3][row]), q, s[1][row]);
    const float base = y < kSmall ? y : t.value[row];
    out[i] = std::copysign(Fma(h, Fma(odd, h, even), base), x[i]);
  }
}

#if HV_X86
#if !defined(__clang__)
// GCC 12 takes the undefined registers of its own header for a mistake.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#define HV_AVX512_INLINE [[gnu::target(HV_AVX512), gnu::always_inline]] inline

constexpr size_t kLanes = 16;

HV_AVX512_INLINE __m512 LookUp(const float* column, __m512i row) {
  return _mm512_permutexvar_ps(row, _mm512_load_ps(column));
}
HV_AVX512_INLINE __m512 Fma(__m512 x, __m512 y, __m512 z) { return _mm512_fmadd_ps(x, y, z); }

// The same, step by step, on 16 arguments.
template <const Table& t>
HV_AVX512_INLINE __m512 Apply(__m512 x) {
  const auto& s = t.slope;
  const __m512 sign = _mm512_set1_ps(-0.0f);
  const __m512 y = _mm512_min_ps(_mm512_set1_ps(t.limit), _mm512_andnot_ps(sign, x));
  const __m512 from_one = _mm512_add_ps(y, _mm512_set1_ps(1));
  const __m512i row = _mm512_srli_epi32(_mm512_castps_si512(from_one), kRowShift);
  const __m512 h = _mm512_sub_ps(y, LookUp(t.center, row)), q = _mm512_mul_ps(h, h);
  const __m512 even = Fma(Fma(LookUp(s[4], row), q, LookUp(s[2], row)), q, LookUp(s[0], row));
  const __m512 odd = Fma(Fma(LookUp(s[5], row), q, LookUp(s[3], row)), q, LookUp(s[1], row));
  const __mmask16 large = _mm512_cmp_ps_mask(y, _mm512_set1_ps(kSmall), _CMP_NLT_UQ);
  const __m512 base = _mm512_mask_permutexvar_ps(y, large, row, _mm512_load_ps(t.value));
  return _mm512_or_ps(Fma(h, Fma(odd, h, even), base), _mm512_and_ps(sign, x));
}

template <const Table& t>
[[gnu::target(HV_AVX512)]] void LoopAvx512(const SpanArgs& a) {
  const float* x = In<float>(a, 0);
  float* out = static_cast<float*>(a.out);
  size_t i = 0;
  for (; i + 2 * kLanes <= a.count; i += 2 * kLanes) {
    const __m512 first = Apply<t>(_mm512_loadu_ps(x + i));
    const __m512 second = Apply<t>(_mm512_loadu_ps(x + i + kLanes));
    _mm512_storeu_ps(out + i, first);
    _mm512_storeu_ps(out + i + kLanes, second);
  }
  for (; i < a.count; i += kLanes) {
    const size_t left = a.count - i;
    const auto lanes = static_cast<__mmask16>(left < kLanes ? (1u << left) - 1 : ~0u);
    const __m512 result = Apply<t>(_mm512_maskz_loadu_ps(lanes, x + i));
    _mm512_mask_storeu_ps(out + i, lanes, result);
  }
}

template <const Table& t>
SpanKernel Choose() {
  return UsableIsa() == Isa::kAvx512 ? LoopAvx512<t> : Fast<Loop<t>>();
}
#else
template <const Table& t>
SpanKernel Choose() {
  return Loop<t>;
}
#endif

}  // namespace

SpanKernel FindSaturating(ScalarFn fn) {
  return fn == ScalarFn::kTanh ? Choose<kTanh>() : Choose<kErf>();
}

}  // namespace hv::span
