#pragma once
/// The description of a multiply Y = alpha op(A) X + beta Y, shared by all loaders and by C.

#include <cstdint>
#include <span>

#include "spmvpack/container/contents.hpp"
#include "spmvpack/container/export.hpp"
#include "spmvpack/container/types.hpp"

namespace spmvpack {

/// op(A). Values are real: the conjugate transpose is the transpose.
enum class Operation : std::uint8_t { none = 0, transpose = 1, conjugate_transpose = 2 };

/// The numbering of the elements of x and y.
enum class Basis : std::uint8_t {
  user,     ///< the matrix's own
  permuted  ///< that of the container's rows, which its columns share: `pjds` with pjds.basis=permuted. The same sums
            ///< without the gathering of x and the scattering of y; for many multiplies in a row (Kreutzer et al.,
            ///< Sparse Matrix-vector Multiplication on GPGPU Clusters, section 2.1)
};

/// One kernel of one layout, resolved once from its name by gpu_loader::find_kernel(). A default KernelId stands for
/// each layout's default kernel.
struct KernelId {
  std::uint32_t value = 0;
  bool operator==(const KernelId&) const = default;
  [[nodiscard]] constexpr bool is_default() const noexcept { return value == 0; }
};

/// Everything about a multiply except its operands. What a loader does not support yet (more than one right-hand side)
/// is refused with errc::unsupported before anything is computed.
struct MultiplyDescription {
  Operation operation = Operation::none;  ///< others need A^T: EncodeRequest::transpose, or a symmetric matrix
  ValueType vectors = ValueType::f64;     ///< of X, Y, alpha and beta, and of every product and sum
  std::uint64_t right_hand_sides = 1;     ///< columns of X and Y
  std::uint64_t ldx = 0, ldy = 0;  ///< elements from one column to the next, at least its length; 0: exactly that
  bool scalars_on_device = false;  ///< alpha and beta are in device memory, read when the multiply runs
  KernelId kernel = {};
  Basis basis = Basis::user;  ///< permuted: X and Y are as permute() of the loaded matrix makes them
};

/// Describes the multiply with vectors of type T.
template <class T>
constexpr MultiplyDescription describe(Operation operation = Operation::none) noexcept {
  return {.operation = operation, .vectors = value_type_of<T>};
}

/// What multiplies with op(A): the parts of a role, or their negative. Of a symmetric matrix the parts of A are A^T, of
/// a skew-symmetric one -A^T.
struct Operand {
  format::Role role = format::Role::a;
  bool negated = false;
  std::uint64_t rows = 0, cols = 0;  ///< of op(A)
};

/// Refuses what no loader accepts, and finds what multiplies. Error(errc::usage) if the description does not fit the
/// matrix: f32 vectors with f64 values, a leading dimension smaller than a column, an operation that needs A^T, or a
/// permuted basis, of `parts` (all of a container's) that have none. Error(errc::unsupported) if no loader can do it
/// yet. Each loader checks the kernel and the location of the scalars itself.
SPMVPACK_EXPORT Operand check_description(const MultiplyDescription& description, const MatrixFacts& facts,
                                          std::span<const PartInfo> parts);

/// Whether a loader can multiply with the transpose: the container has it, or it is A or -A.
SPMVPACK_EXPORT bool has_transpose(const MatrixFacts& facts, std::span<const PartInfo> parts) noexcept;

/// Whether a container with these parts has a permuted basis: one part of A, whose layout numbers rows and columns
/// alike. Its list of rows is the permutation: element i of a permuted vector is element row_map[i] of the user's.
SPMVPACK_EXPORT bool has_permuted_basis(std::span<const PartInfo> parts);

}  // namespace spmvpack
