// f32 functions that are odd and level off: tanh and erf. Quarter octaves of the argument have a
// polynomial each, f(c + h) = f(c) + h S(h), about a point c where f(c) is all but a float; below
// 3/16 it is x + x S(x). Within 1 ulp, with one rounding that counts. 32 rows are what a
// permutation of two registers looks up; narrower machines read them from memory. Coefficients:
// weighted minimax fits.
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <bit>
#include <cmath>

#include "eval/span_loops.h"

namespace hv::span {
namespace {

constexpr int kRows = 32;
constexpr uint32_t kSmallRow = 9;  // arguments below 3/16
constexpr float kSmall = 0.1875f;
constexpr int kRowShift = 21;      // leaves the exponent and two bits of the mantissa

// Rows by the low bits of what the shift leaves.
template <int kDegree>
struct alignas(64) Table {
  float limit;  // from here on the function is 1
  alignas(64) float center[kRows];
  alignas(64) float value[kRows];
  alignas(64) float slope[kDegree + 1][kRows];
};

constexpr Table<4> kTanh = {
    9.1f,
    {0x1.1ff226p1f, 0x1.5fe7f2p1f, 0x1.a01c78p1f, 0x1.e01726p1f, 0x1.1fe142p2f, 0x1.5fe8bep2f,
     0x1.9fef28p2f, 0x1.e0d5c4p2f, 0x1.154246p3f, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x1.a01ad6p-3f,
     0x1.e01738p-3f, 0x1.201c7cp-2f, 0x1.600068p-2f, 0x1.9fefaap-2f, 0x1.e0167ep-2f,
     0x1.2018bp-1f, 0x1.5ffc7cp-1f, 0x1.a01cfcp-1f, 0x1.dff95ap-1f, 0x1.20155cp0f, 0x1.5fef1ep0f,
     0x1.a01248p0f, 0x1.dfe98p0f},
    {0x1.f4bd6ep-1f, 0x1.fbd37ap-1f, 0x1.fe7728p-1f, 0x1.ff6f4cp-1f, 0x1.ffdf88p-1f,
     0x1.fffb9cp-1f, 0x1.ffff68p-1f, 0x1.ffffecp-1f, 0x1.fffffep-1f, 0, 0, 0, 0, 0, 0, 0, 0, 0,
     0x1.9a78dep-3f, 0x1.d77c5ap-3f, 0x1.18bdf2p-2f, 0x1.52c322p-2f, 0x1.8a79f8p-2f,
     0x1.bfc09cp-2f, 0x1.051ab4p-1f, 0x1.31559cp-1f, 0x1.5798eep-1f, 0x1.77d528p-1f,
     0x1.9e6b72p-1f, 0x1.c27104p-1f, 0x1.d9cc3cp-1f, 0x1.e87494p-1f},
    {
        {0x1.645bfp-5f, 0x1.0a0ac4p-6f, 0x1.884158p-8f, 0x1.213f24p-9f, 0x1.03b96p-11f,
         0x1.1900a6p-14f, 0x1.3001eap-17f, 0x1.40052p-20f, 0x1.002248p-23f, -0x1.c9e0dap-27f, 0,
         0, 0, 0, 0, 0, 0, 0, 0x1.eb6ec4p-1f, 0x1.e4dd2ap-1f, 0x1.d983fep-1f, 0x1.c7f704p-1f,
         0x1.b4048ap-1f, 0x1.9e1bbap-1f, 0x1.7ad846p-1f, 0x1.49e972p-1f, 0x1.196a6cp-1f,
         0x1.d83dd4p-2f, 0x1.61204ep-2f, 0x1.cedcf8p-3f, 0x1.26374ep-3f, 0x1.700d5ap-4f},
        {-0x1.5c8316p-5f, -0x1.07dbaep-6f, -0x1.870d7ap-8f, -0x1.20e7fap-9f, -0x1.03564cp-11f,
         -0x1.18a418p-14f, -0x1.2f9fdep-17f, -0x1.3f9ba2p-20f, -0x1.ffbd52p-24f, 0x1.bc1c6p-19f,
         0, 0, 0, 0, 0, 0, 0, 0, -0x1.89fbb2p-3f, -0x1.be7f3ap-3f, -0x1.03a3d8p-2f,
         -0x1.2dafd6p-2f, -0x1.4fef5cp-2f, -0x1.6a24fcp-2f, -0x1.8265f2p-2f, -0x1.897d7p-2f,
         -0x1.79b5b6p-2f, -0x1.5aa5eap-2f, -0x1.1dd3bcp-2f, -0x1.9736fcp-3f, -0x1.1043aep-3f,
         -0x1.5f209ap-4f},
        {0x1.bc25eap-6f, 0x1.5a127p-7f, 0x1.0321fep-8f, 0x1.8059dap-10f, 0x1.59a63ap-12f,
         0x1.762f3ap-15f, 0x1.94d60ep-18f, 0x1.a98e2p-21f, 0x1.4fe534p-24f, -0x1.557766p-2f, 0, 0,
         0, 0, 0, 0, 0, 0, -0x1.1fc0b2p-2f, -0x1.10060ap-2f, -0x1.e8f1dcp-3f, -0x1.9834e6p-3f,
         -0x1.425e2cp-3f, -0x1.d6f8a8p-4f, -0x1.bc480ap-5f, 0x1.d7aa64p-7f, 0x1.07686cp-4f,
         0x1.8422cep-4f, 0x1.c69304p-4f, 0x1.97eefp-4f, 0x1.33c2ap-4f, 0x1.a89914p-5f},
        {-0x1.961f4ap-7f, -0x1.51ce2cp-8f, -0x1.02cd8ap-9f, -0x1.8306e6p-11f, -0x1.69f2eap-13f,
         -0x1.884a7p-16f, -0x1.a881cep-19f, -0x1.bec764p-22f, -0x1.5f6c5ep-25f, 0x1.bf1f3cp-10f,
         0, 0, 0, 0, 0, 0, 0, 0, 0x1.ecc17p-4f, 0x1.123726p-3f, 0x1.32f326p-3f, 0x1.4ffc16p-3f,
         0x1.5c0d4ep-3f, 0x1.583b1ap-3f, 0x1.39cd0ep-3f, 0x1.e94788p-4f, 0x1.46f858p-4f,
         0x1.6343aep-5f, 0x1.da082p-9f, -0x1.59ba4ep-6f, -0x1.9bac6ap-6f, -0x1.55bc82p-6f},
        {0x1.04ad72p-8f, 0x1.f65a6p-10f, 0x1.94697ap-11f, 0x1.332552p-12f, 0x1.1fb02p-14f,
         0x1.38b17ap-17f, 0x1.52baaep-20f, 0x1.6ec7b4p-23f, 0x1.6b5a46p-26f, 0x1.0130fcp-3f, 0, 0,
         0, 0, 0, 0, 0, 0, -0x1.ec98b6p-1f, 0x1.1668p-1f, 0x1.67039ap-5f, -0x1.15aeaap-6f,
         -0x1.b1359ap-5f, -0x1.04cf92p-9f, -0x1.429534p-5f, -0x1.0b830cp-4f, -0x1.eca778p-5f,
         -0x1.a65df2p-5f, -0x1.06bc44p-5f, -0x1.38127ap-7f, 0x1.62b7eap-10f, 0x1.2c2be2p-8f},
    }};

constexpr Table<5> kErf = {
    3.95f,
    {0x1.1ffc88p1f, 0x1.6003dap1f, 0x1.a00ca4p1f, 0x1.df38dp1f, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
     0, 0, 0, 0x1.a00acep-3f, 0x1.dff83ep-3f, 0x1.2004e4p-2f, 0x1.600e8ep-2f, 0x1.9fe432p-2f,
     0x1.e01668p-2f, 0x1.20016p-1f, 0x1.60169p-1f, 0x1.9fe836p-1f, 0x1.dff86ep-1f, 0x1.1fe95p0f,
     0x1.60092p0f, 0x1.9ff79p0f, 0x1.dfe9b8p0f},
    {0x1.ff402ep-1f, 0x1.fff2d2p-1f, 0x1.ffff7p-1f, 0x1.fffffcp-1f, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
     0, 0, 0, 0, 0x1.cf132p-3f, 0x1.09eab2p-2f, 0x1.3c9fc2p-2f, 0x1.7e242cp-2f, 0x1.bcb552p-2f,
     0x1.f883f6p-2f, 0x1.25b9cap-1f, 0x1.56a222p-1f, 0x1.7fabep-1f, 0x1.a1518ep-1f, 0x1.c6cc6p-1f,
     0x1.e579a8p-1f, 0x1.f4f538p-1f, 0x1.fbe4ap-1f},
    {
        {0x1.d44d0ap-8f, 0x1.333032p-11f, 0x1.e88eb8p-16f, 0x1.ef5c14p-21f, 0, 0, 0, 0, 0,
         0x1.06eba8p-3f, 0, 0, 0, 0, 0, 0, 0, 0, 0x1.152fdp0f, 0x1.116d56p0f, 0x1.0ae498p0f,
         0x1.00a94ep0f, 0x1.e9e078p-1f, 0x1.cfba9ap-1f, 0x1.a50608p-1f, 0x1.680a2p-1f,
         0x1.2aa45ap-1f, 0x1.dfd774p-2f, 0x1.462a9cp-2f, 0x1.5cc364p-3f, 0x1.49c098p-4f,
         0x1.13287p-5f},
        {-0x1.076804p-6f, -0x1.a6643ap-10f, -0x1.8cf7fp-14f, -0x1.cfda18p-19f, 0, 0, 0, 0, 0,
         -0x1.9bb0c6p-25f, 0, 0, 0, 0, 0, 0, 0, 0, -0x1.c279e4p-3f, -0x1.005196p-2f,
         -0x1.2c464ep-2f, -0x1.60f6eap-2f, -0x1.8deb8cp-2f, -0x1.b2d366p-2f, -0x1.d9a926p-2f,
         -0x1.ef2da8p-2f, -0x1.e52f42p-2f, -0x1.c1d2e4p-2f, -0x1.6ed31p-2f, -0x1.df991ap-3f,
         -0x1.0be708p-3f, -0x1.01e9f2p-4f},
        {0x1.641afap-6f, 0x1.69532p-9f, 0x1.988168p-13f, 0x1.15e856p-17f, 0, 0, 0, 0, 0,
         -0x1.81251ep-2f, 0, 0, 0, 0, 0, 0, 0, 0, -0x1.52c32p-2f, -0x1.457258p-2f,
         -0x1.2b86c2p-2f, -0x1.059644p-2f, -0x1.b5f49ep-3f, -0x1.5a4ap-3f, -0x1.9c2facp-4f,
         -0x1.a0537cp-7f, 0x1.fd2ep-5f, 0x1.e4b5ep-4f, 0x1.4c9fa2p-3f, 0x1.436becp-3f,
         0x1.d67e98p-4f, 0x1.147aa6p-4f},
        {-0x1.38d936p-6f, -0x1.aac4cep-9f, -0x1.2b516ap-12f, -0x1.dd79cep-17f, 0, 0, 0, 0, 0,
         -0x1.f69ab4p-13f, 0, 0, 0, 0, 0, 0, 0, 0, 0x1.037f42p-3f, 0x1.effb1ap-5f, 0x1.1e0636p-3f,
         0x1.32f194p-3f, 0x1.59180ap-3f, 0x1.79a52p-3f, 0x1.763c46p-3f, 0x1.5315d8p-3f,
         0x1.0f6418p-3f, 0x1.748adap-4f, 0x1.cc69fcp-6f, -0x1.f4021cp-6f, -0x1.9754aep-5f,
         -0x1.5a595p-5f},
        {0x1.5ad314p-7f, 0x1.7236dp-9f, 0x1.5bf5ecp-12f, 0x1.56e588p-16f, 0, 0, 0, 0, 0,
         0x1.d98ea6p-4f, 0, 0, 0, 0, 0, 0, 0, 0, -0x1.1eb228p0f, 0x1.d44c6cp1f, 0x1.87189p-5f,
         0x1.3d6e0cp-2f, 0x1.5651a6p-3f, -0x1.437d5cp-4f, -0x1.94dcb2p-7f, -0x1.593c2ep-5f,
         -0x1.ee7612p-5f, -0x1.1e7cfp-4f, -0x1.f559bep-5f, -0x1.f586d2p-6f, -0x1.2b265p-9f,
         0x1.72b218p-7f},
        {-0x1.6add06p-9f, -0x1.b56e48p-10f, -0x1.200fdcp-12f, -0x1.8c682ep-16f, 0, 0, 0, 0, 0,
         -0x1.d140d6p-7f, 0, 0, 0, 0, 0, 0, 0, 0, -0x1.363f4p6f, 0x1.d6506ep7f, -0x1.9d096cp-1f,
         0x1.0c1efap3f, 0x1.128d9p2f, -0x1.93865ap1f, -0x1.54930ap-4f, -0x1.2a9baep-5f,
         0x1.6ae2a2p-7f, -0x1.1635dep-10f, 0x1.da345ap-7f, 0x1.6708cap-6f, 0x1.dfcd1cp-7f,
         0x1.0e41e4p-8f},
    }};

template <int kDegree, const Table<kDegree>& t>
HV_INLINE void Loop(const SpanArgs& a) {
  const float* x = In<float>(a, 0);
  float* out = static_cast<float*>(a.out);
  HV_INDEPENDENT_LOOP
  for (size_t i = 0; i < a.count; ++i) {
    const float magnitude = std::fabs(x[i]);
    const bool small = magnitude < kSmall;
    const float y = t.limit < magnitude ? t.limit : magnitude;  // a NaN stays
    const uint32_t row = small ? kSmallRow : std::bit_cast<uint32_t>(y) >> kRowShift & (kRows - 1);
    const float h = y - t.center[row];
    // Even and odd powers side by side: a shorter chain.
    const float q = h * h;
    float upper = t.slope[kDegree][row], lower = t.slope[kDegree - 1][row];
    for (int k = kDegree - 2; k >= 0; k -= 2) upper = __builtin_fmaf(upper, q, t.slope[k][row]);
    for (int k = kDegree - 3; k >= 0; k -= 2) lower = __builtin_fmaf(lower, q, t.slope[k][row]);
    const float sum = kDegree % 2 == 0 ? __builtin_fmaf(lower, h, upper)
                                       : __builtin_fmaf(upper, h, lower);
    out[i] = std::copysign(__builtin_fmaf(h, sum, small ? y : t.value[row]), x[i]);
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
  return _mm512_permutex2var_ps(_mm512_load_ps(column), row, _mm512_load_ps(column + kLanes));
}

// The same, step by step, on 16 arguments.
template <int kDegree, const Table<kDegree>& t>
HV_AVX512_INLINE __m512 Apply(__m512 x) {
  const __m512 sign = _mm512_set1_ps(-0.0f);
  const __m512 magnitude = _mm512_andnot_ps(sign, x);
  const __mmask16 large = _mm512_cmp_ps_mask(magnitude, _mm512_set1_ps(kSmall), _CMP_NLT_UQ);
  const __m512 y = _mm512_min_ps(_mm512_set1_ps(t.limit), magnitude);
  const __m512i row = _mm512_mask_srli_epi32(_mm512_set1_epi32(kSmallRow), large,
                                             _mm512_castps_si512(y), kRowShift);
  const __m512 h = _mm512_sub_ps(y, LookUp(t.center, row));
  const __m512 q = _mm512_mul_ps(h, h);
  __m512 upper = LookUp(t.slope[kDegree], row), lower = LookUp(t.slope[kDegree - 1], row);
  for (int k = kDegree - 2; k >= 0; k -= 2) {
    upper = _mm512_fmadd_ps(upper, q, LookUp(t.slope[k], row));
  }
  for (int k = kDegree - 3; k >= 0; k -= 2) {
    lower = _mm512_fmadd_ps(lower, q, LookUp(t.slope[k], row));
  }
  const __m512 sum = kDegree % 2 == 0 ? _mm512_fmadd_ps(lower, h, upper)
                                      : _mm512_fmadd_ps(upper, h, lower);
  const __m512 base = _mm512_mask_mov_ps(y, large, LookUp(t.value, row));
  return _mm512_or_ps(_mm512_fmadd_ps(h, sum, base), _mm512_and_ps(sign, x));
}

template <int kDegree, const Table<kDegree>& t>
[[gnu::target(HV_AVX512)]] void LoopAvx512(const SpanArgs& a) {
  const float* x = In<float>(a, 0);
  float* out = static_cast<float*>(a.out);
  size_t i = 0;
  for (; i + 2 * kLanes <= a.count; i += 2 * kLanes) {
    const __m512 first = Apply<kDegree, t>(_mm512_loadu_ps(x + i));
    const __m512 second = Apply<kDegree, t>(_mm512_loadu_ps(x + i + kLanes));
    _mm512_storeu_ps(out + i, first);
    _mm512_storeu_ps(out + i + kLanes, second);
  }
  for (; i < a.count; i += kLanes) {
    const size_t left = a.count - i;
    const auto lanes = static_cast<__mmask16>(left < kLanes ? (1u << left) - 1 : ~0u);
    const __m512 result = Apply<kDegree, t>(_mm512_maskz_loadu_ps(lanes, x + i));
    _mm512_mask_storeu_ps(out + i, lanes, result);
  }
}

template <int kDegree, const Table<kDegree>& t>
SpanKernel Choose() {
  if (UsableIsa() == Isa::kAvx512) return LoopAvx512<kDegree, t>;
  return Fast<Loop<kDegree, t>>();
}
#else
template <int kDegree, const Table<kDegree>& t>
SpanKernel Choose() {
  return Loop<kDegree, t>;
}
#endif

}  // namespace

SpanKernel FindSaturating(ScalarFn fn) {
  return fn == ScalarFn::kTanh ? Choose<4, kTanh>() : Choose<5, kErf>();
}

}  // namespace hv::span
