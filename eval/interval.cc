#include "eval/interval.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hlo/float_formats.h"

namespace hv {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Last places that library functions may be off: a few in f32, and back ends differ.
constexpr int kLibrarySlack = 16;

double Down(double value) { return std::nextafter(value, -kInfinity); }
double Up(double value) { return std::nextafter(value, kInfinity); }

// Distance of neighbouring values of the type at `value`.
double Quantum(ElementType type, double value) {
  int exponent = 0;
  std::frexp(value, &exponent);
  return std::ldexp(1, exponent - PrecisionBits(type));
}

// At least the smallest normal value: narrow formats are symmetric around 1 up to a factor of 8.
double SmallestNormal(ElementType type) {
  switch (type) {
    case ElementType::kF64:
      return 0x1p-1022;
    case ElementType::kF32:
    case ElementType::kBF16:
      return 0x1p-126;
    default:
      return 8 / LargestFinite(type);
  }
}

double RoundedDown(ElementType type, double value, int slack) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double quantum = Quantum(type, value);
  double down = quantum == 0 ? Down(value) : std::floor(value / quantum) * quantum;
  down -= slack * quantum;
  if (down > 0 && down < SmallestNormal(type)) return 0;  // may be flushed
  if (down < 0 && down > -SmallestNormal(type)) return -SmallestNormal(type);
  if (down < -LargestFinite(type)) return -kInfinity;
  return std::min(down, LargestFinite(type));
}

double RoundedUp(ElementType type, double value, int slack) {
  return -RoundedDown(type, -value, slack);
}

// Is a * b the product, without rounding? Below this size the error itself may underflow.
constexpr double kErrorIsSeen = 0x1p-960;
bool IsExactProduct(double a, double b, double product) {
  if (a == 0 || b == 0) return product == 0;
  return std::fabs(product) >= kErrorIsSeen && std::fma(a, b, -product) == 0;
}

// Rounding error of x + y in f64 (Knuth's TwoSum); 0 means the sum is exact.
double SumError(double x, double y) {
  const double sum = x + y, virtual_y = sum - x;
  return (x - (sum - virtual_y)) + (y - virtual_y);
}
double SumDown(double x, double y) { return SumError(x, y) == 0 ? x + y : Down(x + y); }
double SumUp(double x, double y) { return SumError(x, y) == 0 ? x + y : Up(x + y); }

struct Ends {
  double low = kInfinity, high = -kInfinity;
  void Include(double value, bool exact) {
    if (std::isnan(value)) {
      low = -kInfinity;
      high = kInfinity;
      return;
    }
    low = std::min(low, exact ? value : Down(value));
    high = std::max(high, exact ? value : Up(value));
  }
};

// A function that rises (or falls) everywhere, computed by the C library.
template <class F>
Interval Monotone(ElementType type, F f, Interval x, bool falls = false) {
  const double a = f(falls ? x.high : x.low), b = f(falls ? x.low : x.high);
  if (std::isnan(a) || std::isnan(b)) return Interval::Everything();
  return Rounded(type, {a, b}, kLibrarySlack);
}

// Functions whose derivative never exceeds 1 in size, bounded by 1: sine and cosine.
template <class F>
Interval Wave(ElementType type, F f, Interval x) {
  if (!std::isfinite(x.low) || !std::isfinite(x.high)) return {-1, 1};
  const double middle = f(x.low), width = x.high - x.low;
  const Interval wide = Rounded(type, {middle - width, middle + width}, kLibrarySlack);
  return {std::max(wide.low, -1.0), std::min(wide.high, 1.0)};
}

double Reciprocal(double x) { return 1 / std::sqrt(x); }
double Logistic(double x) { return 1 / (1 + std::exp(-x)); }

Interval Unary(ScalarFn fn, ElementType type, Interval x) {
  switch (fn) {
    case ScalarFn::kNegate:
      return Negate(x);
    case ScalarFn::kAbs:
      if (x.low >= 0) return x;
      if (x.high <= 0) return Negate(x);
      return {0, x.Size()};
    case ScalarFn::kCeil:
      return {std::ceil(x.low), std::ceil(x.high)};
    case ScalarFn::kFloor:
      return {std::floor(x.low), std::floor(x.high)};
    case ScalarFn::kRoundNearestAfz:
      return {std::round(x.low), std::round(x.high)};
    case ScalarFn::kRoundNearestEven:
      return {std::nearbyint(x.low), std::nearbyint(x.high)};
    case ScalarFn::kSign:
      return {static_cast<double>((x.low > 0) - (x.low < 0)),
              static_cast<double>((x.high > 0) - (x.high < 0))};
    case ScalarFn::kExp:
      return Monotone(
          type, [](double v) { return std::exp(v); }, x);
    case ScalarFn::kExpm1:
      return Monotone(
          type, [](double v) { return std::expm1(v); }, x);
    case ScalarFn::kLog:
      return Monotone(
          type, [](double v) { return std::log(v); }, x);
    case ScalarFn::kLog1p:
      return Monotone(
          type, [](double v) { return std::log1p(v); }, x);
    case ScalarFn::kSqrt:
      return Monotone(
          type, [](double v) { return std::sqrt(v); }, x);
    case ScalarFn::kCbrt:
      return Monotone(
          type, [](double v) { return std::cbrt(v); }, x);
    case ScalarFn::kTanh:
      return Monotone(
          type, [](double v) { return std::tanh(v); }, x);
    case ScalarFn::kErf:
      return Monotone(
          type, [](double v) { return std::erf(v); }, x);
    case ScalarFn::kLogistic:
      return Monotone(type, Logistic, x);
    case ScalarFn::kRsqrt:
      return x.low > 0 ? Monotone(type, Reciprocal, x, true) : Interval::Everything();
    case ScalarFn::kSin:
      return Wave(
          type, [](double v) { return std::sin(v); }, x);
    case ScalarFn::kCos:
      return Wave(
          type, [](double v) { return std::cos(v); }, x);
    default:
      return Interval::Everything();
  }
}

