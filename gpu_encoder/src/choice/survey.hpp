#pragma once
// encoder's Survey, counted by passes: what plans take at least follows from it.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "csr_arrays.hpp"
#include "execution/group.hpp"
#include "layouts/csell/distinct.hpp"
#include "longest_row.hpp"
#include "memory.hpp"
#include "spmvpack/encoder/survey.hpp"
#include "spmvpack/encoding_rules/csell.hpp"

namespace spmvpack::gpu_encoder {

/// The sizes of a matrix, and its arrays, which the host cannot read.
inline CsrView sizes_of(const Csr& a) {
  return dispatch(a.type, [&]<class T>(T) {
    const std::span values(static_cast<const T*>(a.value_bits), a.nnz);
    const std::span columns(a.col_idx, a.nnz);
    return a.narrow != nullptr ? CsrView(a.rows, a.cols, std::span(a.narrow, a.rows + 1), columns, values)
                               : CsrView(a.rows, a.cols, std::span(a.wide, a.rows + 1), columns, values);
  });
}

namespace survey_detail {

struct Counts {
  std::uint64_t far_apart, cuts, filled, whole, far_begins, cut_begins, widths;
};

struct Neighbours {
  Csr a;
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t segment(std::uint64_t k) const {
    return a.col_idx[k] / encoder::Survey::segment_columns;
  }
  [[nodiscard]] SPMVPACK_HOST_DEVICE bool far(std::uint64_t k) const {
    return a.col_idx[k] - a.col_idx[k - 1] >= encoder::Survey::far_columns;
  }
  [[nodiscard]] SPMVPACK_HOST_DEVICE bool cut(std::uint64_t k) const { return segment(k) != segment(k - 1); }
};

/// Reads the columns, then the row pointers with the columns at both ends of rows.
template <class Execution>
Counts count(const Execution& run, const Csr& a) {
  const Buffer<Counts> buffer = run.template allocate<Counts>(1);
  run.zero(buffer.data(), buffer.bytes());
  Counts* const counts = buffer.data();
  const Neighbours n{a};
  constexpr std::uint64_t size = 1024;  // of a group
  run.each_group(div_up(a.nnz, size), [=] SPMVPACK_HOST_DEVICE(std::uint64_t i, Group group) {
    const std::uint64_t end = (i + 1) * size < n.a.nnz ? (i + 1) * size : n.a.nnz;
    std::uint64_t far = 0, cut = 0;
    for (std::uint64_t k = i * size + group.lane; k < end; k += Group::lanes()) {
      if (k == 0) continue;
      far += n.far(k) ? 1 : 0;
      cut += n.cut(k) ? 1 : 0;
    }
    far = group.sum(far);
    cut = group.sum(cut);
    if (group.lane != 0) return;
    atomic_add(&counts->far_apart, far);
    atomic_add(&counts->cuts, cut);
  });
  run.each_group(div_up(a.rows, size), [=] SPMVPACK_HOST_DEVICE(std::uint64_t i, Group group) {
    const std::uint64_t last = (i + 1) * size < n.a.rows ? (i + 1) * size : n.a.rows;
    Counts own{};
    for (std::uint64_t r = i * size + group.lane; r < last; r += Group::lanes()) {
      const std::uint64_t begin = n.a.row_ptr(r), end = n.a.row_ptr(r + 1);
      if (begin == end) continue;
      ++own.filled;
      own.whole += n.segment(begin) == n.segment(end - 1) ? 1 : 0;
      own.far_begins += begin != 0 && n.far(begin) ? 1 : 0;
      own.cut_begins += begin != 0 && n.cut(begin) ? 1 : 0;
    }
    own.filled = group.sum(own.filled);
    own.whole = group.sum(own.whole);
    own.far_begins = group.sum(own.far_begins);
    own.cut_begins = group.sum(own.cut_begins);
    if (group.lane != 0) return;
    atomic_add(&counts->filled, own.filled);
    atomic_add(&counts->whole, own.whole);
    atomic_add(&counts->far_begins, own.far_begins);
    atomic_add(&counts->cut_begins, own.cut_begins);
  });
  constexpr std::uint64_t slice_rows = encoder::Survey::slice_rows;
  const std::uint64_t slices = div_up(a.rows, slice_rows);
  run.each_group(div_up(slices, size), [=] SPMVPACK_HOST_DEVICE(std::uint64_t i, Group group) {
    const std::uint64_t last = (i + 1) * size < slices ? (i + 1) * size : slices;
    std::uint64_t widths = 0;
    for (std::uint64_t s = i * size + group.lane; s < last; s += Group::lanes()) {
      const std::uint64_t end = (s + 1) * slice_rows < n.a.rows ? (s + 1) * slice_rows : n.a.rows;
      std::uint64_t width = 0;
      for (std::uint64_t r = s * slice_rows; r < end; ++r) {
        const std::uint64_t length = n.a.row_length(r);
        width = width < length ? length : width;
      }
      widths += width;
    }
    widths = group.sum(widths);
    if (group.lane == 0) atomic_add(&counts->widths, widths);
  });
  return run.read(counts);
}

/// A hash table of numbers below 2^64 - 1, with room for twice as many as come.
struct NumberSet {
  static constexpr std::uint64_t free = ~std::uint64_t{0};
  std::uint64_t* slots;
  std::uint64_t size;
  std::uint64_t* found;

