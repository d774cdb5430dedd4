#pragma once
/// Layout `csr`: row pointers, columns, values (docs/FORMAT.md, section 7).

#include "spmvpack/container/contents.hpp"
#include "spmvpack/container/export.hpp"
#include "spmvpack/container/layouts/coo.hpp"

namespace spmvpack::layouts::csr {

/// From this many nonzeros on, row pointers take 64 bits.
inline constexpr std::uint64_t wide_from = std::uint64_t{1} << 31;

/// Where a row is very long, a writer chooses `merge` as the part's default kernel on the GPU, and not `ipcsr`: a block
/// of threads alone would take as long for it as the device for all other rows. Measured on an H100: 3.7 ns an entry in
/// a row of 200,000, 0.005 ns where all work.
constexpr bool is_very_long_row(std::uint64_t length, std::uint64_t nnz) noexcept {
  constexpr std::uint64_t least = 16384, share = 512;
  return length > least && length > nnz / share;
}

/// Workspace of one multiply, in bytes, by `merge` and by `pcsr`; the other kernels need none.
constexpr std::uint64_t merge_workspace(std::uint64_t nnz, ValueType vectors) noexcept {
  return coo::balanced_workspace(nnz, vectors);
}
/// Error(errc::unsupported) where 64 bits do not hold it.
inline std::uint64_t pcsr_workspace(std::uint64_t nnz, ValueType vectors) {
  return checked_mul(nnz, size_of(vectors), "workspace bytes");
}

/// The writer's choice, which the part table tells by the workspace: that of `merge`, or 0 for `ipcsr`.
inline bool merges(const PartInfo& part) noexcept { return part.workspace_bytes != 0; }

/// The part as a CsrView of its local indices; nothing is copied.
SPMVPACK_EXPORT CsrView view(const PartView& part);

/// What the tables alone say: sizes and types of sections, parameters. Reads no element, so that the sections may lie
/// anywhere. Error(errc::corrupt).
SPMVPACK_EXPORT void check_shape(const PartView& part);
/// check_shape() and every element.
SPMVPACK_EXPORT void check(const PartView& part, int threads);
SPMVPACK_EXPORT CsrMatrix unpack(const PartView& part, int threads);

}  // namespace spmvpack::layouts::csr
