// The block copy: the two digits that matter most run in a tight loop, the others around it.
#include "eval/move.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/parallel.h"
#include "eval/stream_copy.h"
#include "eval/transpose_block.h"
#include "eval/vector_isa.h"

namespace hv {
namespace {

struct Bytes16 {
  uint64_t low, high;
};

constexpr int64_t kMemcpyRun = 64;                // bytes from which a call to memcpy pays
constexpr int64_t kPerThread = int64_t{1} << 20;  // bytes that are worth a thread

template <class T>
void CopyRun(const T* in, T* out, int64_t count) {
  if (count * static_cast<int64_t>(sizeof(T)) >= kMemcpyRun) {
    std::memcpy(out, in, static_cast<size_t>(count) * sizeof(T));
  } else {
    for (int64_t i = 0; i < count; ++i) out[i] = in[i];
  }
}

// Runs of `length` elements, one for each of `count` positions; strides in elements.
template <class T>
struct Runs {
  const T* in;
  int64_t in_stride;
  T* out;
  int64_t out_stride, count, length;
};

constexpr int64_t kLine = 64;  // bytes
typedef uint64_t Line __attribute__((vector_size(kLine), aligned(1), may_alias));

// Every run is the same data, or its one element. These stay in registers or the first-level cache;
// what counts is that whole lines are stored without a stop.
template <class T, bool kFill>
HV_INLINE void Repeat(const Runs<T>& r) {
  constexpr int64_t kElements = kLine / static_cast<int64_t>(sizeof(T));
  for (int64_t k = 0; k < r.count; ++k) {
    T fill[kElements];
    const T* run = r.in + k * r.in_stride;
    if (kFill) std::fill_n(fill, kElements, *run);
    T* out = r.out + k * r.out_stride;
    int64_t left = r.length;
    for (; left >= kElements; left -= kElements, out += kElements) {
      *reinterpret_cast<Line*>(out) = *reinterpret_cast<const Line*>(kFill ? fill : run);
      if (!kFill) run += kElements;
    }
    std::memcpy(out, kFill ? fill : run, static_cast<size_t>(left) * sizeof(T));
  }
}

// out is written along `a` (its fast digit), in is read along `b`. Tiles are transposed into a
// buffer and leave it by rows: lines of memory are written whole, however their addresses collide,
// and past the caches if `stream`.
template <class T>
void CopyTransposed(const T* in, T* out, const Digit& b, const Digit& a, bool stream) {
  constexpr int64_t kTile = sizeof(T) <= 4 ? 64 : 32;
  constexpr int kSide = kBlockSide<T>;
  alignas(64) T tile[kTile * kTile];
  for (int64_t b0 = 0; b0 < b.extent; b0 += kTile) {
    const int64_t rows = std::min(b.extent - b0, kTile);
    for (int64_t a0 = 0; a0 < a.extent; a0 += kTile) {
      const int64_t columns = std::min(a.extent - a0, kTile);
      const T* from = in + b0 * b.in_stride + a0 * a.in_stride;
      const int64_t block_rows = rows / kSide * kSide, block_columns = columns / kSide * kSide;
      for (int64_t j = 0; j < block_columns; j += kSide) {
        for (int64_t i = 0; i < block_rows; i += kSide) {
          const T* block = from + j * a.in_stride + i;
          if constexpr (kSide > 1) {
            TransposeBlock(block, a.in_stride, tile + i * kTile + j, kTile);
          } else {
            tile[i * kTile + j] = *block;
          }
        }
      }
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = i < block_rows ? block_columns : 0; j < columns; ++j) {
          tile[i * kTile + j] = from[i + j * a.in_stride];
        }
        T* to = out + (b0 + i) * b.out_stride + a0;
        if (stream) {
          StreamLines(reinterpret_cast<const std::byte*>(tile + i * kTile),
                      reinterpret_cast<std::byte*>(to), static_cast<size_t>(columns) * sizeof(T));
        } else {
          CopyRun(tile + i * kTile, to, columns);
        }
      }
    }
  }
  if (stream) FinishStreams();
}

template <class T>
void CopyTwo(const T* in, T* out, const Digit& outer, const Digit& inner, bool stream) {
  const Runs<T> runs = {in, outer.in_stride, out, outer.out_stride, outer.extent, inner.extent};
  const bool writes_runs = inner.out_stride == 1, reads_runs = inner.in_stride == 1;
  if (writes_runs && inner.in_stride == 0) {
    isa::Choose<Runs<T>, Repeat<T, true>, Isa::kAvx512>()(runs);
  } else if (writes_runs && reads_runs && outer.in_stride == 0 && outer.extent > 1) {
    isa::Choose<Runs<T>, Repeat<T, false>, Isa::kAvx512>()(runs);
  } else if (writes_runs && reads_runs) {
    for (int64_t i = 0; i < outer.extent; ++i) {
      CopyRun(in + i * outer.in_stride, out + i * outer.out_stride, inner.extent);
    }
  } else if (writes_runs && outer.in_stride == 1 && outer.extent > 1) {
    CopyTransposed(in, out, outer, inner, stream);
  } else {
    for (int64_t i = 0; i < outer.extent; ++i) {
      const T* from = in + i * outer.in_stride;
      T* to = out + i * outer.out_stride;
      for (int64_t j = 0; j < inner.extent; ++j)
        to[j * inner.out_stride] = from[j * inner.in_stride];
    }
  }
}

// Runs the odometer over digits[0, n) and the two-digit kernel at each of its positions.
template <class T>
void CopyDigits(const T* in, T* out, std::span<const Digit> digits, const Digit& outer,
                const Digit& inner, bool stream) {
  if (digits.empty()) return CopyTwo(in, out, outer, inner, stream);
  const Digit& d = digits.front();
  for (int64_t i = 0; i < d.extent; ++i) {
    CopyDigits(in + i * d.in_stride, out + i * d.out_stride, digits.subspan(1), outer, inner, stream);
  }
}

