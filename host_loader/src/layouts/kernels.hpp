#pragma once
// The layouts' multiplies.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "spmvpack/container/contents.hpp"
#include "spmvpack/container/instruction_set.hpp"

namespace spmvpack::host_loader {

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
  /// Rows [begin, end), which have none.
  SPMVPACK_INLINE void scale(std::uint64_t begin, std::uint64_t end) const {
    if (rows != nullptr) [[unlikely]]
      return scale_listed(begin, end);
    for (; begin < end; ++begin) y[begin] = scaled(beta, y[begin]);
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

namespace layouts {
/// A is the type of the stored values. They are widened to V, exactly, before anything is computed.
template <class A, class V>
void multiply_csr(const PartView& part, const LayoutState* state, const Operands<V>& operands, int threads);
/// May be null.
std::unique_ptr<const LayoutState> prepare_csr(const PartView& part, int threads);
template <class A, class V>
void multiply_coo(const PartView& part, const LayoutState* state, const Operands<V>& operands, int threads);
template <class A, class V>
void multiply_ell(const PartView& part, const LayoutState* state, const Operands<V>& operands, int threads);
template <class A, class V>
void multiply_ellpack_r(const PartView& part, const LayoutState* state, const Operands<V>& operands, int threads);
template <class A, class V>
void multiply_sell(const PartView& part, const LayoutState* state, const Operands<V>& operands, int threads);
template <class A, class V>
void multiply_pjds(const PartView& part, const LayoutState* state, const Operands<V>& operands, int threads);
template <class A, class V>
void multiply_dia(const PartView& part, const LayoutState* state, const Operands<V>& operands, int threads);
template <class A, class V>
void multiply_ccoo(const PartView& part, const LayoutState* state, const Operands<V>& operands, int threads);
template <class A, class V>
void multiply_amb(const PartView& part, const LayoutState* state, const Operands<V>& operands, int threads);
template <class A, class V>
void multiply_csell(const PartView& part, const LayoutState* state, const Operands<V>& operands, int threads);
template <class A, class V>
void multiply_bitflag(const PartView& part, const LayoutState* state, const Operands<V>& operands, int threads);
}  // namespace layouts

}  // namespace spmvpack::host_loader

// NOLINTBEGIN(bugprone-macro-parentheses): a name cannot be in parentheses here
/// Instantiates a layout's multiply for the types of values and vectors.
#define SPMVPACK_INSTANTIATE(multiply)                                                               \
  template void multiply<double>(const PartView&, const LayoutState*, const Operands<double>&, int); \
  template void multiply<float>(const PartView&, const LayoutState*, const Operands<float>&, int);   \
  template void multiply<float>(const PartView&, const LayoutState*, const Operands<double>&, int);
// NOLINTEND(bugprone-macro-parentheses)
