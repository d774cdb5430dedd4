#include "file/checksum.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <vector>

#include "file/checksum_avx2.hpp"
#include "spmvpack/container/base/instruction_set.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/container/file/format.hpp"

namespace spmvpack {

std::uint64_t xxh3_64(std::span<const std::byte> bytes) noexcept {
#if SPMVPACK_CHECKSUM_AVX2
  if (use_v3()) return avx2::xxh3_64(bytes.data(), bytes.size());
#endif
  return XXH3_64bits(bytes.data(), bytes.size());
}

Digest xxh3_128(std::span<const std::byte> bytes) noexcept {
#if SPMVPACK_CHECKSUM_AVX2
  if (use_v3()) {
    const avx2::Hash128 hash = avx2::xxh3_128(bytes.data(), bytes.size());
    return {hash.low, hash.high};
  }
#endif
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.low64, hash.high64};
}

std::string Digest::to_string() const { return fmt::format("{:016x}{:016x}", high, low); }

namespace {

/// The last of the sizes is the type of the values; 0: they do not count.
Digest digest_of(const CsrView& a, const std::array<std::uint64_t, 4>& sizes, int threads) {
  static constexpr std::uint64_t piece = format::block_bytes;
  const std::uint64_t pointer_bytes = (a.rows() + 1) * 8, column_bytes = a.nnz() * 4,
                      value_bytes = sizes[3] == 0 ? 0 : a.nnz() * size_of(a.value_type());
  const std::uint64_t pointer_pieces = div_up(pointer_bytes, piece), column_pieces = div_up(column_bytes, piece),
                      value_pieces = div_up(value_bytes, piece);

  std::vector<Digest> hashes(1 + pointer_pieces + column_pieces + value_pieces);
  hashes[0] = xxh3_128(std::as_bytes(std::span(sizes)));
  const auto hash_piece = [](const void* data, std::uint64_t bytes, std::uint64_t i) {
    return xxh3_128({static_cast<const std::byte*>(data) + i * piece, std::min(piece, bytes - i * piece)});
  };
  parallel_for(hashes.size() - 1, threads, [&](std::uint64_t task) {
    std::uint64_t i = task;
    Digest& hash = hashes[task + 1];
    if (i < pointer_pieces) {
      // Row pointers may be 32-bit in memory; the canonical form is 64-bit.
      const std::uint64_t first = i * (piece / 8), last = std::min(a.rows() + 1, first + piece / 8);
      std::vector<std::uint64_t> pointers(last - first);
      for (std::uint64_t r = first; r < last; ++r) pointers[r - first] = a.row_ptr(r);
      hash = xxh3_128(std::as_bytes(std::span(pointers)));
      return;
    }
    i -= pointer_pieces;
    if (i < column_pieces) {
      hash = hash_piece(a.col_idx(), column_bytes, i);
      return;
    }
    hash = hash_piece(a.value_bytes(), value_bytes, i - column_pieces);
  });
  return xxh3_128(std::as_bytes(std::span(hashes)));
}

}  // namespace

Digest content_digest(const CsrView& a, int threads) {
  return digest_of(a, {a.rows(), a.cols(), a.nnz(), static_cast<std::uint64_t>(a.value_type())}, threads);
}

Digest pattern_digest(const CsrView& a, int threads) { return digest_of(a, {a.rows(), a.cols(), a.nnz(), 0}, threads); }

}  // namespace spmvpack
