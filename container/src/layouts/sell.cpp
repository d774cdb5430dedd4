#include "spmvpack/container/layouts/sell.hpp"

#include "padded_rows.hpp"

namespace spmvpack::layouts::sell {
namespace {

void check_shape(const PartView& part) {
  const std::uint64_t slice_rows = part.info().params[param_slice_rows], steps = part.info().params[param_steps];
  part.require(slice_rows >= 1 && slice_rows <= max_slice_rows, {},
               [&] { return fmt::format("slices of {} rows", slice_rows); });
  part.require(steps <= max_steps, {}, [&] { return fmt::format("{} steps", steps); });
}

void check(const PartView& part, int threads) {
  const auto slice_ptr = part.get<std::uint32_t>("slice_ptr");
  part.require(slice_ptr.front() == 0 && slice_ptr.back() == part.info().params[param_steps], "slice_ptr",
               [] { return std::string("does not start at 0 and end at the steps"); });
  for (std::uint64_t s = 1; s < slice_ptr.size(); ++s)
    part.require(slice_ptr[s] >= slice_ptr[s - 1], "slice_ptr", [&] { return fmt::format("falls at slice {}", s); });
  const std::uint64_t lanes = slices_of(part.info()) * part.info().params[param_slice_rows];
  padded_rows::check(part, geometry(part), lanes, threads);
}

CsrMatrix unpack(const PartView& part, int threads) { return padded_rows::unpack(part, geometry(part), threads); }

}  // namespace

const Layout layout{"sell", sections, parameters, check_shape, check, unpack};

}  // namespace spmvpack::layouts::sell
