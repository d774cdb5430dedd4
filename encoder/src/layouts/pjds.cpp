#include "spmvpack/container/layouts/pjds.hpp"

#include <fmt/format.h>

#include <array>

#include "layouts/padded_rows.hpp"
#include "layouts/pjds_work.hpp"

namespace spmvpack::encoder::layouts {
namespace pjds_plans {
namespace {

using namespace spmvpack::layouts::pjds;  // what the bytes mean

constexpr std::array<Setting, 2> settings{
    Setting{"pjds.basis", "user or permuted", "permuted: number columns like the sorted rows (square matrices)"},
    Setting{"pjds.br", "1 to 65536", "rows padded to the same length (b_r), 32 unless set; 1 is JDS"}};

bool wants_permuted(const PartMatrix& part, const PlanOptions& options) {
  if (!has_name(options, settings[0], "permuted", "user")) return false;
  if (part.rows.map.kind != format::MapKind::all || part.cols.map.kind != format::MapKind::all ||
      part.a.rows() != part.a.cols())
    throw Error(errc::unsupported,
                fmt::format("pjds.basis is permuted for {} rows and {} columns", part.a.rows(), part.a.cols()), {},
                "only a square matrix as a whole has a permuted basis");
  return true;
}

/// Jagged columns one after the other.
struct Cursor {
  const CountedVector<std::uint64_t>* start;
  SlotPlace at;

  Cursor(const CountedVector<std::uint64_t>& col_start, std::uint64_t slot) : start(&col_start) {
    at.step = static_cast<std::uint64_t>(std::upper_bound(start->begin(), start->end(), slot) - start->begin()) - 1;
    at.row = slot - (*start)[at.step];
  }
  [[nodiscard]] SlotPlace place() const { return at; }
  void next() {
    if (++at.row == (*start)[at.step + 1] - (*start)[at.step]) at = {0, at.step + 1};
  }
};

struct Choices {
  CountedVector<std::uint64_t> start;  ///< of each jagged column
  CountedVector<std::uint32_t> order;  ///< of the rows
  CountedVector<std::uint32_t> place;  ///< of each column, in a permuted basis
};

PartPlan plan(const PartMatrix& part, const PlanOptions& options) {
  const CsrView& a = part.a;
  const bool permuted = wants_permuted(part, options);
  const std::uint64_t block = read_setting(options, "pjds.br", 1, max_block_rows, {}).value_or(warp_rows);
  CountedVector<std::uint32_t> order = sorted_rows(a, std::max<std::uint64_t>(a.rows(), 1), options.threads);
  PartMatrix sorted = part;
  sorted.rows = permuted ? PartIndices::of(order) : PartIndices{};
  const auto choices = std::make_shared<Choices>();
  if (permuted) {
    sorted.cols = sorted.rows;
    choices->place.resize(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) choices->place[order[i]] = static_cast<std::uint32_t>(i);
  } else {
    sorted.rows = reordered(part.rows, order);
  }

  // Rows whose padded length exceeds s have a slot s: those of whole blocks, as lengths fall.
  const auto length = [&](std::uint64_t place) { return a.row_length(order.empty() ? place : order[place]); };
  const std::uint64_t width = a.rows() == 0 ? 0 : length(0);
  CountedVector<std::uint64_t>& start = choices->start;
  start.resize(width + 1);
  std::uint64_t done = width;
  for (std::uint64_t first = 0; first < a.rows(); first += block)
    for (const std::uint64_t longest = length(first); done > longest; --done)
      start[done] = first;  // jagged column done - 1 has the rows before this block
  for (; done > 0; --done) start[done] = a.rows();
  for (std::uint64_t s = 1; s <= width; ++s) start[s] += start[s - 1];
  choices->order = std::move(order);

  PartPlan plan = begin_plan(layout, sorted);
  plan.info.counts[section_col_start] = start.size();
  plan.info.counts[section_col_idx] = start.back();
  plan.info.params[param_basis] = permuted ? 1 : 0;
  plan.info.params[param_block_rows] = block == warp_rows ? 0 : block;
  add_sections(plan, sections);
  keep_choices(plan, choices);
  plan.work = work_of<Work>(describe_slots(plan, counts_of(a, start.back()), Steps::of_all_rows,
                                           !choices->order.empty(), device_of(options)));
  if (!permuted) plan.columns = columns_of<Work>(a.nnz());  // multiplies in a permuted basis take one
  // By the paper, section 2.1: starts of 32 bits, none for the end; lengths of rows; no list of rows.
  const std::uint64_t slot = 4 + size_of(a.value_type());
  plan.counters = {main_choice("width", width),
                   main_choice("br", block),
                   {"permuted", permuted ? 1U : 0U},
                   {"published.bytes", start.back() * slot + 4 * width + 4 * a.rows()}};
  return plan;
}

void fill(const PartPlan& plan, const CsrView& a, std::size_t section, std::uint64_t begin, std::span<std::byte> out) {
  const auto& [start, order, place] = choices_of<Choices>(plan);
  const auto cursor = [&starts = start](std::uint64_t slot) { return Cursor(starts, slot); };
  if (section == 0)
    copy_from(start.data(), begin, out);
  else if (section == 2)
    fill_values(a, order, cursor, begin, out);
  else if (place.empty())
    fill_columns(a, order, cursor, begin, out);
  else
    fill_slots(a, order, cursor, begin, out, spmvpack::layouts::no_column,
               [&places = place, columns = a.col_idx()](std::uint64_t k) { return places[columns[k]]; });
}

}  // namespace
}  // namespace pjds_plans

extern const LayoutEncoder pjds{.name = "pjds",
                                .summary = "padded jagged diagonals: rows sorted by length, padded in blocks of 32",
                                .suits = "rows of very different lengths, if x fits in a cache",
                                .settings = pjds_plans::settings,
                                .plan = pjds_plans::plan,
                                .fill = pjds_plans::fill,
                                .traits = {.reproduction = true}};

}  // namespace spmvpack::encoder::layouts
