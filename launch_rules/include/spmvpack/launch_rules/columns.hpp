#pragma once
// How many columns of X kernels take at once, where these are neighbours in each row of X.

#include <cstdint>
#include <string_view>

#include "spmvpack/launch_rules/csr.hpp"

namespace spmvpack::launch_rules::columns {

/// The most columns at once: a row of X then takes two lines of the first-level cache, in FP64.
inline constexpr std::uint64_t most = 32;
/// Fewer, because the lanes' sums have to fit into the shared memory of every device, with tiles of any size.
inline constexpr std::uint64_t of_bitflag = 16;
/// Fewer, because the sums of a block are in shared memory.
inline constexpr std::uint64_t of_ipcsr = 16;

/// Columns that a kernel of csr takes at once; 1: it goes column by column.
constexpr std::uint64_t of_csr(csr::Kernel kernel) {
  if (kernel == csr::ipcsr) return of_ipcsr;
  return kernel == csr::vector || kernel == csr::vector32 || kernel == csr::scalar ? most : 1;
}

/// The most columns at once on a host: the sums of a row are in registers.
inline constexpr std::uint64_t most_of_host = 16;
/// Columns that a layout takes at once on a host with AVX2; 1: it goes column by column. host_loader only compiles if
/// its multiplies agree.
constexpr std::uint64_t of_host(std::string_view layout) {
  for (const std::string_view has_columns : {"csr", "ell", "ellpack_r", "sell", "pjds", "csell", "bitflag"})
    if (layout == has_columns) return most_of_host;
  return 1;
}

}  // namespace spmvpack::launch_rules::columns
