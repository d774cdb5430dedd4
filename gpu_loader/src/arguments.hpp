#pragma once
// What multiply() demands of its arguments; no device needed.

#include <cstdint>

#include "spmvpack/container/contents.hpp"
#include "spmvpack/container/multiply.hpp"

namespace spmvpack::gpu_loader {

/// A vector in device memory, or a workspace.
struct DeviceRange {
  const void* data = nullptr;
  std::uint64_t bytes = 0;
};
/// Error(errc::usage) if x and y are of another type than the description's vectors, their sizes are not the matrix's,
/// one is not on a boundary of its element, or they overlap.
void require_vectors(const MatrixFacts& facts, const MultiplyDescription& description, ValueType type, DeviceRange x,
                     DeviceRange y);
/// Error(errc::usage) where the workspace is too small, not on a 256-byte boundary, or overlaps x or y.
void require_workspace(DeviceRange workspace, std::uint64_t needed, DeviceRange x, DeviceRange y);

}  // namespace spmvpack::gpu_loader
