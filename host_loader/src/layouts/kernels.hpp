#pragma once
// The layouts' multiplies.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "spmvpack/container/base/instruction_set.hpp"
#include "spmvpack/container/file/contents.hpp"
#include "spmvpack/container/layouts/layout.hpp"
#include "spmvpack/container/multiply/arithmetic.hpp"
#include "spmvpack/container/multiply/multiply.hpp"
#include "spmvpack/launch_rules/columns.hpp"

namespace spmvpack::host_loader {

/// Of functions written with AVX2's intrinsics, as all of their callers are.
#define SPMVPACK_INLINE_V3 SPMVPACK_TARGET_V3 SPMVPACK_INLINE
/// Lambdas do not inherit the target of their function.
#define SPMVPACK_LAMBDA_V3 __attribute__((always_inline, target("avx2,bmi,bmi2,fma,lzcnt")))

/// Before a loop whose turns do not depend on one another, whatever its pointers point at. Clang's hint is a warning
/// where loops are not optimised; without one it compares the pointers when the loop begins.
#ifdef __clang__
#define SPMVPACK_INDEPENDENT
#else
#define SPMVPACK_INDEPENDENT _Pragma("GCC ivdep")
#endif

inline constexpr std::size_t cache_line = 64;

/// Fetches the line that is so many bytes from p, which may be past what p points into.
SPMVPACK_INLINE void prefetch(const void* p, std::size_t bytes) {
  const auto at = reinterpret_cast<std::uintptr_t>(p) + bytes;
  __builtin_prefetch(reinterpret_cast<const void*>(at));  // NOLINT(performance-no-int-to-ptr)
}

/// y = alpha A x + beta y over a part's local rows and columns. Every row first becomes beta y (0 where beta is 0, y
/// unread); a row with entries then becomes completed(alpha, sum, that). V is the type of vectors, products and sums.
/// Loops hold it by value, so that the compiler knows that no store to y changes it.
template <class V>
struct Operands {
  V alpha = 0;
  const V* x = nullptr;  ///< by local column
  V beta = 0;
  V* y = nullptr;                       ///< by local row; by the matrix's row where there is a list
  const std::uint32_t* rows = nullptr;  ///< the list: the matrix's row of each local row, each once, in any order

  /// The element of y that belongs to a local row.
  [[nodiscard]] SPMVPACK_INLINE V& at(std::uint64_t row) const {
    if (rows != nullptr) [[unlikely]]
      row = rows[row];
    return y[row];
  }
  /// A row that has entries.
  SPMVPACK_INLINE void put(std::uint64_t row, V sum) const {
    V& element = at(row);
    element = completed(alpha, sum, scaled(beta, element));
  }
  /// Rows [begin, end), which have entries. Their sums are nowhere in y.
  SPMVPACK_INLINE void put_all(std::uint64_t begin, std::uint64_t end, const V* sums) const {
    if (rows != nullptr) [[unlikely]] {
      for (; begin < end; ++begin, ++sums) put(begin, *sums);
      return;
    }
    const V a = alpha, b = beta;  // which no element of y is
    V* const to = y;
    if (b == 0) {
      SPMVPACK_INDEPENDENT
      for (std::uint64_t r = begin; r < end; ++r) to[r] = std::fma(a, sums[r - begin], V{0});
    } else {
      SPMVPACK_INDEPENDENT
      for (std::uint64_t r = begin; r < end; ++r) to[r] = std::fma(a, sums[r - begin], b * to[r]);
    }
  }
  /// Rows [begin, end), which have none; no rows if begin is behind end.
  SPMVPACK_INLINE void scale(std::uint64_t begin, std::uint64_t end) const {
    if (begin >= end) return;
    if (rows != nullptr) [[unlikely]]
      return scale_listed(begin, end);
    const V factor = beta;  // which no element of y is, whatever the compiler may think
    if (factor == V{0})
      std::fill(y + begin, y + end, V{0});
    else
      for (; begin < end; ++begin) y[begin] = times(factor, y[begin]);
  }

