#pragma once
// XXH3 for processors with AVX2. Declares C types only; checksum_avx2.cpp says why.

#include <cstddef>
#include <cstdint>

namespace spmvpack::avx2 {

struct Hash128 {
  std::uint64_t low, high;
};

std::uint64_t xxh3_64(const void* data, std::size_t bytes) noexcept;
Hash128 xxh3_128(const void* data, std::size_t bytes) noexcept;

}  // namespace spmvpack::avx2
