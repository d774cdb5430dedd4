#pragma once
// Checks of multiply()'s arguments; they need no device.

#include <cstdint>
#include <initializer_list>
#include <span>

#include "spmvpack/container/file/contents.hpp"
#include "spmvpack/container/multiply/multiply.hpp"

namespace spmvpack::gpu_loader {

/// Error(errc::usage) if the type of X and Y is not that of the description's vectors, one is null or not aligned to
/// its elements, or check_operands() refuses them.
void require_vectors(const Operand& operand, const MultiplyDescription& description, ValueType type,
                     const DensePlace& x, const DensePlace& y);
/// Error(errc::usage) if factors are not aligned to their elements.
void require_factors(const DensePlace& of_rows, const DensePlace& of_columns);
/// Error(errc::usage) if the workspace is too small, not aligned to 256 bytes, or overlaps operands: X, Y and factors,
/// whose elements are of one size.
void require_workspace(std::span<const std::byte> workspace, std::uint64_t needed,
                       std::initializer_list<DensePlace> operands);

}  // namespace spmvpack::gpu_loader
