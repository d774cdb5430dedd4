#pragma once
// amb: which threads add up the rows of several lanes.

#include <cstdint>

namespace spmvpack::launch_rules::amb {

/// Where no row has more lanes, `ordered` gives a row's to the thread of the first one, instead of writing partial sums
/// that another kernel adds up (H200, FP64, us: 88 instead of 92 on 5-point-random, 147 instead of 173 on 7-point, 132
/// instead of 138 on 27-point). More of them take turns with memory for too long: random 672 instead of 243, logdist
/// 542 instead of 166, circuit 2,907 instead of 362.
inline constexpr std::uint64_t most_lanes_of_thread = 4;

/// Whether threads may take rows, where these have few lanes. They number lanes in 32 bits, and a grid's stride is
/// added to them; a row's number has a bit beside it. In single precision, blocks of several columns are faster by
/// pairs of lanes, even with partial sums (27 points on an H200: 79 us and 84).
constexpr bool may_take_rows(std::uint64_t rows, std::uint64_t lanes, std::uint64_t block, bool is_single) {
  return lanes <= std::uint64_t{1} << 30 && rows < std::uint64_t{1} << 31 && (!is_single || block == 1);
}

/// What a thread loads together: terms of a lane; partial sums of a row, of which most rows have no more.
inline constexpr int values_in_flight = 8, sums_in_flight = 8;

}  // namespace spmvpack::launch_rules::amb
