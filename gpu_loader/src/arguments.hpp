#pragma once
// Checks of multiply()'s arguments; they need no device.

#include <cstdint>

#include "spmvpack/container/contents.hpp"
#include "spmvpack/container/multiply.hpp"

namespace spmvpack::gpu_loader {

/// A vector in device memory, or a workspace.
struct DeviceRange {
  const void* data = nullptr;
  std::uint64_t bytes = 0;
};
/// Error(errc::usage) if the type of x and y is not that of the description's vectors, their sizes do not match op(A),
/// one is not aligned to its elements, or they overlap.
void require_vectors(const Operand& operand, const MultiplyDescription& description, ValueType type, DeviceRange x,
                     DeviceRange y);
/// Error(errc::usage) if the workspace is too small, not aligned to 256 bytes, or overlaps x or y.
void require_workspace(DeviceRange workspace, std::uint64_t needed, DeviceRange x, DeviceRange y);

}  // namespace spmvpack::gpu_loader
