#pragma once
/// The vocabulary that all libraries share: value types, field and symmetry of the source, checked sizes.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "spmvpack/container/error.hpp"
#include "spmvpack/container/export.hpp"

namespace spmvpack {

/// The type of the stored values. The numbers are those of the file format.
enum class ValueType : std::uint8_t { f64 = 1, f32 = 2 };
/// The field of the source (Matrix Market's term). All values of a `pattern` matrix are 1.
enum class Field : std::uint8_t { real = 1, integer = 2, pattern = 3 };
/// The symmetry of the source. The matrix itself is always stored expanded to general.
enum class Symmetry : std::uint8_t { general = 1, symmetric = 2, skew_symmetric = 3 };

constexpr std::size_t size_of(ValueType t) noexcept { return t == ValueType::f64 ? 8 : 4; }
constexpr std::string_view to_string(ValueType t) noexcept { return t == ValueType::f64 ? "f64" : "f32"; }
constexpr std::string_view to_string(Field f) noexcept {
  return f == Field::real ? "real" : f == Field::integer ? "integer" : "pattern";
}
constexpr std::string_view to_string(Symmetry s) noexcept {
  return s == Symmetry::general ? "general" : s == Symmetry::symmetric ? "symmetric" : "skew-symmetric";
}

template <class T>
inline constexpr ValueType value_type_of = std::is_same_v<T, double> ? ValueType::f64 : ValueType::f32;

/// Calls f(T{}) with T = double or float, whichever `type` names.
template <class F>
decltype(auto) dispatch(ValueType type, F&& f) {
  return type == ValueType::f64 ? f(double{}) : f(float{});
}

/// The unsigned integer type that holds the bits of a value.
template <class T>
using bits_of = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

/// Rows and columns must each be fewer than this.
inline constexpr std::uint64_t max_dimension = (std::uint64_t{1} << 32) - 1;

/// a * b and a + b. Error(errc::unsupported), naming `what`, if the result does not fit into 64 bits.
SPMVPACK_EXPORT std::uint64_t checked_mul(std::uint64_t a, std::uint64_t b, std::string_view what);
SPMVPACK_EXPORT std::uint64_t checked_add(std::uint64_t a, std::uint64_t b, std::string_view what);

constexpr std::uint64_t div_up(std::uint64_t a, std::uint64_t b) noexcept { return a / b + (a % b != 0); }
constexpr std::uint64_t round_up(std::uint64_t a, std::uint64_t b) noexcept { return div_up(a, b) * b; }

}  // namespace spmvpack
