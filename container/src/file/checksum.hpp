#pragma once
// A wrapper of xxHash, so that only one source file includes its header, and the remedy where a checksum is wrong.

#include <cstddef>
#include <span>

#include "spmvpack/container/matrix/csr_matrix.hpp"

namespace spmvpack {

std::uint64_t xxh3_64(std::span<const std::byte> bytes) noexcept;
Digest xxh3_128(std::span<const std::byte> bytes) noexcept;

inline constexpr const char* remedy_damaged = "get the file again, or encode it again";

}  // namespace spmvpack
