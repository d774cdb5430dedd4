#include "spmvpack/encoder/survey.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "count_table.hpp"
#include "spmvpack/container/base/parallel.hpp"

namespace spmvpack::encoder {
namespace {

constexpr std::uint64_t rows_per_task = 1U << 14, entries_per_task = 1U << 18;

void sample(Survey& s) {
  std::uint64_t left = std::uint64_t{1} << 20U;  // entries that are looked at, at most
  const std::uint64_t stride = std::max<std::uint64_t>(64, s.a.nnz() / left);
  CountTable<std::uint64_t> columns, segments, diagonals;
  for (std::uint64_t r = 0; r < s.a.rows() && left != 0; r += stride)
    for (std::uint64_t k = s.a.row_ptr(r); k < s.a.row_ptr(r + 1) && left != 0; ++k, --left) {
      const std::uint64_t column = s.a.col_idx()[k];
      columns.add(column, 1);
      segments.add(column / Survey::segment_columns, 1);
      diagonals.add(s.a.rows() + column - r, 1);
    }
  s.columns = columns.size();
  s.segments = segments.size();
  s.diagonals = diagonals.size();
}

}  // namespace

Survey survey_of(const CsrView& a, std::shared_ptr<const ValueTable> values, int threads) {
  Survey s{.a = a, .values = std::move(values)};
  const std::uint32_t* const columns = a.col_idx();
  const auto far = [&](std::uint64_t k) { return columns[k] - columns[k - 1] >= Survey::far_columns; };
  const auto segment = [&](std::uint64_t k) { return columns[k] / Survey::segment_columns; };
  const auto cut = [&](std::uint64_t k) { return segment(k) != segment(k - 1); };
  // As if all entries were one row: a loop without rows is fast where these are short.
  std::atomic<std::uint64_t> far_apart{0}, cuts{0}, filled{0}, whole{0}, steps{0};
  static_assert(rows_per_task % Survey::slice_rows == 0);
  parallel_pieces(a.nnz(), entries_per_task, threads, [&](std::uint64_t begin, std::uint64_t end) {
    std::uint32_t n_far = 0, n_cut = 0;
    for (std::uint64_t k = std::max<std::uint64_t>(begin, 1); k < end; ++k) {
      n_far += far(k) ? 1 : 0;
      n_cut += cut(k) ? 1 : 0;
    }
    far_apart += n_far;
    cuts += n_cut;
  });
  parallel_pieces(a.rows(), rows_per_task, threads, [&](std::uint64_t first, std::uint64_t last) {
    std::uint64_t rows = 0, whole_rows = 0, row_far = 0, row_cut = 0, widths = 0, width = 0;
    for (std::uint64_t r = first; r < last; ++r) {
      const std::uint64_t begin = a.row_ptr(r), end = a.row_ptr(r + 1);
      width = std::max(width, end - begin);
      if ((r + 1) % Survey::slice_rows == 0 || r + 1 == last) widths += std::exchange(width, 0);
      if (begin == end) continue;
      ++rows;
      whole_rows += segment(begin) == segment(end - 1) ? 1 : 0;
      row_far += begin != 0 && far(begin) ? 1 : 0;
      row_cut += begin != 0 && cut(begin) ? 1 : 0;
    }
    filled += rows;
    steps += widths;
    whole += whole_rows;
    far_apart += rows - row_far;
    cuts -= row_cut;
  });
  s.longest_row = a.longest_row(threads);
  s.filled_rows = filled;
  s.slice_slots = steps * Survey::slice_rows;
  s.far_apart = far_apart;
  s.pieces = cuts + filled;
  s.shared_pieces = s.pieces - whole;
  sample(s);
  return s;
}

}  // namespace spmvpack::encoder
