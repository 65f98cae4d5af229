#include "eval/stream_copy.h"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace hv {

#if defined(__x86_64__)
void StreamLines(const std::byte* from, std::byte* to, size_t bytes) {
  constexpr size_t kLine = 64, kVector = sizeof(__m128i);
  const size_t head = std::min(bytes, (kLine - reinterpret_cast<uintptr_t>(to) % kLine) % kLine);
  std::memcpy(to, from, head);
  const size_t end = head + (bytes - head) / kLine * kLine;
  for (size_t at = head; at < end; at += kLine) {
    for (size_t v = 0; v < kLine; v += kVector) {
      const __m128i part = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at + v));
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + at + v), part);
    }
  }
  std::memcpy(to + end, from + end, bytes - end);
}
void FinishStreams() { _mm_sfence(); }
#else
void StreamLines(const std::byte* from, std::byte* to, size_t bytes) {
  std::memcpy(to, from, bytes);
}
void FinishStreams() {}
#endif

void StreamCopy(const std::byte* from, std::byte* to, size_t bytes) {
  StreamLines(from, to, bytes);
  FinishStreams();
}

}  // namespace hv
