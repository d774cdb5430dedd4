#pragma once
// Filters and codecs of a block (docs/FORMAT.md, sections 4 and 5).

#include <cstddef>
#include <span>
#include <vector>

#include "spmvpack/container/format.hpp"

namespace spmvpack {

/// Forward and inverse filter. `in` and `out` have the same size and do not overlap; the width divides it.
void apply_filter(format::Filter filter, std::size_t width, std::span<const std::byte> in, std::span<std::byte> out);
void undo_filter(format::Filter filter, std::size_t width, std::span<const std::byte> in, std::span<std::byte> out);

/// One independent zstd frame for a block. `out` is replaced.
void zstd_compress(std::span<const std::byte> in, int level, std::vector<std::byte>& out);
/// Inflates a frame to exactly out.size() bytes. False where it is damaged or of another size.
[[nodiscard]] bool zstd_decompress(std::span<const std::byte> in, std::span<std::byte> out);

}  // namespace spmvpack
