// XXH3 compiled with AVX2, twice as fast as the packaged library, which is compiled for any x86-64. It is a separate
// file because of its compiler flag, and includes nothing else: inline functions of other headers would be compiled
// with AVX2 for the whole program.

#include "file/checksum_avx2.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace spmvpack::avx2 {

std::uint64_t xxh3_64(const void* data, std::size_t bytes) noexcept { return XXH3_64bits(data, bytes); }

Hash128 xxh3_128(const void* data, std::size_t bytes) noexcept {
  const XXH128_hash_t hash = XXH3_128bits(data, bytes);
  return {hash.low64, hash.high64};
}

}  // namespace spmvpack::avx2
