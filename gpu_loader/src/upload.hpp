#pragma once
// File -> pinned ring -> device memory.

#include <cstddef>
#include <memory>

#include "placement.hpp"
#include "spmvpack/gpu_loader/device_matrix.hpp"

namespace spmvpack::gpu_loader {

/// Copies the placed sections to `memory`; several threads verify and decompress their blocks. Uses host memory for the
/// ring and, for decompression, two blocks per thread. Everything is on the device when it returns. It returns the
/// ring, which takes a millisecond or two to unpin: release it while the GPU is busy.
[[nodiscard]] std::shared_ptr<void> upload(const Container& container, const Placement& placement, std::byte* memory,
                                           Stream stream, const DeviceLoadOptions& options);

}  // namespace spmvpack::gpu_loader
