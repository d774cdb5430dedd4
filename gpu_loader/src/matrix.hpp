#pragma once
// What a DeviceMatrix is, for those who make it and multiply with it.

#include <string>

#include "layouts/layout.hpp"
#include "layouts/registry.hpp"
#include "spmvpack/gpu_loader/device_matrix.hpp"

namespace spmvpack::gpu_loader {

struct DeviceMatrix::Impl {
  MatrixFacts facts;
  DeviceFacts device;
  std::uint64_t section_bytes = 0, allocated_bytes = 0, prepared_bytes = 0;
  std::shared_ptr<void> memory;  ///< of the sections
  std::vector<PartInfo> infos;   ///< what the parts' views point to, as to the names of
  std::vector<SectionInfo> sections;
  std::vector<DevicePart> parts;
  std::vector<std::size_t> layouts;  ///< of the parts: places in kernel_tables()
};

/// Memory of the allocator's, or of cudaMalloc. Error(errc::out_of_memory); errc::usage of an allocator's on a wrong
/// boundary.
std::shared_ptr<void> allocate(const DeviceAllocator& allocator, std::uint64_t bytes);

/// The kernels of the layouts (places in kernel_tables()), those of the first one first.
std::vector<KernelInfo> kernels_of(std::span<const std::size_t> layouts);
/// Where a kernel is that is not the default. Error(errc::usage) if it is of none of the layouts; if there are none,
/// any will do.
KernelPlace require_kernel(std::span<const std::size_t> layouts, KernelId kernel);

}  // namespace spmvpack::gpu_loader
