#pragma once
// Checks of multiply()'s arguments; they need no device.

#include <cstdint>

#include "spmvpack/container/file/contents.hpp"
#include "spmvpack/container/multiply/multiply.hpp"

namespace spmvpack::gpu_loader {

/// Error(errc::usage) if the type of X and Y is not that of the description's vectors, one is null or not aligned to
/// its elements, or check_operands() refuses them.
void require_vectors(const Operand& operand, const MultiplyDescription& description, ValueType type,
                     const DensePlace& x, const DensePlace& y);
/// Error(errc::usage) if the workspace is too small, not aligned to 256 bytes, or overlaps X or Y.
void require_workspace(std::span<const std::byte> workspace, std::uint64_t needed, const DensePlace& x,
                       const DensePlace& y);

}  // namespace spmvpack::gpu_loader
