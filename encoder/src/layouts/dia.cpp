#include "spmvpack/container/layouts/dia.hpp"

#include <algorithm>

#include "layouts/dia_work.hpp"
#include "layouts/layouts.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/container/base/shared_bits.hpp"
#include "spmvpack/encoder/survey.hpp"
#include "spmvpack/launch_rules/dia.hpp"

namespace spmvpack::encoder::layouts {
namespace dia_plans {
namespace {

using namespace spmvpack::layouts::dia;  // what the bytes mean

constexpr std::uint64_t rows_per_task = 1U << 14;

/// The diagonals that have entries, in increasing order.
CountedVector<std::uint64_t> diagonals(const CsrView& a, int threads) {
  if (a.nnz() == 0) return {};
  SharedBits used(a.rows() + a.cols() - 1);
  parallel_items(a.rows(), rows_per_task, threads, [&](std::uint64_t r) {
    for (std::uint64_t k = a.row_ptr(r); k < a.row_ptr(r + 1); ++k) used.set(offset_of(r, a.col_idx()[k], a.rows()));
  });
  CountedVector<std::uint64_t> offsets;
  used.each([&](std::uint64_t offset) { offsets.push_back(offset); });
  return offsets;
}

/// Where the diagonals are, and the slots of stored zeros.
struct Choices {
  CountedVector<std::uint64_t> offsets, zeros;
};

/// A part by diagonals: where its entries go.
struct Diagonals {
  CsrView a;
  const CountedVector<std::uint64_t>& offsets;

  /// The bits of slot d * rows + r; 0 if it has no entry.
  template <class T>
  [[nodiscard]] bits_of<T> bits_at(std::uint64_t slot) const {
    const std::uint64_t row = slot % a.rows(), column = column_of(row, offsets[slot / a.rows()], a.rows());
    if (column >= a.cols()) return 0;
    const std::uint32_t* const begin = a.col_idx() + a.row_ptr(row);
    const std::uint32_t* const end = a.col_idx() + a.row_ptr(row + 1);
    const std::uint32_t* const found = std::lower_bound(begin, end, column);
    if (found == end || *found != column) return 0;
    return static_cast<const bits_of<T>*>(a.value_bytes())[found - a.col_idx()];
  }
  /// Slots that have a column, entries or not.
  [[nodiscard]] std::uint64_t slots_with_column() const {
    std::uint64_t slots = 0;
    for (const std::uint64_t offset : offsets) {
      // Rows whose column is from 0 on, less those whose column is beyond the last.
      const std::uint64_t first = offset >= a.rows() - 1 ? 0 : a.rows() - 1 - offset;
      const std::uint64_t columns_end = a.cols() + a.rows() - 1 - offset;
      slots += std::min(a.rows(), columns_end) - first;
    }
    return slots;
  }
  /// Slots of entries that are +0, in increasing order.
  template <class T>
  [[nodiscard]] CountedVector<std::uint64_t> zeros() const {
    const auto* const values = static_cast<const bits_of<T>*>(a.value_bytes());
    const auto diagonal_of = [&](std::uint64_t row, std::uint64_t k) {
      const std::uint64_t offset = offset_of(row, a.col_idx()[k], a.rows());
      return static_cast<std::size_t>(std::lower_bound(offsets.begin(), offsets.end(), offset) - offsets.begin());
    };
    const auto each = [&](auto&& f) {
      for (std::uint64_t r = 0; r < a.rows(); ++r)
        for (std::uint64_t k = a.row_ptr(r); k < a.row_ptr(r + 1); ++k)
          if (values[k] == 0) f(diagonal_of(r, k), r);
    };
    // By diagonal; the rows of each come in order.
    CountedVector<std::uint64_t> place(offsets.size() + 1);
    each([&](std::size_t d, std::uint64_t) { ++place[d + 1]; });
    for (std::size_t d = 0; d < offsets.size(); ++d) place[d + 1] += place[d];
    CountedVector<std::uint64_t> slots(place.back());
    each([&](std::size_t d, std::uint64_t r) { slots[place[d]++] = d * a.rows() + r; });
    return slots;
  }
};

/// A row's thread takes all diagonals in turn, whether or not the row has one of their slots: they are a chain. On a
/// host, one thread takes all diagonals of a single task, each for longer than its products.
std::vector<Counter> work(std::uint64_t diagonals, std::uint64_t rows, std::uint64_t value_size) {
  // What arrives in the 0.23 us that a thread waits for a diagonal. docs/notebook/GPU.md, "Constants".
  constexpr std::uint64_t bytes_of_load = 1'500'000;
  const std::uint64_t slots = diagonals * rows;
  return {{Work::multiplies, 1},
          {Work::slots, slots},
          {Work::diagonals, diagonals},
          {Work::chain, chain_beside(diagonals, slots * value_size, bytes_of_load)},
          {Work::task_diagonals, launch_rules::dia::is_one_task(rows) ? diagonals : 0}};
}

PartPlan plan(const PartMatrix& part, const PlanOptions& options) {
  const auto choices = std::make_shared<Choices>();
  choices->offsets = diagonals(part.a, options.threads);
  const Diagonals d{part.a, choices->offsets};
  PartPlan plan = begin_plan(layout, part);
  plan.info.counts[section_offsets] = d.offsets.size();
  add_sections(plan, std::span(sections).first(2));
  if (stores_zeros(part.a, options.threads)) {
    dispatch(part.a.value_type(), [&]<class T>(T) { choices->zeros = d.template zeros<T>(); });
    plan.info.counts[section_stored_zeros] = choices->zeros.size();
    add_section(plan, sections[section_stored_zeros]);
  }
  keep_choices(plan, choices);
  plan.padding = slots_of(plan.info) - part.a.nnz();
  plan.fill_reads_x = d.slots_with_column() > part.a.nnz();
  share_by_section(plan);
  // By Bell and Garland's report offsets have 32 bits.
  plan.counters = {main_choice("diagonals", d.offsets.size()),
                   {"published.bytes", slots_of(plan.info) * size_of(part.a.value_type()) + 4 * d.offsets.size()}};
  plan.work = work(d.offsets.size(), part.a.rows(), size_of(part.a.value_type()));
  return plan;
}

void fill(const PartPlan& plan, const CsrView& a, std::size_t section, std::uint64_t begin, std::span<std::byte> out) {
  const auto& [offsets, zeros] = choices_of<Choices>(plan);
  if (section != 1) return copy_from(section == 0 ? offsets.data() : zeros.data(), begin, out);
  const Diagonals d{a, offsets};
  dispatch(a.value_type(), [&]<class T>(T) {
    compute_elements<bits_of<T>>(begin, out, [&](std::uint64_t slot) { return d.template bits_at<T>(slot); });
  });
}

Least least(const Survey& s) {
  const std::uint64_t slots = s.diagonals * s.a.rows();
  const std::uint64_t value_size = size_of(s.a.value_type());
  return {slots * value_size, false, work(s.diagonals, s.a.rows(), value_size)};
}

}  // namespace
}  // namespace dia_plans

extern const LayoutEncoder dia{"dia",
                               "diagonals without column indices; their fill multiplies x, too",
                               "a few diagonals that are nearly full",
                               {},
                               dia_plans::plan,
                               dia_plans::fill,
                               {.least = dia_plans::least}};

}  // namespace spmvpack::encoder::layouts
