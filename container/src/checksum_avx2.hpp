#pragma once
// XXH3 for processors with AVX2. Declarations of C types only: see checksum_avx2.cpp.

#include <cstddef>
#include <cstdint>

namespace spmvpack::avx2 {

struct Hash128 {
  std::uint64_t low, high;
};

std::uint64_t xxh3_64(const void* data, std::size_t bytes) noexcept;
Hash128 xxh3_128(const void* data, std::size_t bytes) noexcept;

}  // namespace spmvpack::avx2
