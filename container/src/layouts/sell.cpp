#include "spmvpack/container/layouts/sell.hpp"

#include <algorithm>

#include "padded_rows.hpp"

namespace spmvpack::layouts::sell {
namespace {

void check_shape(const PartView& part) {
  const std::uint64_t slice_rows = part.info().params[param_slice_rows], slots = slots_of(part.info());
  part.require(slice_rows >= 1 && slice_rows <= max_slice_rows, {},
               [&] { return fmt::format("slices of {} rows", slice_rows); });
  part.require(slots % slice_rows == 0 && slots / slice_rows <= max_steps, "col_idx",
               [&] { return fmt::format("{} slots in steps of {}", slots, slice_rows); });
}

void check(const PartView& part, int threads) {
  const auto slice_ptr = part.get<std::uint32_t>("slice_ptr");
  part.require(slice_ptr.front() == 0 && slice_ptr.back() == steps_of(part.info()), "slice_ptr",
               [] { return std::string("does not start at 0 and end at the steps"); });
  for (std::uint64_t s = 1; s < slice_ptr.size(); ++s)
    part.require(slice_ptr[s] >= slice_ptr[s - 1], "slice_ptr", [&] { return fmt::format("falls at slice {}", s); });
  const std::uint64_t slice_rows = part.info().params[param_slice_rows], slices = slices_of(part.info());
  padded_rows::check(part, geometry(part), slices * slice_rows, threads);
  const auto columns = part.get<std::uint32_t>("col_idx");
  parallel_pieces(slices, padded_rows::rows_per_task, threads, [&](std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t s = first; s < last; ++s) {
      if (slice_ptr[s + 1] == slice_ptr[s]) continue;
      const auto step = columns.subspan((slice_ptr[s + 1] - std::uint64_t{1}) * slice_rows, slice_rows);
      part.require(std::any_of(step.begin(), step.end(), [](std::uint32_t column) { return column != no_column; }),
                   "slice_ptr", [&] { return fmt::format("slice {} has more steps than its longest row", s); });
    }
  });
}

CsrMatrix unpack(const PartView& part, int threads) { return padded_rows::unpack(part, geometry(part), threads); }

}  // namespace

const Layout layout{"sell", sections, parameters, check_shape, check, unpack};

}  // namespace spmvpack::layouts::sell
