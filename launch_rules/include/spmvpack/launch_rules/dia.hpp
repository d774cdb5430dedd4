#pragma once
// dia on a host: which rows a thread takes together.

#include <cstdint>

namespace spmvpack::launch_rules::dia {

/// Rows of a task. Of a matrix of few rows each is one, as a diagonal of few rows takes longer than its products.
constexpr std::uint64_t rows_per_task = 2048, few_rows = 4;

/// Whether one thread takes all rows together, diagonal by diagonal.
constexpr bool is_one_task(std::uint64_t rows) { return rows > few_rows && rows <= rows_per_task; }

}  // namespace spmvpack::launch_rules::dia
