#pragma once
/// Values that are rounded to a narrower type.

#include <cmath>

#include "spmvpack/container/base/types.hpp"

namespace spmvpack {

/// Whether a value, or a part of a complex one, is infinite.
template <class T>
bool is_infinite(const T& value) {
  if constexpr (is_complex_type<T>)
    return std::isinf(value.real()) || std::isinf(value.imag());
  else
    return std::isinf(value);
}

/// Whether `rounded`, which is `value` in another type, is infinite because it is beyond that type.
template <class Wide, class Narrow>
bool is_beyond(const Wide& value, const Narrow& rounded) {
  return is_infinite(rounded) && !is_infinite(value);
}

}  // namespace spmvpack
