// The inner loop of products: a tile of kRows x (2 vectors) sums held in registers while k runs,
// for the vectors of the machine it runs on. Each sum takes its products in ascending order of k,
// every product and every sum rounded: the bits depend on neither tile nor vector.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "eval/vector_isa.h"

namespace hv::tile {

// Rows of A packed as [k][row].
template <class T, int kRows>
struct PackedRows {
  const T* data;
  HV_INLINE const T* At(int row, int64_t p) const { return data + p * kRows + row; }
};

// Rows of A at equal distances, each contiguous along k. Few pointers, so that they stay in registers.
template <class T, int kRows>
struct SpacedRows {
  SpacedRows(const T* first, int64_t distance) : apart(distance) {
    for (int r = 0; r < kRows; r += 3) every_third[r / 3] = first + r * distance;
  }
  HV_INLINE const T* At(int row, int64_t p) const {
    return every_third[row / 3] + row % 3 * apart + p;
  }
  const T* every_third[kRows / 3];
  int64_t apart;
};

// Rows of A anywhere in memory, each contiguous along k.
template <class T, int kRows>
struct ScatteredRows {
  const T* rows[kRows];
  HV_INLINE const T* At(int row, int64_t p) const { return rows[row] + p; }
};

// A stretch of k: where it starts in every row of A and in the packed panel of B.
struct Segment {
  int64_t a, b;
};

// *sum += *factor * v. Wide vectors take the factor from memory within the multiplication: copies of
// it in a register of their own cost a third of the time. (clang wants the vectors it is not yet
// compiled for in no asm.)
template <class T, class Vector>
HV_INLINE void AddProduct(const T* factor, const Vector& v, Vector* sum) {
#if HV_X86 && !defined(__clang__)
  if constexpr (sizeof(Vector) == 64 && std::is_same_v<T, float>) {
    Vector product;
    asm("vmulps %1%{1to16%}, %2, %0" : "=v"(product) : "m"(*factor), "v"(v));
    *sum += product;
    return;
  } else if constexpr (sizeof(Vector) == 64 && std::is_same_v<T, double>) {
    Vector product;
    asm("vmulpd %1%{1to8%}, %2, %0" : "=v"(product) : "m"(*factor), "v"(v));
    *sum += product;
    return;
  }
#endif
  *sum += *factor * v;
}

// How many columns a tile has.
template <class T, int kVectorBytes>
constexpr int64_t kColumns = 2 * kVectorBytes / static_cast<int64_t>(sizeof(T));

// c[kRows][kColumns], `c_row` elements between rows, = (from_zero ? 0 : c) + A * B over `depth`
// values of k in each segment. Rows of B are contiguous, `b_row` elements apart. Loops over the tile
// are unrolled early: only then do the sums never lie in memory.
template <class T, int kVectorBytes, int kRows, class Rows>
HV_INLINE void Multiply(const Rows& a, const T* b, int64_t b_row, std::span<const Segment> segments,
                        int64_t depth, bool from_zero, T* c, int64_t c_row) {
  typedef T Vector __attribute__((vector_size(kVectorBytes)));
  constexpr int64_t kLanes = kVectorBytes / static_cast<int64_t>(sizeof(T));
  Vector sum[kRows][2];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) sum[r][0] = sum[r][1] = Vector{};
  if (!from_zero) {
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      std::memcpy(&sum[r][0], c + r * c_row, kVectorBytes);
      std::memcpy(&sum[r][1], c + r * c_row + kLanes, kVectorBytes);
    }
  }
  for (const Segment& s : segments) {
    const T* from = b + s.b;
    for (int64_t p = s.a; p < s.a + depth; ++p, from += b_row) {
      Vector b0, b1;
      std::memcpy(&b0, from, kVectorBytes);
      std::memcpy(&b1, from + kLanes, kVectorBytes);
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        AddProduct(a.At(r, p), b0, &sum[r][0]);
        AddProduct(a.At(r, p), b1, &sum[r][1]);
      }
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    std::memcpy(c + r * c_row, &sum[r][0], kVectorBytes);
    std::memcpy(c + r * c_row + kLanes, &sum[r][1], kVectorBytes);
  }
}

enum class Vectors : uint8_t { kBaseline, kAvx2, kAvx512Of32Bytes, kAvx512 };

// The fastest vectors of this machine (UsableIsa). Where there is AVX-512, tiles of 32 and of 64
// bytes are tried once: some machines run the wide ones in two halves.
Vectors FastestVectors();

// body.template Run<kVectorBytes, kRows>(), which is HV_INLINE with all that it calls, compiled for
// those vectors.
template <class Body>
void RunBaseline(const Body& body) {
  body.template Run<16, 6>();
}
#if HV_X86
template <class Body>
__attribute__((target("avx2"))) void RunAvx2(const Body& body) {
  body.template Run<32, 6>();
}
template <class Body>
__attribute__((target("avx512f,avx512vl,avx512dq"))) void RunAvx512Of32Bytes(const Body& body) {
  body.template Run<32, 12>();
}
template <class Body>
__attribute__((target("avx512f,avx512vl,avx512dq"))) void RunAvx512(const Body& body) {
  body.template Run<64, 12>();
}
#endif

template <class Body>
void RunOn(Vectors vectors, const Body& body) {
#if HV_X86
  switch (vectors) {
    case Vectors::kAvx2:
      return RunAvx2(body);
    case Vectors::kAvx512Of32Bytes:
      return RunAvx512Of32Bytes(body);
    case Vectors::kAvx512:
      return RunAvx512(body);
    case Vectors::kBaseline:
      break;
  }
#else
  static_cast<void>(vectors);
#endif
  RunBaseline(body);
}

}  // namespace hv::tile
