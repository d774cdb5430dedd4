#pragma once
// What a multiply with any layout does, in units.

#include "work.hpp"

namespace spmvpack::encoder {

/// Bytes that are moved, vectors of further columns, gathers of x, passes over y, and what values in double precision
/// take besides.
enum class CommonWork : std::uint8_t {
  bytes,
  bytes_fetched,
  bytes_from_memory,
  columns_vector_bytes,
  doubles_entries,
  doubles_multiplies,
  x_copies,
  x_first,
  x_sectors,
  x_warp_sectors,
  y_passes,
  y_rows
};
inline constexpr std::array common_units{Unit{"bytes", On::all, Growth::grows, 0},
                                         Unit{"bytes.fetched", On::all, Growth::grows, 0},
                                         Unit{"bytes.from_memory", On::host, Growth::grows, 2},
                                         Unit{"columns.vector_bytes", On::all, Growth::grows, 2},
                                         Unit{"doubles.entries", On::gpu, Growth::grows, 2},
                                         Unit{"doubles.multiplies", On::gpu, Growth::fixed, 2},
                                         Unit{"x.copies", On::gpu, Growth::fixed, 2},
                                         Unit{"x.first", On::gpu, Growth::grows, 2},
                                         Unit{"x.sectors", On::all, Growth::grows, 0},
                                         Unit{"x.warp_sectors", On::gpu, Growth::grows, 0},
                                         Unit{"y.passes", On::all, Growth::fixed, 0},
                                         Unit{"y.rows", On::host, Growth::grows, 0}};
constexpr std::string_view name_of(CommonWork unit) { return common_units.at(static_cast<std::size_t>(unit)).name; }
static_assert(name_of(CommonWork::y_rows) == "y.rows");

}  // namespace spmvpack::encoder
