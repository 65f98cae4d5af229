// cholesky and triangular-solve by substitution, in the element type (narrow floats in f32).
// Source: hlo_ops 3.18.
#include <cmath>
#include <complex>
#include <limits>
#include <utility>

#include "eval/convert.h"
#include "eval/move.h"
#include "eval/native_opaque.h"

namespace hv {
namespace {

template <class T>
T Conjugate(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    return x;
  } else {
    return std::conj(x);
  }
}

template <class T>
bool IsNan(T x) {
  return x != x;
}

// A square matrix in memory, read through an optional transposition and conjugation.
template <class T>
struct MatrixView {
  const T* data;
  int64_t n;
  bool transposed, conjugated;
  T At(int64_t i, int64_t j) const {
    const T x = transposed ? data[j * n + i] : data[i * n + j];
    return conjugated ? Conjugate(x) : x;
  }
};

// L with L * L^H = a, from the lower triangle of a; NaN everywhere if a root is.
template <class T>
void Factor(const MatrixView<T>& a, std::vector<T>* l) {
  const int64_t n = a.n;
  l->assign(static_cast<size_t>(n * n), T{});
  const auto at = [&](int64_t i, int64_t j) -> T& { return (*l)[static_cast<size_t>(i * n + j)]; };
  for (int64_t j = 0; j < n; ++j) {
    T diagonal = a.At(j, j);
    for (int64_t k = 0; k < j; ++k) diagonal -= at(j, k) * Conjugate(at(j, k));
    at(j, j) = std::sqrt(diagonal);
    const bool negative = std::real(diagonal) < 0;
    if (IsNan(at(j, j)) || negative) {
      l->assign(l->size(), T(std::numeric_limits<double>::quiet_NaN()));
      return;
    }
    for (int64_t i = j + 1; i < n; ++i) {
      T sum = a.At(i, j);
      for (int64_t k = 0; k < j; ++k) sum -= at(i, k) * Conjugate(at(j, k));
      at(i, j) = sum / at(j, j);
    }
  }
}

template <class T>
void CholeskyOf(const Value& a, bool lower, Value* out) {
  const int64_t n = a.shape()->dims.back();
  const int64_t matrices = n == 0 ? 0 : a.element_count() / (n * n);
  T* result = out->MutableAs<T>().data();
  std::vector<T> l;
  for (int64_t m = 0; m < matrices; ++m, result += n * n) {
    Factor(MatrixView<T>{a.As<T>().data() + m * n * n, n, !lower, !lower}, &l);
    const MatrixView<T> view{l.data(), n, !lower, !lower};
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j) result[i * n + j] = view.At(i, j);
    }
  }
}

// x := solution of a * x = x for a triangular `a`; columns of x lie `step` apart from row to row.
template <class T>
void Substitute(const MatrixView<T>& a, bool lower, bool unit, T* x, int64_t step) {
  for (int64_t r = 0; r < a.n; ++r) {
    const int64_t i = lower ? r : a.n - 1 - r;
    T sum = x[i * step];
    for (int64_t k = lower ? 0 : i + 1; k < (lower ? i : a.n); ++k) sum -= a.At(i, k) * x[k * step];
    x[i * step] = unit ? sum : sum / a.At(i, i);
  }
}

struct SolveOptions {
  bool left, lower, unit, transposed, conjugated;
};

// x * op(a) = b is op(a)^T * x^T = b^T.
template <class T>
void SolveAll(const Value& a, const SolveOptions& o, Value* x) {
  const int64_t n = a.shape()->dims.back();
  const int64_t rows = x->shape()->dims[x->shape()->dims.size() - 2];
  const int64_t columns = x->shape()->dims.back();
  const int64_t matrices = n == 0 ? 0 : a.element_count() / (n * n);
  const bool transposed = o.left ? o.transposed : !o.transposed;
  T* out = x->MutableAs<T>().data();
  for (int64_t m = 0; m < matrices; ++m, out += rows * columns) {
    const MatrixView<T> view{a.As<T>().data() + m * n * n, n, transposed, o.conjugated};
    const int64_t vectors = o.left ? columns : rows;
    for (int64_t v = 0; v < vectors; ++v) {
      T* first = o.left ? out + v : out + v * columns;
      Substitute(view, o.lower != transposed, o.unit, first, o.left ? columns : 1);
    }
  }
}

ElementType ComputedIn(ElementType type) {
  return IsFloat(type) && BitWidth(type) < 32 ? ElementType::kF32 : type;
}

}  // namespace

Result<Value> NativeCholesky(const KernelCall& call, const Value& operand) {
  const ElementType type = ComputedIn(call.shape->type);
  HV_ASSIGN(const Value a, ConvertValue(call.module, operand, type));
  Value result = Value::NewNative(a.shape());
  const bool lower = call.instruction.Bool(Attr::kLower);
  switch (type) {
    case ElementType::kF32:
      CholeskyOf<float>(a, lower, &result);
      break;
    case ElementType::kF64:
      CholeskyOf<double>(a, lower, &result);
      break;
    case ElementType::kC64:
      CholeskyOf<std::complex<float>>(a, lower, &result);
      break;
    case ElementType::kC128:
      CholeskyOf<std::complex<double>>(a, lower, &result);
      break;
    default:
      return NotImplemented(call, "element type");
  }
  HV_ASSIGN(result, ConvertValue(call.module, result, call.shape->type));
  return result.WithShape(call.shape);
}

Result<Value> NativeTriangularSolve(const KernelCall& call, const Value& matrix, const Value& b) {
  const ElementType type = ComputedIn(call.shape->type);
  HV_ASSIGN(const Value a, ConvertValue(call.module, matrix, type));
  HV_ASSIGN(Value x, ConvertValue(call.module, b, type));
  x = Owned(std::move(x));
  const std::string_view transpose = call.instruction.Text(Attr::kTransposeA);
  const SolveOptions options{.left = call.instruction.Bool(Attr::kLeftSide),
                             .lower = call.instruction.Bool(Attr::kLower),
                             .unit = call.instruction.Bool(Attr::kUnitDiagonal),
                             .transposed = transpose == "TRANSPOSE" || transpose == "ADJOINT",
                             .conjugated = transpose == "ADJOINT"};
  switch (type) {
    case ElementType::kF32:
      SolveAll<float>(a, options, &x);
      break;
    case ElementType::kF64:
      SolveAll<double>(a, options, &x);
      break;
    case ElementType::kC64:
      SolveAll<std::complex<float>>(a, options, &x);
      break;
    case ElementType::kC128:
      SolveAll<std::complex<double>>(a, options, &x);
      break;
    default:
      return NotImplemented(call, "element type");
  }
  HV_ASSIGN(x, ConvertValue(call.module, x, call.shape->type));
  return x.WithShape(call.shape);
}

}  // namespace hv
