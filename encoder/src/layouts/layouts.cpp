#include "layouts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/container/base/text.hpp"
#include "spmvpack/encoder/time_model.hpp"
#include "spmvpack/launch_rules/long_rows.hpp"

namespace spmvpack::encoder::layouts {

void refuse_complex(std::string_view name, ValueType type) {
  throw Error(errc::unsupported, fmt::format("{} does not take complex values ({}) yet", name, to_string(type)), {},
              "use csr, coo or auto; or encode the real and the imaginary parts as two matrices");
}

PartPlan begin_plan(const spmvpack::Layout& layout, const PartMatrix& part) {
  if (holds_complex(part.a.value_type()) && !layout.takes_complex) refuse_complex(layout.name, part.a.value_type());
  PartPlan plan;
  plan.info.layout = layout.name;
  plan.info.value_type = part.a.value_type();
  plan.info.rows = part.rows.map;
  plan.info.cols = part.cols.map;
  plan.info.nnz = part.a.nnz();
  plan.row_list = part.rows.list;
  plan.col_list = part.cols.list;
  plan.entries = part.entries;
  if (plan.row_list != nullptr) add_section(plan, row_map_section);
  if (plan.col_list != nullptr) add_section(plan, col_map_section);
  return plan;
}

void add_section(PartPlan& plan, const SectionDescription& description) {
  SectionShape& s = plan.sections.emplace_back();
  s.name = description.name;
  s.element_type = description.type(plan.info);
  std::uint64_t* const count = find_count(plan.info, description.name);
  s.count = description.count != nullptr ? description.count(plan.info) : *count;
  if (count != nullptr) *count = s.count;
  s.flags = description.flags;
  s.alignment = description.alignment;
}

void add_sections(PartPlan& plan, std::span<const SectionDescription> descriptions) {
  for (const SectionDescription& description : descriptions) add_section(plan, description);
}

std::shared_ptr<const ValueTable> values_of(const CsrView& a, std::shared_ptr<const ValueTable> counted,
                                            const PlanOptions& options, bool estimate) {
  if (options.updatable) return ValueTable::any();
  return counted != nullptr ? std::move(counted) : ValueTable::count(a, options.threads, estimate);
}

bool stores_zeros(const CsrView& a, int threads) {
  constexpr std::uint64_t entries_per_task = 1U << 18;
  std::atomic<bool> found{false};
  dispatch(a.value_type(), [&]<class T>(T) {
    const auto* const values = static_cast<const bits_of<T>*>(a.value_bytes());
    parallel_pieces(a.nnz(), entries_per_task, threads, [&](std::uint64_t first, std::uint64_t last) {
      if (!found && std::find(values + first, values + last, 0) != values + last) found = true;
    });
  });
  return found;
}

std::uint64_t entries_in_runs(const CsrView& a, std::uint64_t lane_entries, int threads) {
  constexpr std::uint64_t lanes_per_task = 1U << 15;
  const std::uint32_t* const columns = a.col_idx();
  std::atomic<std::uint64_t> lanes{0};
  // The last lane has no neighbour. Rows need not be known: from one to the next columns hardly ever go on so.
  parallel_pieces(a.nnz() < 1 ? 0 : (a.nnz() - 1) / lane_entries, lanes_per_task, threads,
                  [&](std::uint64_t first, std::uint64_t last) {
                    std::uint64_t found = 0;
                    for (std::uint64_t k = first * lane_entries; k < last * lane_entries; k += lane_entries)
                      found += columns[k + lane_entries] == columns[k] + lane_entries ? 1 : 0;
                    lanes += found;
                  });
  return lanes * lane_entries;
}

UnevenRows uneven_rows(const CsrView& a, int threads) {
  constexpr std::uint64_t rows_per_task = 1U << 14;
  const auto goes_on = [&](std::uint64_t r, std::uint64_t n) {
    const std::uint32_t *const here = a.col_idx() + a.row_ptr(r), *const before = here - n;
    return std::equal(here, here + n, before, [](std::uint32_t c, std::uint32_t d) { return c == d + 1; });
  };
  std::atomic<std::uint64_t> uneven{0}, empty{0}, scattered_entries{0};
  parallel_pieces(a.rows(), rows_per_task, threads, [&](std::uint64_t begin, std::uint64_t end) {
    UnevenRows own;
    for (std::uint64_t r = begin; r < end; ++r) {
      const std::uint64_t n = a.row_length(r);
      const bool is_even = r != 0 && a.row_length(r - 1) == n;
      if (n == 0)
        ++own.empty;
      else if (!is_even)
        ++own.uneven;
      if (!is_even || !goes_on(r, n)) own.scattered_entries += n;
    }
    uneven += own.uneven;
    empty += own.empty;
    scattered_entries += own.scattered_entries;
  });
  return {uneven, empty, scattered_entries};
}

std::uint64_t entries_in_turns(const CsrView& a, std::span<const std::uint32_t> rows, std::uint64_t piece_entries) {
  namespace rules = launch_rules::long_rows;
  struct Piece {
    rules::PieceColumns columns;
    std::uint64_t entries;
  };
  CountedVector<Piece> pieces;
  for (const std::uint32_t row : rows)
    for (std::uint64_t k = a.row_ptr(row), end = a.row_ptr(row + std::uint64_t{1}); k < end; k += piece_entries) {
      const std::uint64_t n = std::min(piece_entries, end - k);
      pieces.push_back({{a.col_idx()[k], a.col_idx()[k + n - 1]}, n});
    }
  std::stable_sort(pieces.begin(), pieces.end(),
                   [](const Piece& x, const Piece& y) { return x.columns.first < y.columns.first; });
  std::uint64_t entries = 0;
  for (std::uint64_t i = 0; i < pieces.size();) {
    const std::uint64_t count = rules::pieces_together(pieces.size() - i, pieces[i].entries,
                                                       [&](std::uint64_t k) { return pieces[i + k].columns; });
    for (const std::uint64_t end = i + count; i < end; ++i) entries += count == 1 ? 0 : pieces[i].entries;
  }
  return entries;
}

std::uint64_t filled_rows(const CsrView& a, int threads) {
  constexpr std::uint64_t rows_per_task = 1U << 14;
  std::atomic<std::uint64_t> filled{0};
  parallel_pieces(a.rows(), rows_per_task, threads, [&](std::uint64_t begin, std::uint64_t end) {
    std::uint64_t own = 0;
    for (std::uint64_t r = begin; r < end; ++r) own += a.row_length(r) != 0 ? 1 : 0;
    filled += own;
  });
  return filled;
}

void share_by_section(PartPlan& plan) {
  for (const SectionShape& s : plan.sections)
    if ((s.flags & format::section_device) != 0) plan.byte_shares.emplace_back(s.name, s.raw_bytes());
}

}  // namespace spmvpack::encoder::layouts
