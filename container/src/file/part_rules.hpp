#pragma once
// What the part table may say of a role's parts together. Reader and writer share it.

#include <span>
#include <string>
#include <string_view>

#include "spmvpack/container/file/contents.hpp"

namespace spmvpack {

/// What is wrong with the parts of a file; empty if nothing is.
struct PartsVerdict {
  std::string wrong;
  bool too_large = false;  ///< it breaks a limit, no rule
};

/// Whether a map names indices below `size`, and no more of them.
bool fits(const IndexMap& map, std::uint64_t size);
/// What is wrong with a part's role and layout in such a matrix; empty if nothing is. Error(errc::unsupported) for a
/// layout that is not known.
std::string check_part(const PartInfo& part, const MatrixFacts& facts);
/// Of `parts`, those of A or of A^T, which messages call `of`; it has so many rows and nonzeros.
PartsVerdict check_parts(std::span<const PartInfo> parts, std::uint64_t rows, std::uint64_t nnz, std::string_view of);
/// Of all parts of a file.
PartsVerdict check_part_count(std::uint64_t count);

/// What to do about parts that are too many or too large.
inline constexpr const char* remedy_parts = "encode the matrix in fewer or smaller parts";

}  // namespace spmvpack
