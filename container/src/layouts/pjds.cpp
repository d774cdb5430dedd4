#include "spmvpack/container/layouts/pjds.hpp"

#include <algorithm>

#include "padded_rows.hpp"

namespace spmvpack::layouts::pjds {
namespace {

bool permuted(const PartInfo& part) { return part.params[param_basis] != 0; }

void check_shape(const PartView& part) {
  const PartInfo& info = part.info();
  const std::uint64_t width = width_of(info), slots = slots_of(info);
  part.require(info.counts[section_col_start] != 0, "col_start", [] { return std::string("0 elements, not even 0"); });
  part.require(width <= info.nnz, {}, [&] { return fmt::format("a width of {} for {} entries", width, info.nnz); });
  part.require(info.nnz <= slots, {}, [&] { return fmt::format("{} slots for {} entries", slots, info.nnz); });
  part.require(info.params[param_basis] <= 1, {}, [&] { return fmt::format("basis {}", info.params[param_basis]); });
  part.require(info.params[param_block_rows] <= max_block_rows, {},
               [&] { return fmt::format("blocks of {} rows", info.params[param_block_rows]); });
  if (!permuted(info)) return;
  const auto is_list = [](const IndexMap& map) { return map.kind == format::MapKind::list; };
  part.require(is_list(info.rows) && is_list(info.cols) && info.rows.count == info.cols.count, {}, [] {
    return std::string("a permuted basis of a part that is not square, or lists no rows or columns");
  });
}

/// Reads nothing outside col_start.
void check_starts(const PartView& part) {
  const auto start = part.get<std::uint64_t>("col_start");
  const auto require = [&](bool ok, std::string_view what) {
    part.require(ok, "col_start", [&] { return std::string(what); });
  };
  require(start.front() == 0 && start.back() == slots_of(part.info()), "does not start at 0 and end at the slots");
  const std::uint64_t block = block_rows_of(part.info());
  std::uint64_t before = part.rows();
  for (std::uint64_t s = 1; s < start.size(); ++s) {
    const std::uint64_t length = start[s] - start[s - 1];  // a fall makes it longer than the rows
    require(length >= 1 && length <= before, "a jagged column is empty, or longer than the one before it");
    require(length == part.rows() || length % block == 0, "a jagged column ends inside a block of rows");
    before = length;
  }
}

void check(const PartView& part, int threads) {
  check_starts(part);
  if (permuted(part.info())) {
    const auto rows = part.get<std::uint32_t>("row_map"), cols = part.get<std::uint32_t>("col_map");
    part.require(std::equal(rows.begin(), rows.end(), cols.begin(), cols.end()), "col_map",
                 [] { return std::string("is not the list of rows"); });
  }
  const std::uint64_t longest = padded_rows::check(part, geometry(part), part.rows(), threads, column_order(part));
  const std::uint64_t width = width_of(part.info());
  part.require(longest == width, {}, [&] { return fmt::format("no row has the width of {} entries", width); });
  const auto columns = part.get<std::uint32_t>("col_idx");
  const PjdsGeometry rows = geometry(part);
  parallel_pieces(part.rows(), padded_rows::rows_per_task, threads, [&](std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t r = first; r < last; ++r) {
      const std::uint64_t length = row_entries(columns.data(), rows(r));
      const auto require = [&](bool ok, std::string_view what) {
        part.require(ok, "col_idx", [&] { return fmt::format("row {} {}", r, what); });
      };
      require(r % rows.block_rows != 0 || !rows(r).has(length), "is the first of a block and has padding");
      require(r + 1 == part.rows() || !rows(r + 1).has(length) || columns[rows(r + 1).slot(length)] == no_column,
              "is shorter than the next");
    }
  });
}

CsrMatrix unpack(const PartView& part, int threads) { return padded_rows::unpack(part, geometry(part), threads); }

}  // namespace

const Layout layout{"pjds", sections, parameters, check_shape, check, unpack, permuted};

}  // namespace spmvpack::layouts::pjds
