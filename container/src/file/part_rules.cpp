#include "file/part_rules.hpp"

#include <fmt/format.h>

#include "spmvpack/container/base/error.hpp"
#include "spmvpack/container/file/format.hpp"
#include "spmvpack/container/layouts/layout.hpp"
#include "spmvpack/container/layouts/registry.hpp"

namespace spmvpack {

PartsVerdict check_parts(std::span<const PartInfo> parts, std::uint64_t rows, std::uint64_t nnz, std::string_view of) {
  std::uint64_t entries = 0, all_rows = 0;  // at most 2^16 times fewer than 2^32 rows
  bool overflow = false;
  for (const PartInfo& part : parts) {
    if (part.nnz == 0 && parts.size() > 1) return {fmt::format("one of several parts of {} has no entries", of)};
    overflow = __builtin_add_overflow(entries, part.nnz, &entries) || overflow;
    all_rows += part.rows.count;
  }
  if (overflow || entries != nnz)
    return {fmt::format("the nonzeros of the parts of {} do not add up to the header's", of)};
  const std::uint64_t share = div_up(all_rows, format::max_row_share);
  if (share > rows && share - rows > nnz)
    return {fmt::format("{} parts of {} have {} rows together, more than {} times its {} rows and {} nonzeros",
                        parts.size(), of, all_rows, format::max_row_share, rows, nnz),
            true};
  return {};
}

bool fits(const IndexMap& map, std::uint64_t size) {
  switch (map.kind) {
    case format::MapKind::all:
      return map.begin == 0 && map.count == size;
    case format::MapKind::range:
      return map.begin <= size && map.count <= size - map.begin;
    case format::MapKind::list:
      return map.begin == 0 && map.count <= size;
  }
  return false;
}

std::string check_part(const PartInfo& part, const MatrixFacts& facts) {
  const bool transpose = part.role == format::Role::transpose;
  if (part.role != format::Role::a && !transpose) return "role";
  if (transpose && facts.bitwise_symmetry() != Symmetry::general)
    return "a part of the transpose of a matrix that is its own, or its negative";
  // Vectors are permuted by the part's lists as a whole.
  const Layout& layout = find_layout(part.layout);  // refuses unknown layouts, by name
  if (holds_complex(part.value_type) && !layout.takes_complex)
    throw Error(errc::unsupported,
                fmt::format("{} values in layout {}, which has none yet", to_string(part.value_type), part.layout), {},
                "use the version that wrote the file");
  if (layout.permuted != nullptr && layout.permuted(part) &&
      (facts.rows != facts.cols || part.rows.count != facts.rows))
    return "a permuted basis of less than all of a square matrix";
  return "";
}

void check_parts(const MatrixFacts& facts, std::span<const PartInfo> parts, const std::string& where) {
  const auto require = [&](bool ok, const std::string& what, const std::string& at) {
    if (!ok) throw Error(errc::corrupt, what, at);
  };
  const auto require_verdict = [&](const PartsVerdict& verdict) {
    if (!verdict.wrong.empty())
      throw Error(verdict.too_large ? errc::too_large : errc::corrupt, verdict.wrong, where, remedy_parts);
  };
  require(
      facts.bitwise_symmetry() == Symmetry::general || facts.rows == facts.cols,
      fmt::format("{} rows and {} columns of a symmetric, skew-symmetric or Hermitian matrix", facts.rows, facts.cols),
      where);
  if (facts.rows >= max_dimension || facts.cols >= max_dimension)
    throw Error(errc::unsupported,
                fmt::format("{} x {}: rows and columns must stay below {}", facts.rows, facts.cols, max_dimension),
                where);
  require_verdict(check_part_count(parts.size()));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const PartInfo& part = parts[i];
    const std::string at = fmt::format("{}: part {}", where, i);
    const std::string wrong = check_part(part, facts);
    require(wrong.empty(), wrong, at);
    const bool transpose = part.role == format::Role::transpose;
    require(part.value_type == facts.value_type, "value type differs from the matrix's", at);
    require(fits(part.rows, transpose ? facts.cols : facts.rows), "rows that the matrix has not", at);
    require(fits(part.cols, transpose ? facts.rows : facts.cols), "columns that the matrix has not", at);
    require(i == 0 || parts[i - 1].role <= part.role, "a part of A after one of its transpose", at);
  }
  require_verdict(check_parts(parts_of(parts, format::Role::a), facts.rows, facts.nnz, "A"));
  if (const auto transpose = parts_of(parts, format::Role::transpose); !transpose.empty())
    require_verdict(check_parts(transpose, facts.cols, facts.nnz, "A^T"));
}

PartsVerdict check_part_count(std::uint64_t count) {
  if (count <= format::max_parts) return {};
  return {fmt::format("{} parts, more than the {} that a container may have", count, format::max_parts), true};
}

}  // namespace spmvpack