Interval Power(ElementType type, Interval x, Interval y) {
  if (!(x.low > 0)) return Interval::Everything();
  Ends ends;
  for (double base : {x.low, x.high}) {
    for (double exponent : {y.low, y.high}) ends.Include(std::pow(base, exponent), true);
  }
  return Rounded(type, {ends.low, ends.high}, kLibrarySlack);
}

}  // namespace

Interval Interval::Everything() { return {-kInfinity, kInfinity}; }

double Interval::Size() const { return std::max(std::fabs(low), std::fabs(high)); }

Interval Rounded(ElementType type, Interval exact, int slack) {
  if (std::isnan(exact.low) || std::isnan(exact.high)) return Interval::Everything();
  return {RoundedDown(type, exact.low, slack), RoundedUp(type, exact.high, slack)};
}

Interval Add(Interval x, Interval y) {
  const Interval sum{SumDown(x.low, y.low), SumUp(x.high, y.high)};
  return std::isnan(sum.low) || std::isnan(sum.high) ? Interval::Everything() : sum;
}

Interval Negate(Interval x) { return {-x.high, -x.low}; }

Interval Multiply(Interval x, Interval y) {
  Ends ends;
  for (double a : {x.low, x.high}) {
    for (double b : {y.low, y.high}) ends.Include(a * b, IsExactProduct(a, b, a * b));
  }
  return {ends.low, ends.high};
}

Interval Divide(Interval x, Interval y) {
  if (y.low <= 0 && y.high >= 0) return Interval::Everything();
  Ends ends;
  for (double a : {x.low, x.high}) {
    for (double b : {y.low, y.high}) ends.Include(a / b, IsExactProduct(a / b, b, a));
  }
  return {ends.low, ends.high};
}

Interval Apply(ScalarFn fn, ElementType type, std::span<const Interval> x) {
  for (const Interval& operand : x) {
    if (std::isnan(operand.low) || std::isnan(operand.high)) return Interval::Everything();
  }
  switch (fn) {
    case ScalarFn::kAdd:
      return Rounded(type, Add(x[0], x[1]));
    case ScalarFn::kSubtract:
      return Rounded(type, Add(x[0], Negate(x[1])));
    case ScalarFn::kMultiply:
      return Rounded(type, Multiply(x[0], x[1]));
    case ScalarFn::kDivide:
      return Rounded(type, Divide(x[0], x[1]));
    case ScalarFn::kMaximum:
      return {std::max(x[0].low, x[1].low), std::max(x[0].high, x[1].high)};
    case ScalarFn::kMinimum:
      return {std::min(x[0].low, x[1].low), std::min(x[0].high, x[1].high)};
    case ScalarFn::kPower:
      return Power(type, x[0], x[1]);
    case ScalarFn::kClamp: {
      const Interval raised{std::max(x[0].low, x[1].low), std::max(x[0].high, x[1].high)};
      return {std::min(raised.low, x[2].low), std::min(raised.high, x[2].high)};
    }
    default:
      return x.size() == 1 ? Unary(fn, type, x[0]) : Interval::Everything();
  }
}

// |computed - exact| <= ((1+u)^n - 1) * size for n roundings on any path (Higham 2002,
// section 4.2).
Interval AnyOrderSum(ElementType type, Interval sum, double size, int64_t terms, bool integers) {
  const int precision = PrecisionBits(type);
  if (integers && size <= std::min(std::ldexp(1, precision), LargestFinite(type))) return sum;
  const double unit = std::ldexp(1, -precision);
  const double growth = std::expm1(static_cast<double>(terms) * std::log1p(unit));
  const double error = Up(Up(growth) * size);
  if (!std::isfinite(error)) return Interval::Everything();
  return Rounded(type, Add(sum, {-error, error}));
}

}  // namespace hv
