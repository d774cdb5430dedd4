#pragma once
// A wrapper of xxHash, so that only one source file includes its header.

#include <cstddef>
#include <span>

#include "spmvpack/container/csr_matrix.hpp"

namespace spmvpack {

std::uint64_t xxh3_64(std::span<const std::byte> bytes) noexcept;
Digest xxh3_128(std::span<const std::byte> bytes) noexcept;

}  // namespace spmvpack