template <class T>
void CopyTyped(const Piece& piece, const std::byte* in_bytes, std::byte* out_bytes, bool stream) {
  const T* in = reinterpret_cast<const T*>(in_bytes) + piece.in_base;
  T* out = reinterpret_cast<T*>(out_bytes) + piece.out_base;
  Digit inner, outer;
  inner.in_stride = inner.out_stride = 1;
  if (piece.digits.size() == 2) return CopyTwo(in, out, piece.digits[0], piece.digits[1], stream);
  std::vector<Digit> rest = piece.digits;
  if (!rest.empty()) {
    inner = rest.back();
    rest.pop_back();
  }
  if (!rest.empty()) {
    // For a permuted copy, pair the digit that writes runs with the one that reads runs.
    auto partner = std::prev(rest.end());
    if (inner.in_stride != 1 && inner.in_stride != 0) {
      const auto reads_runs =
          std::find_if(rest.begin(), rest.end(), [](const Digit& d) { return d.in_stride == 1; });
      if (reads_runs != rest.end()) partner = reads_runs;
    }
    outer = *partner;
    rest.erase(partner);
  }
  CopyDigits<T>(in, out, rest, outer, inner, stream);
}

// Can the storage of the first piece's operand become the result's?
bool StartsWithReusable(const Shape* shape, const Pieces& pieces, std::span<const Value> operands) {
  if (pieces.empty() || !IsIdentity(pieces[0], shape->element_count)) return false;
  const Value& whole = operands[static_cast<size_t>(pieces[0].operand)];
  if (whole.element_count() != shape->element_count) return false;
  if (pieces.size() == 1) return true;
  return whole.IsUnique() && std::none_of(pieces.begin() + 1, pieces.end(), [&](const Piece& p) {
           return p.operand == pieces[0].operand;
         });
}

void CopyByWidth(const Piece& piece, const std::byte* in, std::byte* out, int width, bool stream) {
  switch (width) {
    case 1:
      return CopyTyped<uint8_t>(piece, in, out, stream);
    case 2:
      return CopyTyped<uint16_t>(piece, in, out, stream);
    case 4:
      return CopyTyped<uint32_t>(piece, in, out, stream);
    case 8:
      return CopyTyped<uint64_t>(piece, in, out, stream);
    default:
      break;
  }
  HV_CHECK(width == 16, "no element has this width");
  CopyTyped<Bytes16>(piece, in, out, stream);
}

}  // namespace

// Threads share the digit that strides furthest in the result.
void CopyPiece(const Piece& piece, const std::byte* in, std::byte* out, int width) {
  int64_t bytes = width;
  for (const Digit& d : piece.digits) bytes *= d.extent;
  const bool stream = bytes >= kBeyondCaches;
  if (bytes < 2 * kPerThread || ThreadCount() == 1) {
    return CopyByWidth(piece, in, out, width, stream);
  }
  const Digit& shared = piece.digits.front();
  const int64_t grain = kPerThread / (bytes / shared.extent) + 1;
  ParallelFor(shared.extent, grain, [&](int64_t begin, int64_t end) {
    Piece part = piece;
    part.in_base += begin * shared.in_stride;
    part.out_base += begin * shared.out_stride;
    part.digits.front().extent = end - begin;
    CopyByWidth(part, in, out, width, stream);
  });
}

void FillPiece(const Piece& piece, const std::byte* element, std::byte* out, int width) {
  Piece fill = piece;
  fill.in_base = 0;
  for (Digit& d : fill.digits) d.in_stride = 0;
  CopyPiece(fill, element, out, width);
}

bool IsIdentity(const Piece& piece, int64_t count) {
  if (piece.operand == Piece::kZeros || piece.in_base != 0 || piece.out_base != 0) return false;
  if (piece.digits.empty()) return count == 1;
  const Digit& d = piece.digits.front();
  return piece.digits.size() == 1 && d.extent == count && d.in_stride == 1 && d.out_stride == 1;
}

Value Owned(Value value) {
  if (value.IsUnique()) return value;
  Value copy = NewLike(value, value.shape());
  if (!value.bytes().empty()) {
    std::memcpy(copy.MutableBytes().data(), value.bytes().data(), value.bytes().size());
  }
  return copy;
}

Value NewLike(const Value& like, const Shape* shape) {
  return like.IsNative() && HostBytes(shape->type) == like.element_bytes()
             ? Value::NewNative(shape)
             : Value::NewCode(shape, like.element_bytes());
}

Value MovePieces(const Shape* shape, const Pieces& pieces, std::span<Value> operands) {
  static constexpr std::byte kZero[16] = {};
  Value result;
  size_t first = 0;
  if (StartsWithReusable(shape, pieces, operands)) {
    Value& whole = operands[static_cast<size_t>(pieces[0].operand)];
    result = std::exchange(whole, Value()).WithShape(shape);
    if (pieces.size() == 1) return result;
    first = 1;
  } else {
    result = operands.empty() ? Value::NewNative(shape) : NewLike(operands.front(), shape);
  }
  std::byte* out = result.MutableBytes().data();
  const int width = result.element_bytes();
  for (const Piece& piece : std::span(pieces).subspan(first)) {
    if (piece.operand == Piece::kZeros) {
      FillPiece(piece, kZero, out, width);
    } else {
      CopyPiece(piece, operands[static_cast<size_t>(piece.operand)].bytes().data(), out, width);
    }
  }
  return result;
}

}  // namespace hv
