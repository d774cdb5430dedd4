#include "part_rules.hpp"

#include <fmt/format.h>

#include "spmvpack/container/format.hpp"

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

PartsVerdict check_part_count(std::uint64_t count) {
  if (count <= format::max_parts) return {};
  return {fmt::format("{} parts, more than the {} that a container may have", count, format::max_parts), true};
}

}  // namespace spmvpack
