#pragma once
/// How much memory is available, and limits on its use.

#include <cstdint>
#include <string_view>

#include "spmvpack/container/export.hpp"

namespace spmvpack {

/// Memory that can be allocated without swapping, in bytes: MemAvailable in /proc/meminfo, or what the control group
/// has left if that is less.
SPMVPACK_EXPORT std::uint64_t available_memory();
/// Throws Error(errc::out_of_memory) if `bytes` exceeds `limit` (0: available_memory()). `what` says what needs them.
SPMVPACK_EXPORT void require_memory(std::uint64_t bytes, std::uint64_t limit, std::string_view what);

}  // namespace spmvpack
