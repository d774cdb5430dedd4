#pragma once
/// Layout `coo`: row, column and value of every entry, row by row (docs/FORMAT.md, section 7). The coordinate layout of
/// Aliaga et al., Euro-Par 2020 Workshops, section 2.1, unpadded.

#include "spmvpack/container/contents.hpp"
#include "spmvpack/container/export.hpp"

namespace spmvpack::layouts::coo {

/// Entries of a chunk: what a warp takes in `balanced`, the kernel of coo on the GPU (docs/LAYOUTS.md).
inline constexpr std::uint64_t chunk_entries = 256;

constexpr std::uint64_t chunk_count(std::uint64_t nnz) noexcept { return div_up(nnz, chunk_entries); }

/// Workspace of one multiply by `balanced`, in bytes: for each chunk two sums of the vectors' type and their rows.
/// PartInfo::workspace_bytes is that for vectors of the value type. 64 bits hold it for any number of nonzeros.
constexpr std::uint64_t balanced_workspace(std::uint64_t nnz, ValueType vectors) noexcept {
  return chunk_count(nnz) * 2 * (size_of(vectors) + sizeof(std::uint32_t));
}

/// What the tables alone say: sizes and types of sections, parameters. Reads no element, so that the sections may lie
/// anywhere. Error(errc::corrupt).
SPMVPACK_EXPORT void check_shape(const PartView& part);
/// check_shape() and every element.
SPMVPACK_EXPORT void check(const PartView& part, int threads);
SPMVPACK_EXPORT CsrMatrix unpack(const PartView& part, int threads);

}  // namespace spmvpack::layouts::coo
