#pragma once
/// Cutting a matrix into one share for each of several ranks.

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "spmvpack/container/base/export.hpp"
#include "spmvpack/container/file/share.hpp"
#include "spmvpack/encoder/encode.hpp"

namespace spmvpack::encoder {

/// Which rows and columns of the whole each rank has: those from first_row[rank] to before first_row[rank + 1]. Ranks
/// may have none.
struct Partition {
  std::vector<std::uint64_t> first_row, first_col;
  /// The source's number of each row, and column, of the whole. Empty: the whole is numbered like its source.
  CountedVector<std::uint32_t> order;
  [[nodiscard]] std::uint64_t ranks() const noexcept { return first_row.size() - 1; }
};

/// Rows in order, with about as many nonzeros for each rank: none has more than an even share plus the longest row.
/// Without nonzeros, about as many rows. Columns of a square matrix are shared out like its rows, others evenly, the
/// first ranks having one more (as PETSc does if it decides). Error(errc::usage): no rank; a matrix without rows.
SPMVPACK_EXPORT Partition partition_rows(const CsrView& a, std::uint64_t ranks);
/// METIS's partition of a square matrix: ranks with about as many nonzeros each, and as few columns as it finds that
/// several ranks need. The same for the same version of METIS. Error(errc::usage): no rank; errc::unsupported: there is
/// no METIS (metis_version()), or the matrix is not square, has fewer rows than ranks, or is too large for METIS's
/// indices.
SPMVPACK_EXPORT Partition partition_by_metis(const CsrView& a, std::uint64_t ranks, int threads = 0);
/// The rank of each row, and column, of a square matrix, which is renumbered so that every rank's rows follow one
/// another, in their old order. Error(errc::usage): a rank that is not below `ranks`, or a matrix that is not square.
SPMVPACK_EXPORT Partition partition_of(const CsrView& a, std::span<const std::uint32_t> rank_of_row,
                                       std::uint64_t ranks);

/// Makes the shares of a matrix, which outlives it, as does the partition. Shares are made one at a time, each in the
/// time and memory of its own entries and ghosts; besides, 4 bytes for each column, or 8 if it is renumbered.
class SPMVPACK_EXPORT ShareMaker {
 public:
  ShareMaker(const SourceMatrix& whole, const Partition& partition, int threads = 0);
  /// A matrix of the rank's rows over its own columns, then its ghosts. Field and provenance are the whole's; so is the
  /// symmetry, if there is but one rank.
  [[nodiscard]] SourceMatrix make(std::uint64_t rank);

 private:
  [[nodiscard]] std::uint64_t source_row(std::uint64_t row) const noexcept {
    return partition_.order.empty() ? row : partition_.order[row];
  }
  [[nodiscard]] std::uint32_t column(std::uint32_t of_source) const noexcept {
    return new_number_.empty() ? of_source : new_number_[of_source];
  }
  [[nodiscard]] Array<std::uint32_t> find_ghosts(std::uint64_t rank);

  const SourceMatrix& whole_;
  const Partition& partition_;
  int threads_;
  Digest digest_;
  std::uint64_t number_ = 0;                 ///< ShareFacts::partition
  CountedVector<std::uint32_t> new_number_;  ///< of the source's columns; empty: the same
  CountedVector<std::uint32_t> place_;       ///< of a column of the whole among the ghosts of the share being made
};

/// Encodes every share, as encode() does, into share_path(path, rank, ranks). The files appear together, once all are
/// complete and on disk; after an error there is none of them, but for what a failing file system leaves and those that
/// had taken the place of older ones. `done` is told of each share once it is written. Errors: those of encode();
/// errc::usage if the matrix is a share itself.
SPMVPACK_EXPORT void encode_shares(
    const SourceMatrix& whole, const Partition& partition, const EncodeRequest& request, const std::string& path,
    const std::function<void(const SourceMatrix& share, const EncodeResult& result)>& done = {});

}  // namespace spmvpack::encoder
