#pragma once
// What is known of a layout's kernels without a device: a KernelTable, built with CUDA and without it.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "spmvpack/gpu_loader/kernels.hpp"
#include "spmvpack/launch_rules/columns.hpp"

// Every layout that a GPU multiplies with: the only list of them. Each defines tables::NAME, and with CUDA
// layouts::NAME (layout.hpp).
#define SPMVPACK_GPU_LAYOUTS(X) \
  X(csr) X(coo) X(ell) X(ellpack_r) X(sell) X(pjds) X(dia) X(ccoo) X(amb) X(pkt) X(csell) X(bitflag) X(sjds)

namespace spmvpack::gpu_loader {

struct KernelTable {
  std::string_view layout;
  std::span<const KernelInfo> kernels;  ///< the usual default first

  /// Of a multiply by kernel `kernel` (a place in `kernels`) with a part and so many columns, 1 to as many as the
  /// kernel takes at once, but for a gathered x. Exact. Error(errc::unsupported) if 64 bits do not hold it.
  std::uint64_t (*workspace_bytes)(const PartInfo& part, std::size_t kernel, ValueType vectors, std::uint64_t columns);
  /// How many columns a kernel takes at once with a part, if they are neighbours in each row of X; those of Y may have
  /// any strides. Null, or less than 2: one at a time, contiguous.
  std::uint64_t (*row_major_columns)(const PartInfo& part, std::size_t kernel) = nullptr;
  /// The place of a part's default kernel; null: the first. Looks at the container's content alone.
  std::size_t (*default_kernel)(const PartInfo& part) = nullptr;
};

/// The workspace_bytes of layouts whose kernels need none.
inline std::uint64_t no_workspace(const PartInfo& /*part*/, std::size_t /*kernel*/, ValueType /*vectors*/,
                                  std::uint64_t /*columns*/) {
  return 0;
}

/// The row_major_columns of layouts that have kernels for them, whatever the part.
inline std::uint64_t many_columns(const PartInfo& /*part*/, std::size_t /*kernel*/) {
  return launch_rules::columns::most;
}

namespace tables {
#define SPMVPACK_DECLARE(name) extern const KernelTable name;
SPMVPACK_GPU_LAYOUTS(SPMVPACK_DECLARE)
#undef SPMVPACK_DECLARE
}  // namespace tables

}  // namespace spmvpack::gpu_loader
