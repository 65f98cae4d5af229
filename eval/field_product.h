// Products of matrices over the fields of eval/field.h.
#pragma once

#include <cstdint>
#include <span>

#include "eval/field.h"

namespace hv {

// c[m][n] = a[m][k] * b[k][n], row-major.
void MultiplyMatrices(int64_t m, int64_t n, int64_t k, std::span<const FieldPair> a,
                      std::span<const FieldPair> b, std::span<FieldPair> c);

}  // namespace hv
