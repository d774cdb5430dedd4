#pragma once
// The layouts' multiplies.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "spmvpack/container/contents.hpp"
#include "spmvpack/container/instruction_set.hpp"

namespace spmvpack::host_loader {

/// Of functions written with AVX2's intrinsics, as all of their callers are.
#define SPMVPACK_INLINE_V3 SPMVPACK_TARGET_V3 SPMVPACK_INLINE

/// Before a loop whose turns do not depend on one another, whatever its pointers point at. Clang's hint is a warning
/// where loops are not optimised; without one it compares the pointers when the loop begins.
#ifdef __clang__
#define SPMVPACK_INDEPENDENT
#else
#define SPMVPACK_INDEPENDENT _Pragma("GCC ivdep")
#endif

/// beta y, with no y read where beta is 0.
template <class V>
SPMVPACK_INLINE V scaled(V beta, const V& y) {
  return beta == 0 ? V{0} : beta * y;
}

inline constexpr std::size_t cache_line = 64;

/// Fetches the line that is so many bytes from p, which may be past what p points into.
SPMVPACK_INLINE void prefetch(const void* p, std::size_t bytes) {
  const auto at = reinterpret_cast<std::uintptr_t>(p) + bytes;
  __builtin_prefetch(reinterpret_cast<const void*>(at));  // NOLINT(performance-no-int-to-ptr)
}

/// y = alpha A x + beta y over a part's local rows and columns. Every row first becomes beta y (0 where beta is 0, y
/// unread); a row with entries then becomes fma(alpha, sum, that). V is the type of vectors, products and sums.
/// Loops hold it by value, so that the compiler knows that no store to y changes it.
template <class V>
struct Operands {
  V alpha = 0;
  const V* x = nullptr;  ///< by local column
  V beta = 0;
  V* y = nullptr;                       ///< by local row; by the matrix's row where there is a list
  const std::uint32_t* rows = nullptr;  ///< the list: the matrix's row of each local row, each once, in any order
  bool conjugate = false;  ///< the stored values; without effect on types whose values are their own conjugates

  /// The element of y that belongs to a local row.
  [[nodiscard]] SPMVPACK_INLINE V& at(std::uint64_t row) const {
    if (rows != nullptr) [[unlikely]]
      row = rows[row];
    return y[row];
  }
  /// A row that has entries.
  SPMVPACK_INLINE void put(std::uint64_t row, V sum) const {
    V& element = at(row);
    element = std::fma(alpha, sum, scaled(beta, element));
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
    if (factor == 0)
      std::fill(y + begin, y + end, V{0});
    else
      for (; begin < end; ++begin) y[begin] = factor * y[begin];
  }

 private:
  [[gnu::noinline]] void scale_listed(std::uint64_t begin, std::uint64_t end) const {
    for (; begin < end; ++begin) at(begin) = scaled(beta, at(begin));
  }
};

/// What a layout makes of a part when it is loaded, for all multiplies. No bit of a result depends on it.
struct LayoutState {
  LayoutState() = default;
  LayoutState(const LayoutState&) = delete;
  LayoutState& operator=(const LayoutState&) = delete;
  virtual ~LayoutState() = default;
};

template <class V>
using Multiply = void (*)(const PartView& part, const LayoutState* state, const Operands<V>& operands, int threads);

// Every layout that the host multiplies with: the only list of them.
#define SPMVPACK_HOST_LAYOUTS(X) \
  X(csr) X(coo) X(ell) X(ellpack_r) X(sell) X(pjds) X(dia) X(ccoo) X(amb) X(pkt) X(csell) X(bitflag) X(sjds)

namespace layouts {
/// A is the type of the stored values. They are widened to V, exactly, before anything is computed.
#define SPMVPACK_DECLARE(name) \
  template <class A, class V>  \
  void multiply_##name(const PartView& part, const LayoutState* state, const Operands<V>& operands, int threads);
SPMVPACK_HOST_LAYOUTS(SPMVPACK_DECLARE)
#undef SPMVPACK_DECLARE
/// May be null.
std::unique_ptr<const LayoutState> prepare_csr(const PartView& part, int threads);
std::unique_ptr<const LayoutState> prepare_sjds(const PartView& part, int threads);
}  // namespace layouts

}  // namespace spmvpack::host_loader

// NOLINTBEGIN(bugprone-macro-parentheses): a name cannot be in parentheses here
#define SPMVPACK_INSTANCE(A, V, multiply) \
  template void multiply<A>(const PartView&, const LayoutState*, const Operands<V>&, int);
/// Instantiates a layout's multiply for all pairs of types.
#define SPMVPACK_INSTANTIATE(multiply) SPMVPACK_TYPE_PAIRS(SPMVPACK_INSTANCE, multiply)
// NOLINTEND(bugprone-macro-parentheses)
