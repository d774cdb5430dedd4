#pragma once
/// How much memory there is, and limits on what is taken of it.

#include <cstdint>
#include <string_view>

#include "spmvpack/container/export.hpp"

namespace spmvpack {

/// Memory that can be allocated without swapping, in bytes: /proc/meminfo's MemAvailable, or the control group's
/// remainder where that is smaller.
SPMVPACK_EXPORT std::uint64_t available_memory();
/// Throws Error(errc::out_of_memory) where `bytes` exceeds `limit` (0: available_memory()). `what` names the need.
SPMVPACK_EXPORT void require_memory(std::uint64_t bytes, std::uint64_t limit, std::string_view what);

}  // namespace spmvpack
