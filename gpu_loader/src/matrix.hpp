#pragma once
// The internals of a DeviceMatrix, shared by load and multiply.

#include <optional>
#include <string>

#include "layouts/layout.hpp"
#include "layouts/registry.hpp"
#include "spmvpack/gpu_loader/device_matrix.hpp"
#include "updates.hpp"

namespace spmvpack::gpu_loader {

struct DeviceMatrix::Impl {
  MatrixFacts facts;
  DeviceFacts device;
  std::uint64_t allocated_bytes = 0, prepared_bytes = 0;
  std::uint64_t bytes_of_a = 0, bytes_of_transpose = 0;  ///< that a multiply reads of the sections
  double cache_share = 0;                                ///< DeviceLoadOptions::cache_share
  std::shared_ptr<void> memory;                          ///< of the sections
  CountedVector<PartInfo> infos;                         ///< the parts' views point to these
  CountedVector<DevicePart> parts;
  CountedVector<std::size_t> layouts;  ///< of the parts: indices in kernel_tables()
  MemoryReservation views;             ///< host memory of the parts' views
  std::optional<Updates> updates;      ///< DeviceLoadOptions::updatable

  [[nodiscard]] std::uint64_t bytes_of(format::Role role) const {
    return role == format::Role::a ? bytes_of_a : bytes_of_transpose;
  }
  [[nodiscard]] std::span<const DevicePart> parts_of(format::Role role) const {
    const std::size_t of_a = spmvpack::parts_of(infos, format::Role::a).size();
    return role == format::Role::a ? std::span(parts).first(of_a) : std::span(parts).subspan(of_a);
  }
};

/// Memory from the allocator, or from cudaMalloc. Error(errc::out_of_memory); errc::usage if the allocator's memory is
/// misaligned.
std::shared_ptr<void> allocate(const DeviceAllocator& allocator, std::uint64_t bytes);

/// The kernels of the layouts (indices in kernel_tables()), starting with those of the first.
std::vector<KernelInfo> kernels_of(std::span<const std::size_t> layouts);
/// The place of a kernel other than the default. Error(errc::usage) if it belongs to none of the layouts; without
/// layouts, any kernel is accepted.
KernelPlace require_kernel(std::span<const std::size_t> layouts, KernelId kernel);

}  // namespace spmvpack::gpu_loader
