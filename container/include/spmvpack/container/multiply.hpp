#pragma once
/// What a multiply Y = alpha op(A) X + beta Y is asked for: one description for every loader, and for C.

#include <cstdint>

#include "spmvpack/container/contents.hpp"
#include "spmvpack/container/export.hpp"
#include "spmvpack/container/types.hpp"

namespace spmvpack {

/// op(A).
enum class Operation : std::uint8_t { none = 0, transpose = 1, conjugate_transpose = 2 };

/// One kernel of one layout, resolved from its name once (gpu_loader::find_kernel). The default is each layout's
/// default.
struct KernelId {
  std::uint32_t value = 0;
  bool operator==(const KernelId&) const = default;
  [[nodiscard]] constexpr bool is_default() const noexcept { return value == 0; }
};

/// Everything about a multiply but its operands. What a loader cannot do yet is refused with errc::unsupported before
/// anything is computed: operations other than `none`, and more than one right-hand side.
struct MultiplyDescription {
  Operation operation = Operation::none;
  ValueType vectors = ValueType::f64;  ///< of X, Y, alpha and beta, and of every product and sum
  std::uint64_t right_hand_sides = 1;  ///< columns of X and Y
  std::uint64_t ldx = 0, ldy = 0;      ///< elements from one column to the next, no fewer than one has; 0: just as many
  bool scalars_on_device = false;      ///< whether alpha and beta lie in device memory, read when the multiply runs
  KernelId kernel = {};
};

/// The plain multiply with vectors of type T.
template <class T>
constexpr MultiplyDescription describe() noexcept {
  return {.vectors = value_type_of<T>};
}

/// What every loader refuses. Error(errc::usage): the description does not go with the matrix - f32 vectors for f64
/// values, a leading dimension smaller than a column. Error(errc::unsupported): no loader can do it yet. Kernels and the
/// place of the scalars are for each loader to check.
SPMVPACK_EXPORT void check_description(const MultiplyDescription& description, const MatrixFacts& facts);

}  // namespace spmvpack
