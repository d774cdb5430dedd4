#pragma once
/// Values in messages and reports.

#include <fmt/format.h>

#include <string>

#include "spmvpack/container/base/types.hpp"

namespace spmvpack {

/// The shortest digits that read back as the value; of a complex one "1-2i".
template <class T>
std::string value_text(T value) {
  if constexpr (is_complex_type<T>)
    return fmt::format("{}{:+}i", value.real(), value.imag());
  else
    return fmt::to_string(value);
}

}  // namespace spmvpack
