#pragma once
/// One rank's share of a matrix that several processes hold together: some of its rows, over the rank's own columns and
/// those of other ranks that these rows have entries in, the *ghosts*.

#include <optional>
#include <string>
#include <string_view>

#include "spmvpack/container/base/export.hpp"
#include "spmvpack/container/file/contents.hpp"
#include "spmvpack/container/file/reader.hpp"

namespace spmvpack {

/// What is wrong in a header's description of a share of `rows` x `cols` with `nnz` entries; empty if nothing is.
SPMVPACK_EXPORT std::string check_share(const ShareFacts& share, std::uint64_t rows, std::uint64_t cols,
                                        std::uint64_t nnz);
/// The same for its lists: ghosts that rise and are others' columns, rows of the source that rise.
SPMVPACK_EXPORT std::string check_lists(const ShareFacts& share, std::span<const std::uint32_t> ghosts,
                                        std::span<const std::uint32_t> original_rows);

/// The share that a container holds, with its lists, whose order and bounds are checked: Error(errc::corrupt). Null if
/// it holds a whole matrix. Errors: those of Container::read_section().
SPMVPACK_EXPORT std::shared_ptr<const Share> read_share(const Container& container, const LoadOptions& options = {});

/// "A.2of4.spmvc", rank 2's file of 4 of those that are named after A.spmvc; without that ending, "A.2of4".
SPMVPACK_EXPORT std::string share_path(std::string_view path, std::uint64_t rank, std::uint64_t ranks);
/// The `path` and the number of ranks that the name of a share's file was made from; none if it is not such a name.
struct ShareName {
  std::string path;
  std::uint64_t rank = 0, ranks = 0;
};
SPMVPACK_EXPORT std::optional<ShareName> parse_share_path(std::string_view path);

/// "rank 2 of 4 of 1,000 x 1,000".
SPMVPACK_EXPORT std::string to_text(const ShareFacts& share);

}  // namespace spmvpack
