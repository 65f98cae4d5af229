// Constant values: a dense array in row-major logical order whatever the layout, or a tuple. A
// literal printed as {...} is elided: its shape is known, its value is not, and it takes no memory.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/arena.h"
#include "base/result.h"
#include "hlo/shape.h"

namespace hv {

// Trivially destructible; bytes and elements live in an arena (of the module it belongs to).
// Element storage: HostBytes(type) each; pred 0/1; types below 8 bits one per byte, signed ones
// sign-extended; floats as their IEEE-like bit patterns; complex as (re, im).
struct Literal {
  const Shape* shape = nullptr;
  bool elided = false;
  std::span<const std::byte> bytes;          // arrays, unless elided
  std::span<const Literal* const> elements;  // tuples
};

// Same shape (layouts aside) and bits. Elided literals are equal only to themselves.
bool SameLiteral(const Literal& a, const Literal& b);

// Element `index` (row-major) of an array literal. Integers keep 64 bits: unsigned values above
// INT64_MAX come as the same bits. Pred is 0 or 1.
int64_t IntegerAt(const Literal& literal, int64_t index);
// Any real type as a double (f64 exact, 64-bit integers rounded).
double RealAt(const Literal& literal, int64_t index);
std::complex<double> ComplexAt(const Literal& literal, int64_t index);

// The literal as HLO prints it after `constant(`: "-7", "{1, 2, 3}", "{ { 1, 2 }, { 3, 4 } }",
// "{...}".
void AppendLiteral(const Literal& literal, std::string* out);
std::string ToString(const Literal& literal);

// One scalar as HLO prints it, enough digits to read back the same bits.
void AppendElement(ElementType type, const std::byte* element, std::string* out);

}  // namespace hv
