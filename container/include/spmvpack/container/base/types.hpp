#pragma once
/// The vocabulary that all libraries share: value types, field and symmetry of the source, checked sizes.

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <variant>

#include "spmvpack/container/base/error.hpp"
#include "spmvpack/container/base/export.hpp"

namespace spmvpack {

/// The type of the stored values. The numbers are those of the file format.
enum class ValueType : std::uint8_t { f64 = 1, f32 = 2, c64 = 3, c128 = 4 };
/// The field of the source (Matrix Market's term). All values of a `pattern` matrix are 1.
enum class Field : std::uint8_t { real = 1, integer = 2, pattern = 3, complex = 4 };
/// The symmetry of the source. The matrix itself is always stored expanded to general.
enum class Symmetry : std::uint8_t { general = 1, symmetric = 2, skew_symmetric = 3, hermitian = 4 };

constexpr std::string_view to_string(Field f) noexcept {
  return f == Field::real ? "real" : f == Field::integer ? "integer" : f == Field::pattern ? "pattern" : "complex";
}
constexpr std::string_view to_string(Symmetry s) noexcept {
  return s == Symmetry::general     ? "general"
         : s == Symmetry::symmetric ? "symmetric"
         : s == Symmetry::hermitian ? "hermitian"
                                    : "skew-symmetric";
}

/// What A^T is if a matrix has this symmetry, which is not general, bit for bit.
constexpr std::string_view transpose_text(Symmetry s) noexcept {
  return s == Symmetry::symmetric ? "A" : s == Symmetry::hermitian ? "the conjugate of A" : "-A";
}

/// The properties of a type of values. There is no primary template, so that a type without traits does not compile.
template <class T>
struct ValueTraits;
template <>
struct ValueTraits<double> {
  static constexpr ValueType type = ValueType::f64;
  static constexpr std::string_view name = "f64";
  using Bits = std::uint64_t;                       ///< unsigned, as large as a value
  using Key = std::uint64_t;                        ///< of tables of values: at least Bits, padded with zeros
  static constexpr Bits sign_bits = Bits{1} << 63;  ///< in which a value and its negative differ
};
template <>
struct ValueTraits<float> {
  static constexpr ValueType type = ValueType::f32;
  static constexpr std::string_view name = "f32";
  using Bits = std::uint32_t;
  using Key = std::uint64_t;  // that of double, whose tables serve both
  static constexpr Bits sign_bits = Bits{1} << 31;
};
/// Bits of a complex value: those of the real part are the lower half.
__extension__ typedef unsigned __int128 Bits128;  // NOLINT(modernize-use-using): `using` takes no __extension__
template <>
struct ValueTraits<std::complex<float>> {
  static constexpr ValueType type = ValueType::c64;
  static constexpr std::string_view name = "c64";
  using Bits = std::uint64_t;
  using Key = Bits128;
  static constexpr Bits conjugate_bits = Bits{1} << 63;  ///< in which a value and its conjugate differ
  static constexpr Bits sign_bits = conjugate_bits | Bits{1} << 31;
};
template <>
struct ValueTraits<std::complex<double>> {
  static constexpr ValueType type = ValueType::c128;
  static constexpr std::string_view name = "c128";
  using Bits = Bits128;
  using Key = Bits128;
  static constexpr Bits conjugate_bits = Bits{1} << 127;
  static constexpr Bits sign_bits = conjugate_bits | Bits{1} << 63;
};

/// The real types of values, as X(T), or X(T, ...) with further arguments of the list. Every layout has them, and each
/// is a type of vectors, too. Dispatchers and instances of templates are made from these lists.
// NOLINTBEGIN(bugprone-macro-parentheses): a type cannot be in parentheses
#define SPMVPACK_VALUE_TYPES(X, ...)   \
  X(double __VA_OPT__(, ) __VA_ARGS__) \
  X(float __VA_OPT__(, ) __VA_ARGS__)

/// The complex ones, which some layouts have.
#define SPMVPACK_COMPLEX_TYPES(X, ...)              \
  X(std::complex<float> __VA_OPT__(, ) __VA_ARGS__) \
  X(std::complex<double> __VA_OPT__(, ) __VA_ARGS__)

/// All types of values: of matrices in memory and of files.
#define SPMVPACK_ALL_VALUE_TYPES(X, ...)             \
  SPMVPACK_VALUE_TYPES(X __VA_OPT__(, ) __VA_ARGS__) \
  SPMVPACK_COMPLEX_TYPES(X __VA_OPT__(, ) __VA_ARGS__)

/// The pairs of types that multiply, as X(A, V) or X(A, V, ...): A is the type of the stored values, V that of vectors,
/// of every product and of every sum. A widens to V exactly.
#define SPMVPACK_TYPE_PAIRS(X, ...)            \
  X(double, double __VA_OPT__(, ) __VA_ARGS__) \
  X(float, float __VA_OPT__(, ) __VA_ARGS__)   \
  X(float, double __VA_OPT__(, ) __VA_ARGS__)

/// The same of complex values, whose vectors are complex, too.
#define SPMVPACK_COMPLEX_PAIRS(X, ...)                                     \
  X(std::complex<double>, std::complex<double> __VA_OPT__(, ) __VA_ARGS__) \
  X(std::complex<float>, std::complex<float> __VA_OPT__(, ) __VA_ARGS__)   \
  X(std::complex<float>, std::complex<double> __VA_OPT__(, ) __VA_ARGS__)
// NOLINTEND(bugprone-macro-parentheses)

template <class T>
inline constexpr ValueType value_type_of = ValueTraits<T>::type;
/// Whether T is a type of values.
template <class T>
inline constexpr bool is_value_type = requires {
  ValueTraits<T>::type;
};
/// The unsigned integer type that holds the bits of a value.
template <class T>
using bits_of = typename ValueTraits<T>::Bits;
/// Whether a type of values is complex.
template <class T>
inline constexpr bool is_complex_type = requires {
  ValueTraits<T>::conjugate_bits;
};
constexpr bool holds_complex(ValueType type) noexcept { return type == ValueType::c64 || type == ValueType::c128; }
/// The type of the real and imaginary parts of a complex type's values; of a real type, itself.
constexpr ValueType real_type_of(ValueType type) noexcept {
  return type == ValueType::c64 ? ValueType::f32 : type == ValueType::c128 ? ValueType::f64 : type;
}
/// The complex type whose parts are of a real type; of a complex type, itself.
constexpr ValueType complex_type_of(ValueType type) noexcept {
  return type == ValueType::f32 ? ValueType::c64 : type == ValueType::f64 ? ValueType::c128 : type;
}
/// The field of a matrix that may have any values of the type.
constexpr Field field_of(ValueType type) noexcept { return holds_complex(type) ? Field::complex : Field::real; }

namespace detail {
template <class None, class... T>
struct TypeList {
  static constexpr std::array<ValueType, sizeof...(T)> types{value_type_of<T>...};
  template <template <class> class Of>
  using Variant = std::variant<Of<T>...>;
  using Key = std::common_type_t<typename ValueTraits<T>::Key...>;
};
#define SPMVPACK_AND_TYPE(T) , T
using ValueTypes = TypeList<void SPMVPACK_VALUE_TYPES(SPMVPACK_AND_TYPE)>;
using AllValueTypes = TypeList<void SPMVPACK_ALL_VALUE_TYPES(SPMVPACK_AND_TYPE)>;
#undef SPMVPACK_AND_TYPE
[[noreturn]] SPMVPACK_EXPORT void refuse_type();
[[noreturn]] SPMVPACK_EXPORT void refuse_complex(ValueType type);
[[noreturn]] SPMVPACK_EXPORT void refuse_constant();
}  // namespace detail

/// The real types, and all of them, in the order of their list.
inline constexpr auto value_types = detail::ValueTypes::types;
inline constexpr auto all_value_types = detail::AllValueTypes::types;
/// An Of<T> for one of the real types of values: its index() is that of the type in `value_types`.
template <template <class> class Of>
using VariantOf = detail::ValueTypes::Variant<Of>;
/// The same of all types and `all_value_types`.
template <template <class> class Of>
using VariantOfAll = detail::AllValueTypes::Variant<Of>;
/// Holds the key of any real type of values.
using ValueKey = detail::ValueTypes::Key;
/// Holds the key of any type of values.
using WideKey = detail::AllValueTypes::Key;

#define SPMVPACK_CASE(T) \
  case value_type_of<T>: \
    return f(T{});
/// Calls f(T{}) with the real type that `type` names. Error(errc::unsupported) if it is complex, errc::usage if it
/// names none.
template <class F>
constexpr decltype(auto) dispatch(ValueType type, F&& f) {
  switch (type) {
    SPMVPACK_VALUE_TYPES(SPMVPACK_CASE)
    case ValueType::c64:
    case ValueType::c128:
      detail::refuse_complex(type);
  }
  detail::refuse_type();
}
/// Calls f(T{}) with the type that `type` names, which may be complex. Error(errc::usage) if it names none.
template <class F>
constexpr decltype(auto) dispatch_any(ValueType type, F&& f) {
  switch (type) { SPMVPACK_ALL_VALUE_TYPES(SPMVPACK_CASE) }
  detail::refuse_type();
}
#undef SPMVPACK_CASE

/// Calls f with `value`, one of the constants, as a std::integral_constant. Error(errc::internal) if it is none of
/// them, which a part that has been checked does not have; on a device, a trap.
template <auto first, auto... others, class Value, class F>
constexpr decltype(auto) dispatch_constant(Value value, F&& f) {
  if constexpr (sizeof...(others) != 0) {
    if (value != first) return dispatch_constant<others...>(value, f);
  } else if (value != first) {
#ifdef __CUDA_ARCH__
    __trap();
#else
    detail::refuse_constant();
#endif
  }
  return f(std::integral_constant<Value, first>{});
}

/// Calls f(A{}, V{}) with the types of values and vectors. Error(errc::usage) if they are not such a pair.
template <class F>
decltype(auto) dispatch_types(ValueType values, ValueType vectors, F&& f) {
#define SPMVPACK_IF(A, V) \
  if (values == value_type_of<A> && vectors == value_type_of<V>) return f(A{}, V{});
  SPMVPACK_TYPE_PAIRS(SPMVPACK_IF)
#undef SPMVPACK_IF
  detail::refuse_type();
}

/// Calls f(A{}, V{}) for each type of vectors that multiplies with `values`.
template <class F>
void each_pair_of(ValueType values, F&& f) {
#define SPMVPACK_IF(A, V) \
  if (values == value_type_of<A>) f(A{}, V{});
  SPMVPACK_TYPE_PAIRS(SPMVPACK_IF)
#undef SPMVPACK_IF
}

/// Whether vectors of a type multiply with values of another.
constexpr bool is_type_pair(ValueType values, ValueType vectors) noexcept {
#define SPMVPACK_IF(A, V) \
  if (values == value_type_of<A> && vectors == value_type_of<V>) return true;
  SPMVPACK_TYPE_PAIRS(SPMVPACK_IF)
#undef SPMVPACK_IF
  return false;
}

/// Bytes of a value; 0 if this is not a type of values.
constexpr std::size_t size_of(ValueType type) noexcept {
  switch (type) {
#define SPMVPACK_CASE(T) \
  case value_type_of<T>: \
    return sizeof(T);
    SPMVPACK_ALL_VALUE_TYPES(SPMVPACK_CASE)
#undef SPMVPACK_CASE
  }
  return 0;
}
constexpr std::string_view to_string(ValueType type) noexcept {
  switch (type) {
#define SPMVPACK_CASE(T) \
  case value_type_of<T>: \
    return ValueTraits<T>::name;
    SPMVPACK_ALL_VALUE_TYPES(SPMVPACK_CASE)
#undef SPMVPACK_CASE
  }
  return "no type";
}
/// The type of that name ("f64").
constexpr std::optional<ValueType> value_type_named(std::string_view name) noexcept {
  for (const ValueType type : all_value_types)
    if (to_string(type) == name) return type;
  return {};
}

/// Rows and columns must each be fewer than this.
inline constexpr std::uint64_t max_dimension = (std::uint64_t{1} << 32) - 1;

/// a * b and a + b. Error(errc::unsupported), naming `what`, if the result does not fit into 64 bits.
SPMVPACK_EXPORT std::uint64_t checked_mul(std::uint64_t a, std::uint64_t b, std::string_view what);
SPMVPACK_EXPORT std::uint64_t checked_add(std::uint64_t a, std::uint64_t b, std::string_view what);

constexpr std::uint64_t div_up(std::uint64_t a, std::uint64_t b) noexcept { return a / b + (a % b != 0); }
constexpr std::uint64_t round_up(std::uint64_t a, std::uint64_t b) noexcept { return div_up(a, b) * b; }

}  // namespace spmvpack
