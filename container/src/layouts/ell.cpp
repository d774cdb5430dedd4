#include "spmvpack/container/layouts/ell.hpp"

#include "padded_rows.hpp"

namespace spmvpack::layouts::ell {
namespace {

void check_shape(const PartView& part) {
  const std::uint64_t slots = part.get<std::uint32_t>("col_idx").size(), width = width_of(part), nnz = part.info().nnz;
  part.require(slots == part.rows() * width, "col_idx",
               [&] { return fmt::format("{} slots of {} rows", slots, part.rows()); });
  part.require(width <= nnz, {}, [&] { return fmt::format("a width of {} for {} entries", width, nnz); });
}

void check(const PartView& part, int threads) {
  padded_rows::check(part, geometry(part), part.rows(), width_of(part), threads);
}

}  // namespace

const Layout layout{"ell", sections, {}, check_shape, check, unpack<Entries>, &value_functions<Entries>};

}  // namespace spmvpack::layouts::ell
