#pragma once
/// The GPU kernels of every layout: names, defaults and workspaces. Needs neither a device nor CUDA, and is available
/// in builds without it.

#include <cstdint>
#include <span>
#include <string_view>

#include "spmvpack/container/base/export.hpp"
#include "spmvpack/container/file/contents.hpp"
#include "spmvpack/container/multiply/multiply.hpp"

namespace spmvpack::gpu_loader {

/// Whether a kernel gives the same bits in every run.
enum class Determinism : std::uint8_t {
  bitwise,        ///< additions in the order of docs/LAYOUTS.md, whatever the device, grid and stream
  not_guaranteed  ///< atomic additions, in any order
};

/// One way to multiply with a layout.
struct KernelInfo {
  std::string_view name;    ///< "layout/kernel"
  std::string_view layout;  ///< the part of the name before the slash
  Determinism determinism = Determinism::bitwise;
  /// Whether it needs something built at load. If so, DeviceLoadOptions::kernels must name it, unless the options name
  /// no kernel of that layout.
  bool prepared = false;
  ColumnsAtOnce columns = {};
};

/// The kernels of a layout, the usual default first; empty if the layout is not supported on GPUs.
SPMVPACK_EXPORT std::span<const KernelInfo> kernels(std::string_view layout) noexcept;

/// The kernel with that name ("csr/vector"). The id is valid in this process only: another version may number kernels
/// differently. Error(errc::usage), listing the known names, if there is none.
SPMVPACK_EXPORT KernelId find_kernel(std::string_view name);
/// The kernel's name; "default" for KernelId{}. Error(errc::usage) if the id is not from find_kernel().
SPMVPACK_EXPORT std::string_view kernel_name(KernelId kernel);

/// The kernel that multiplies with a part unless another is requested. It depends only on the container's content,
/// never on the device. Error(errc::unsupported) if the part's layout is not supported on GPUs.
SPMVPACK_EXPORT KernelId default_kernel(const PartInfo& part);
/// The exact size of the workspace that one multiply of so many columns with a part needs in device memory, often 0. A
/// kernel of another layout stands for the part's default. Error(errc::unsupported) if the size does not fit into 64
/// bits or the part's layout is not supported on GPUs; errc::usage as for kernel_name().
SPMVPACK_EXPORT std::uint64_t workspace_bytes(const PartInfo& part, KernelId kernel, ValueType vectors,
                                              std::uint64_t columns = 1);

}  // namespace spmvpack::gpu_loader
