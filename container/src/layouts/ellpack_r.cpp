#include "spmvpack/container/layouts/ellpack_r.hpp"

#include "padded_rows.hpp"

namespace spmvpack::layouts::ellpack_r {
namespace {

void check_shape(const PartView& part) { ell::layout.check_shape(part); }

void check(const PartView& part, int threads) {
  const auto row_len = part.get<std::uint32_t>("row_len");
  const auto columns = part.get<std::uint32_t>("col_idx");
  const EllGeometry slots = ell::geometry(part);
  ell::layout.check(part, threads);
  parallel_items(part.rows(), padded_rows::rows_per_task, threads, [&](std::uint64_t r) {
    part.require(row_len[r] == row_entries(columns.data(), slots(r)), "row_len",
                 [&] { return fmt::format("row {} does not have {} entries", r, row_len[r]); });
  });
}

}  // namespace

const Layout layout{"ellpack_r", sections, {}, check_shape, check, unpack<Entries>, &value_functions<Entries>};

}  // namespace spmvpack::layouts::ellpack_r
