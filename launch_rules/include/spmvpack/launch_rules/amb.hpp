#pragma once
// amb: which threads add up the rows of several lanes.

#include <cstdint>

namespace spmvpack::launch_rules::amb {

/// If no row has more lanes, `ordered` gives those of a row to the thread of the first one, instead of writing partial
/// sums that another kernel adds up. More of them would take turns with memory for too long. docs/notebook/GPU.md,
/// "Constants".
inline constexpr std::uint64_t most_lanes_of_thread = 4;

/// Whether threads may take rows, if these have few lanes. They number lanes in 32 bits, and a grid's stride is added
/// to them; a row's number has a bit beside it. In single precision, blocks of several columns are faster by pairs of
/// lanes, even with partial sums. docs/notebook/GPU.md, "Constants".
constexpr bool may_take_rows(std::uint64_t rows, std::uint64_t lanes, std::uint64_t block, bool is_single) {
  return lanes <= std::uint64_t{1} << 30 && rows < std::uint64_t{1} << 31 && (!is_single || block == 1);
}

/// What a thread loads together: terms of a lane; partial sums of a row, of which most rows have no more.
inline constexpr int values_in_flight = 8, sums_in_flight = 8;

}  // namespace spmvpack::launch_rules::amb
