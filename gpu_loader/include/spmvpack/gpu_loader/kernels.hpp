#pragma once
/// The kernels of every layout on a GPU: their names, which one is the default, their workspaces. Needs neither a
/// device nor CUDA: a build without it has all of this.

#include <cstdint>
#include <span>
#include <string_view>

#include "spmvpack/container/contents.hpp"
#include "spmvpack/container/export.hpp"
#include "spmvpack/container/multiply.hpp"

namespace spmvpack::gpu_loader {

/// Whether a kernel gives the same bits at every run.
enum class Determinism : std::uint8_t {
  bitwise,        ///< the order of additions is that of docs/LAYOUTS.md, whatever the device, grid and stream
  not_guaranteed  ///< sums meet by atomic additions, in any order
};

/// A way to multiply with a layout.
struct KernelInfo {
  std::string_view name;    ///< "layout/kernel"
  std::string_view layout;  ///< the part of the name before the slash
  Determinism determinism = Determinism::bitwise;
  /// Whether it needs something made at load: DeviceLoadOptions::kernels must name it, or name no kernel of the layout
  /// and it be the first.
  bool prepared = false;
};

/// The kernels of a layout, the usual default first; none if a GPU cannot multiply with the layout.
SPMVPACK_EXPORT std::span<const KernelInfo> kernels(std::string_view layout) noexcept;

/// The kernel of that name ("csr/vector"). Valid in this process: another version may number kernels differently.
/// Error(errc::usage), with the names there are, if there is none.
SPMVPACK_EXPORT KernelId find_kernel(std::string_view name);
/// The kernel's name; "default" for KernelId{}. Error(errc::usage) if find_kernel() never gave the id.
SPMVPACK_EXPORT std::string_view kernel_name(KernelId kernel);

/// The kernel that multiplies with a part unless another is asked for. It depends on the container's content alone,
/// never on the device. Error(errc::unsupported) if a GPU cannot multiply with the part's layout.
SPMVPACK_EXPORT KernelId default_kernel(const PartInfo& part);
/// Device memory that one multiply with a part needs for itself, exactly; 0 is common. A kernel of another layout
/// stands for the part's default. Error(errc::unsupported) if 64 bits do not hold it or a GPU cannot multiply with the
/// part's layout; errc::usage as kernel_name().
SPMVPACK_EXPORT std::uint64_t workspace_bytes(const PartInfo& part, KernelId kernel, ValueType vectors);

}  // namespace spmvpack::gpu_loader
