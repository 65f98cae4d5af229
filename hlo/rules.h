// What the shape rules in ops_*.cc share: errors placed at the instruction or at one of its
// attributes, and checks that many ops need. Every error carries a stable diagnostic id.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hlo/op.h"

namespace hv {

using Dims = std::span<const int64_t>;

// "<opcode>: <message>" at the instruction, or at its attribute `key` if it has one.
tl::unexpected<Error> Wrong(const OpContext& context, std::string_view id, std::string message);
tl::unexpected<Error> Wrong(const OpContext& context, Attr key, std::string_view id,
                            std::string message);

// Operand and attribute counts against the row: "operand-count", "attribute-missing",
// "attribute-unknown", "unbounded-dimension".
Status CheckForm(const OpContext& context);

// May differing float widths pass as equal? HLO's verifier ignores them in arithmetic, where operands
// are converted to the declared type, but not where values are handed on unchanged.
enum class FloatWidth : bool { kExact, kAny };

bool SameType(ElementType a, ElementType b, FloatWidth width);
// Equal up to layouts, dynamic marks and, if allowed, float widths; through tuples and buffers.
bool Compatible(const Shape& a, const Shape& b, FloatWidth width);

// An array shape, or "size-overflow".
Result<const Shape*> MakeArray(const OpContext& context, ElementType type, Dims dims);
// `shape` with the element type `type`.
const Shape* WithType(const OpContext& context, const Shape& shape, ElementType type);
// One shape, or a tuple of several.
const Shape* TupleOrSingle(const OpContext& context, std::span<const Shape* const> shapes);

// Operands first..end-1 are arrays: "operand-array".
Status CheckArrays(const OpContext& context, size_t first, size_t end);
inline Status CheckArrays(const OpContext& context) {
  return CheckArrays(context, 0, context.operand_count());
}
Status CheckScalar(const OpContext& context, size_t operand);                     // "operand-rank"
Status CheckRank(const OpContext& context, size_t operand, int64_t rank);         // "operand-rank"
Status CheckSameDims(const OpContext& context, size_t a, size_t b);               // "operand-dims"
Status CheckSameType(const OpContext& context, size_t a, size_t b, FloatWidth width);  // "operand-types"
Status CheckAccepted(const OpContext& context, size_t operand, TypeSet accepted);  // "operand-type"
// Factors of a product: of one kind (integers, floats, complex numbers, pred): "operand-types".
Status CheckSameKind(const OpContext& context, size_t a, size_t b);
// Type of their product: the declared one if it is of that kind, else the wider one.
ElementType ProductType(const OpContext& context, size_t a, size_t b);
// The declared result has this type and these dims: "result-shape".
Status CheckResult(const OpContext& context, const Shape& expected, FloatWidth width);

// 0 <= dimension < rank: "dimension-range".
Status CheckDimension(const OpContext& context, Attr key, int64_t dimension, int64_t rank);
// Each of the list in range, none twice: "dimension-range", "dimension-twice".
Status CheckDimensions(const OpContext& context, Attr key, int64_t rank);
// The list under `key` holds `count` numbers: "dimension-count".
Status CheckCount(const OpContext& context, Attr key, size_t count);
// The one number of a list: "dimension-count", "dimension-range".
Result<int64_t> OneDimension(const OpContext& context, Attr key, int64_t rank);

// A called computation takes `parameters` and, unless null, returns `result`:
// "computation-parameters", "computation-result".
Status CheckSignature(const OpContext& context, Attr key, ComputationIndex callee,
                      std::span<const Shape* const> parameters, const Shape* result,
                      FloatWidth width);
inline Status CheckSignature(const OpContext& context, Attr key,
                             std::span<const Shape* const> parameters, const Shape* result,
                             FloatWidth width) {
  return CheckSignature(context, key, context.instruction.Computation(key), parameters, result,
                        width);
}
// A reduction function over values of operands 0..n-1: 2n scalars (accumulators, then values) to one
// scalar, or a tuple of n. Ids of CheckSignature.
Status CheckReducer(const OpContext& context, Attr key, size_t n);
// Shape of the result of the computation under `key`.
const Shape& ResultOf(const OpContext& context, Attr key);

std::string Text(const Shape& shape);  // without layout
std::string Text(Dims dims);           // "{1,2}"

}  // namespace hv
