#pragma once
// File -> pinned ring -> device memory.

#include <cstddef>
#include <memory>

#include "placement.hpp"
#include "spmvpack/gpu_loader/device_matrix.hpp"

namespace spmvpack::gpu_loader {

/// Copies what `placement` places to `memory`, checking and inflating blocks on several threads on the way. Host memory
/// in use is the ring's and, for inflating, two blocks a thread. All is on the device when it returns; what it returns
/// is the ring, which takes a millisecond or two to unpin: let go of it while the GPU has something to do.
[[nodiscard]] std::shared_ptr<void> upload(const Container& container, const Placement& placement, std::byte* memory,
                                           Stream stream, const DeviceLoadOptions& options);

}  // namespace spmvpack::gpu_loader