  SPMVPACK_HOST_DEVICE void add(std::uint64_t number) const {
    for (std::uint64_t slot = (encoder::hash_of_key(number) >> 32U) * size >> 32U;;
         slot = slot + 1 == size ? 0 : slot + 1) {
      std::uint64_t there = slots[slot];
      if (there == free) there = atomic_exchange_if(slots + slot, free, number);
      if (there == free) atomic_add(found, std::uint64_t{1});
      if (there == free || there == number) return;
    }
  }
};

/// Columns, segments and diagonals of the entries of one row in 64 or more: of the first million of these entries.
template <class Execution>
void sample(const Execution& run, const Csr& a, encoder::Survey& s) {
  const std::uint64_t left = std::uint64_t{1} << 20U, stride = std::max<std::uint64_t>(64, a.nnz / left);
  const std::uint64_t rows = div_up(a.rows, stride);
  const Buffer<std::uint64_t> befores = run.template allocate<std::uint64_t>(rows + 1);
  std::uint64_t* const before = befores.data();
  const Csr m = a;
  run.each(rows + 1,
           [=] SPMVPACK_HOST_DEVICE(std::uint64_t i) { before[i] = i == rows ? 0 : m.row_length(i * stride); });
  run.sum_before(before, before, rows + 1);
  const std::uint64_t entries = std::min(left, run.read(before + rows)), size = 2 * entries + 1;
  constexpr std::uint64_t sets = 3;
  const Buffer<std::uint64_t> slots = run.template allocate<std::uint64_t>(sets * size),
                              counts = run.template allocate<std::uint64_t>(sets);
  std::uint64_t *const slot = slots.data(), *const found = counts.data();
  run.zero(found, counts.bytes());
  run.each(slots.size(), [=] SPMVPACK_HOST_DEVICE(std::uint64_t i) { slot[i] = NumberSet::free; });
  // By entries: a row of a graph may have more of them than all others.
  run.each(entries, [=] SPMVPACK_HOST_DEVICE(std::uint64_t e) {
    const std::uint64_t i = last_at_most(0, rows, e, [&](std::uint64_t row) { return before[row]; });
    const std::uint64_t r = i * stride, column = m.col_idx[m.row_ptr(r) + e - before[i]];
    NumberSet{slot, size, found}.add(column);
    NumberSet{slot + size, size, found + 1}.add(column / encoder::Survey::segment_columns);
    NumberSet{slot + 2 * size, size, found + 2}.add(m.rows + column - r);
  });
  const std::vector<std::uint64_t> of = run.read(found, sets);
  s.columns = of[0];
  s.segments = of[1];
  s.diagonals = of[2];
}

}  // namespace survey_detail

/// Distinct values as far as bounds depend on them: exactly up to 4,096, and else 4,097. How many entries the most
/// frequent have is not counted, and taken to be all: bounds are then lower, if anything.
template <class Execution>
std::shared_ptr<const encoder::ValueTable> surveyed_values(const Execution& run, const Csr& a, bool updatable) {
  namespace rules = encoder::layouts::csell_plans;
  if (updatable) return encoder::ValueTable::any();
  constexpr std::uint64_t limit = rules::max_step_values;
  const std::uint64_t count = csell::count_distinct(run, a, limit).count;
  return encoder::ValueTable::of_counts(count, {{ValueKey{0}, a.nnz}});
}

/// encoder::survey_of(): its CsrView tells sizes alone.
template <class Execution>
encoder::Survey survey_of(const Execution& run, const Csr& a, bool updatable) {
  encoder::Survey s{.a = sizes_of(a), .values = surveyed_values(run, a, updatable)};
  const survey_detail::Counts counts = survey_detail::count(run, a);
  s.longest_row = longest_row(run, a);
  s.filled_rows = counts.filled;
  s.slice_slots = counts.widths * encoder::Survey::slice_rows;
  s.far_apart = counts.far_apart + counts.filled - counts.far_begins;
  s.pieces = counts.cuts - counts.cut_begins + counts.filled;
  s.shared_pieces = s.pieces - counts.whole;
  survey_detail::sample(run, a, s);
  return s;
}

}  // namespace spmvpack::gpu_encoder