 private:
  [[gnu::noinline]] void scale_listed(std::uint64_t begin, std::uint64_t end) const {
    for (; begin < end; ++begin) at(begin) = scaled(beta, at(begin));
  }
};

/// The most columns that a layout multiplies at once.
inline constexpr std::uint32_t most_columns = launch_rules::columns::most_of_host;

/// The operands of several columns, which lie side by side: element (i, j) of X is x[i * x_stride + j], that of Y
/// likewise. Else as those of one.
template <class V>
struct ColumnOperands {
  V alpha = 0;
  const V* x = nullptr;
  V beta = 0;
  V* y = nullptr;
  const std::uint32_t* rows = nullptr;
  std::int64_t x_stride = 1, y_stride = 1;
  std::uint32_t count = 1;  ///< 1 to most_columns
};

/// A layout's multiply of one column, whose elements are neighbours.
template <class V>
using Multiply = void (*)(const PartView& part, const LayoutState* state, const Operands<V>& operands, int threads);
/// The same sums of several columns at once.
template <class V>
using MultiplyColumns = void (*)(const PartView& part, const LayoutState* state, const ColumnOperands<V>& operands,
                                 int threads);

/// A layout's multiply for values of type A, which are widened to V, exactly, before anything is computed.
template <class A, class V>
struct PairMultiply {
  Multiply<V> multiply = nullptr;
  MultiplyColumns<V> columns = nullptr;  ///< null: one after the other
};

namespace detail {
template <class None, class... Pairs>
using PairTuple = std::tuple<Pairs...>;
#define SPMVPACK_AND_PAIR(A, V) , PairMultiply<A, V>
using PairMultiplies = PairTuple<void SPMVPACK_TYPE_PAIRS(SPMVPACK_AND_PAIR)>;
using ComplexMultiplies = PairTuple<void SPMVPACK_COMPLEX_PAIRS(SPMVPACK_AND_PAIR)>;
#undef SPMVPACK_AND_PAIR
}  // namespace detail

/// A layout on the host.
struct LayoutMultiply {
  std::string_view name;
  detail::PairMultiplies pairs;
  /// Of a loaded part that is checked; may return null. Null if the layout needs no state.
  std::unique_ptr<LayoutState> (*prepare)(const PartView& part, int threads) = nullptr;
  /// Copies the part's values, which have changed, to a state that copies_values(), without allocating. Null if none
  /// does.
  void (*copy_values)(const PartView& part, LayoutState& state, int threads) = nullptr;
  detail::ComplexMultiplies complex_pairs = {};  ///< null in layouts that have no complex values

  /// The functions for values of type `values` and vectors of type V; null if they are no pair.
  template <class V>
  [[nodiscard]] PairMultiply<void, V> with_vectors(ValueType values) const {
    PairMultiply<void, V> found;
    const auto look = [&]<class A, class W>(const PairMultiply<A, W>& pair) {
      if constexpr (std::is_same_v<V, W>)
        if (values == value_type_of<A>) found = {pair.multiply, pair.columns};
    };
    const auto look_at_all = [&](const auto&... pair) { (look(pair), ...); };
    std::apply(look_at_all, pairs);
    std::apply(look_at_all, complex_pairs);
    return found;
  }
  /// Whether it multiplies values of a type, with vectors of some type.
  [[nodiscard]] bool takes(ValueType values) const {
    return !holds_complex(values) || with_vectors<std::complex<double>>(values).multiply != nullptr;
  }
};

// Every layout that the host multiplies with: the only list of them. Each defines layouts::NAME.
#define SPMVPACK_HOST_LAYOUTS(X) \
  X(csr) X(coo) X(ell) X(ellpack_r) X(sell) X(pjds) X(dia) X(ccoo) X(amb) X(pkt) X(csell) X(bitflag) X(sjds)

namespace layouts {
#define SPMVPACK_DECLARE(name) extern const LayoutMultiply name;
SPMVPACK_HOST_LAYOUTS(SPMVPACK_DECLARE)
#undef SPMVPACK_DECLARE
}  // namespace layouts

}  // namespace spmvpack::host_loader

// NOLINTBEGIN(bugprone-macro-parentheses): a name cannot be in parentheses here
#define SPMVPACK_ONE_COLUMN(A, V, multiply) PairMultiply<A, V>{multiply<A, V>},
/// A member that may follow: the layout's multiply of complex values.
#define SPMVPACK_COMPLEX(multiply) .complex_pairs = {SPMVPACK_COMPLEX_PAIRS(SPMVPACK_ONE_COLUMN, multiply)}
#define SPMVPACK_DEFINE_ONE_COLUMN(layout, multiply, ...) \
  const LayoutMultiply layout{                            \
      .name = #layout, .pairs = {SPMVPACK_TYPE_PAIRS(SPMVPACK_ONE_COLUMN, multiply)} __VA_OPT__(, ) __VA_ARGS__};
/// Defines a layout by its multiply<A, V>(part, state, operands, threads) of one column; members of LayoutMultiply may
/// follow.
#define SPMVPACK_HOST_LAYOUT(layout, multiply, ...)                                                                \
  static_assert(launch_rules::columns::of_host(#layout) == 1, "predictions expect a multiply of several columns"); \
  SPMVPACK_DEFINE_ONE_COLUMN(layout, multiply __VA_OPT__(, ) __VA_ARGS__)
#if SPMVPACK_HAS_V3
#define SPMVPACK_COLUMNS(A, V, multiply, columns) PairMultiply<A, V>{multiply<A, V>, columns<A, V>},
/// The same with several<A, V>(part, state, operands, threads) of several columns, for processors with AVX2.
#define SPMVPACK_HOST_LAYOUT_OF_COLUMNS(layout, multiply, several, ...)                                            \
  static_assert(launch_rules::columns::of_host(#layout) == most_columns, "predictions expect columns one by one"); \
  const LayoutMultiply layout{                                                                                     \
      .name = #layout,                                                                                             \
      .pairs = {SPMVPACK_TYPE_PAIRS(SPMVPACK_COLUMNS, multiply, several)} __VA_OPT__(, ) __VA_ARGS__};
#else
#define SPMVPACK_HOST_LAYOUT_OF_COLUMNS(layout, multiply, columns, ...) \
  SPMVPACK_DEFINE_ONE_COLUMN(layout, multiply __VA_OPT__(, ) __VA_ARGS__)
#endif
// NOLINTEND(bugprone-macro-parentheses)
