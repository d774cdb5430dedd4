#include "spmvpack/container/layouts/pjds.hpp"

#include <algorithm>

#include "padded_rows.hpp"
#include "spmvpack/container/layouts/pjds_check.hpp"

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

/// By the violations' numbers; the last two of a row.
constexpr std::array<ViolationText, 5> texts{
    {{"col_start", "does not start at 0 and end at the slots"},
     {"col_start", "a jagged column is empty, or longer than the one before it"},
     {"col_start", "a jagged column ends inside a block of rows"},
     {"col_idx", "row {} is the first of a block and has padding"},
     {"col_idx", "row {} is shorter than the next"}}};
static_assert(texts.size() == number_of(rows_rise));

void check(const PartView& part, int threads) {
  const PjdsGeometry g = geometry(part);
  require_sound(check_ends(g, slots_of(part.info())), part, texts);
  for (std::uint64_t s = 0; s < g.width; ++s) require_sound(check_column(g, part.rows(), s), part, texts);
  if (permuted(part.info())) {
    const auto rows = part.get<std::uint32_t>("row_map"), cols = part.get<std::uint32_t>("col_map");
    part.require(std::equal(rows.begin(), rows.end(), cols.begin(), cols.end()), "col_map",
                 [] { return std::string("is not the list of rows"); });
  }
  padded_rows::check(part, g, part.rows(), g.width, threads, column_order(part));
  const std::uint32_t* const columns = part.get<std::uint32_t>("col_idx").data();
  parallel_items(part.rows(), padded_rows::rows_per_task, threads,
                 [&](std::uint64_t r) { require_sound(check_length(g, columns, part.rows(), r), part, texts, r); });
}

}  // namespace

const Layout layout{"pjds",  sections, parameters, check_shape, check, unpack<Entries>, &value_functions<Entries>,
                    permuted};

}  // namespace spmvpack::layouts::pjds
