// fft in complex f64, rounded once: halving while lengths are even, the defining sum for what is
// left. Source: hlo_ops 3.19.
#include <cmath>
#include <complex>
#include <numbers>
#include <utility>

#include "eval/convert.h"
#include "eval/native_opaque.h"

namespace hv {
namespace {

using Complex = std::complex<double>;

// e^(sign * 2 pi i k / n), k reduced first so that the argument stays small.
Complex Root(int64_t k, int64_t n, double sign) {
  const double angle = 2 * std::numbers::pi * static_cast<double>(k % n) / static_cast<double>(n);
  return {std::cos(angle), sign * std::sin(angle)};
}

void Transform(std::vector<Complex>* x, double sign) {
  const size_t n = x->size();
  if (n <= 1) return;
  std::vector<Complex> out(n);
  const auto length = static_cast<int64_t>(n);
  if (n % 2 != 0) {
    for (size_t k = 0; k < n; ++k) {
      for (size_t j = 0; j < n; ++j) {
        out[k] += (*x)[j] * Root(static_cast<int64_t>(j * k), length, sign);
      }
    }
  } else {
    std::vector<Complex> even(n / 2), odd(n / 2);
    for (size_t j = 0; j < n / 2; ++j) {
      even[j] = (*x)[2 * j];
      odd[j] = (*x)[2 * j + 1];
    }
    Transform(&even, sign);
    Transform(&odd, sign);
    for (size_t k = 0; k < n / 2; ++k) {
      const Complex turned = Root(static_cast<int64_t>(k), length, sign) * odd[k];
      out[k] = even[k] + turned;
      out[k + n / 2] = even[k] - turned;
    }
  }
  *x = std::move(out);
}

// One transform of `data` (row-major over `dims`) along dimension d.
void TransformAlong(std::span<const int64_t> dims, size_t d, double sign, bool divide,
                    std::vector<Complex>* data) {
  const auto stride = static_cast<size_t>(RowMajorStrides(dims)[d]);
  const auto length = static_cast<size_t>(dims[d]);
  std::vector<Complex> row(length);
  for (size_t block = 0; block < data->size(); block += stride * length) {
    for (size_t first = block; first < block + stride; ++first) {
      for (size_t i = 0; i < length; ++i) row[i] = (*data)[first + i * stride];
      Transform(&row, sign);
      for (size_t i = 0; i < length; ++i) {
        (*data)[first + i * stride] = divide ? row[i] / static_cast<double>(length) : row[i];
      }
    }
  }
}

// The half of the last dimension that IRFFT leaves out: conjugates of the mirrored element.
std::vector<Complex> Mirrored(std::span<const Complex> half, std::span<const int64_t> half_dims,
                              int64_t length) {
  const auto stored = static_cast<size_t>(half_dims.back());
  std::vector<Complex> full;
  for (size_t row = 0; row < half.size() / stored; ++row) {
    for (int64_t k = 0; k < length; ++k) {
      const bool kept = k < static_cast<int64_t>(stored);
      const auto at = static_cast<size_t>(kept ? k : length - k);
      const Complex value = at < stored ? half[row * stored + at] : Complex(0);
      full.push_back(kept ? value : std::conj(value));
    }
  }
  return full;
}

std::vector<Complex> FirstOfRows(const std::vector<Complex>& data, size_t length, size_t keep) {
  std::vector<Complex> kept;
  for (size_t row = 0; row * length < data.size(); ++row) {
    for (size_t k = 0; k < keep; ++k) kept.push_back(data[row * length + k]);
  }
  return kept;
}

}  // namespace

Result<Value> NativeFft(const KernelCall& call, const Value& operand) {
  const std::string_view type = call.instruction.Text(Attr::kFftType);
  const std::span<const int64_t> lengths = call.instruction.Ints(Attr::kFftLength);
  HV_ASSIGN(const Value wide, ConvertValue(call.module, operand, ElementType::kC128));
  std::vector<Complex> data(wide.As<Complex>().begin(), wide.As<Complex>().end());
  std::vector<int64_t> dims(operand.shape()->dims.begin(), operand.shape()->dims.end());
  const size_t rank = dims.size(), first = rank - lengths.size();
  const bool inverse = type == "IFFT" || type == "IRFFT";
  if (data.empty() || lengths.empty()) {
    return NotImplemented(call, "nothing to transform");
  }
  // The outer dimensions first for IRFFT (they are complex), last of all the real one.
  for (size_t d = first; d + 1 < rank && type == "IRFFT"; ++d) {
    TransformAlong(dims, d, 1, true, &data);
  }
  if (type == "IRFFT") {
    data = Mirrored(data, dims, lengths.back());
    dims.back() = lengths.back();
  }
  TransformAlong(dims, rank - 1, inverse ? 1 : -1, inverse, &data);
  if (type == "RFFT") {
    const auto length = static_cast<size_t>(dims.back());
    data = FirstOfRows(data, length, length / 2 + 1);
    dims.back() = static_cast<int64_t>(length / 2 + 1);
  }
  for (size_t d = first; d + 1 < rank && type != "IRFFT"; ++d) {
    TransformAlong(dims, d, inverse ? 1 : -1, inverse, &data);
  }
  ShapeTable& shapes = call.module.context->shapes;
  const bool real = !IsComplex(call.shape->type);
  Value result =
      Value::NewNative(shapes.WithType(*call.shape, real ? ElementType::kF64 : ElementType::kC128));
  for (size_t i = 0; i < data.size(); ++i) {
    if (real) {
      result.MutableAs<double>()[i] = data[i].real();
    } else {
      result.MutableAs<Complex>()[i] = data[i];
    }
  }
  HV_ASSIGN(result, ConvertValue(call.module, result, call.shape->type));
  return result.WithShape(call.shape);
}

}  // namespace hv
