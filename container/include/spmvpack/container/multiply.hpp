#pragma once
/// The description of a multiply Y = alpha op(A) X + beta Y, shared by all loaders and by C.

#include <cstdint>

#include "spmvpack/container/contents.hpp"
#include "spmvpack/container/export.hpp"
#include "spmvpack/container/types.hpp"

namespace spmvpack {

/// op(A).
enum class Operation : std::uint8_t { none = 0, transpose = 1, conjugate_transpose = 2 };

/// One kernel of one layout, resolved once from its name by gpu_loader::find_kernel(). A default KernelId stands for
/// each layout's default kernel.
struct KernelId {
  std::uint32_t value = 0;
  bool operator==(const KernelId&) const = default;
  [[nodiscard]] constexpr bool is_default() const noexcept { return value == 0; }
};

/// Everything about a multiply except its operands. What a loader does not support yet (operations other than `none`,
/// more than one right-hand side) is refused with errc::unsupported before anything is computed.
struct MultiplyDescription {
  Operation operation = Operation::none;
  ValueType vectors = ValueType::f64;  ///< of X, Y, alpha and beta, and of every product and sum
  std::uint64_t right_hand_sides = 1;  ///< columns of X and Y
  std::uint64_t ldx = 0, ldy = 0;      ///< elements from one column to the next, at least its length; 0: exactly that
  bool scalars_on_device = false;      ///< alpha and beta are in device memory, read when the multiply runs
  KernelId kernel = {};
};

/// Describes the plain multiply with vectors of type T.
template <class T>
constexpr MultiplyDescription describe() noexcept {
  return {.vectors = value_type_of<T>};
}

/// Refuses what no loader accepts. Error(errc::usage) if the description does not fit the matrix: f32 vectors with f64
/// values, or a leading dimension smaller than a column. Error(errc::unsupported) if no loader can do it yet. Each
/// loader checks the kernel and the location of the scalars itself.
SPMVPACK_EXPORT void check_description(const MultiplyDescription& description, const MatrixFacts& facts);

}  // namespace spmvpack
