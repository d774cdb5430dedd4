#pragma once
// Filters and codecs of a block (docs/FORMAT.md, sections 4 and 5).

#include <cstddef>
#include <span>
#include <vector>

#include "spmvpack/container/file/format.hpp"

namespace spmvpack {

/// Forward and inverse filter. `in` and `out` have the same size, a multiple of the width, and do not overlap.
void apply_filter(format::Filter filter, std::size_t width, std::span<const std::byte> in, std::span<std::byte> out);
void undo_filter(format::Filter filter, std::size_t width, std::span<const std::byte> in, std::span<std::byte> out);

/// Compresses a block to one independent zstd frame, which replaces `out`.
void zstd_compress(std::span<const std::byte> in, int level, std::vector<std::byte>& out);
/// Decompresses a frame to exactly out.size() bytes. False if it is damaged or has another size.
[[nodiscard]] bool zstd_decompress(std::span<const std::byte> in, std::span<std::byte> out);

}  // namespace spmvpack
