// The NaN of sums of many terms: the one quiet NaN, positive and without payload. Which of several an
// addition keeps would depend on how the terms are dealt to vectors and threads.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "eval/vector_isa.h"

namespace hv {

template <class T>
HV_INLINE T OneNaN(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return value == value ? value : std::numeric_limits<T>::quiet_NaN();
  }
  return value;
}

// Writes only if there is a NaN.
template <class T>
HV_INLINE void KeepOneNaN(T* values, int64_t count) {
  if constexpr (std::is_floating_point_v<T>) {
    int found = 0;
    for (int64_t i = 0; i < count; ++i) found |= values[i] != values[i];
    if (found == 0) return;
    for (int64_t i = 0; i < count; ++i) values[i] = OneNaN(values[i]);
  }
}

}  // namespace hv
