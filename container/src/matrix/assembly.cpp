#include "spmvpack/container/matrix/assembly.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "spmvpack/container/base/parallel.hpp"

namespace spmvpack {
namespace {

constexpr std::uint64_t rows_of_list_task = 1024;

/// The list's positions by rows, then columns; of the same pair, in the order of the list.
template <class Position>
struct SortedList {
  Array<std::uint64_t> row_ptr;
  Array<Position> position;
};

template <class Position, class Index>
SortedList<Position> sort_list(std::uint64_t rows, std::uint64_t cols, std::span<const Index> row_idx,
                               std::span<const Index> col_idx, int threads) {
  SortedList<Position> list{Array<std::uint64_t>(rows + 1, 0), {}};
  for (std::uint64_t k = 0; k < row_idx.size(); ++k) {
    if (row_idx[k] < 0 || col_idx[k] < 0) continue;
    const auto row = static_cast<std::uint64_t>(row_idx[k]), col = static_cast<std::uint64_t>(col_idx[k]);
    if (row >= rows || col >= cols)
      throw Error(errc::bad_input,
                  fmt::format("element {} of the list is row {}, column {} of {} x {}", k, row, col, rows, cols));
    ++list.row_ptr[row + 1];
  }
  for (std::uint64_t r = 0; r < rows; ++r) list.row_ptr[r + 1] += list.row_ptr[r];
  list.position = Array<Position>(list.row_ptr[rows]);
  Array<std::uint64_t> next = list.row_ptr.clone();
  for (std::uint64_t k = 0; k < row_idx.size(); ++k)
    if (row_idx[k] >= 0 && col_idx[k] >= 0)
      list.position[next[static_cast<std::uint64_t>(row_idx[k])]++] = static_cast<Position>(k);
  parallel_items(rows, rows_of_list_task, threads, [&](std::uint64_t r) {
    std::sort(list.position.begin() + list.row_ptr[r], list.position.begin() + list.row_ptr[r + 1],
              [&](Position a, Position b) { return col_idx[a] != col_idx[b] ? col_idx[a] < col_idx[b] : a < b; });
  });
  return list;
}

/// The map of the entries that the list names.
template <class Position, class Index>
AssemblyMap assembly_of(std::uint64_t rows, std::uint64_t cols, std::span<const Index> row_idx,
                        std::span<const Index> col_idx, int threads) {
  SortedList<Position> list = sort_list<Position>(rows, cols, row_idx, col_idx, threads);
  const auto begins = [&](std::uint64_t r, std::uint64_t i) {  // an entry of row r
    return i == list.row_ptr[r] || col_idx[list.position[i]] != col_idx[list.position[i - 1]];
  };
  AssemblyMap all;
  all.rows = rows;
  all.cols = cols;
  all.list_size = row_idx.size();
  all.row_ptr = Array<std::uint64_t>(rows + 1, 0);
  parallel_items(rows, rows_of_list_task, threads, [&](std::uint64_t r) {
    for (std::uint64_t i = list.row_ptr[r]; i < list.row_ptr[r + 1]; ++i) all.row_ptr[r + 1] += begins(r, i) ? 1 : 0;
  });
  for (std::uint64_t r = 0; r < rows; ++r) all.row_ptr[r + 1] += all.row_ptr[r];
  all.col_idx = Array<std::uint32_t>(all.row_ptr[rows]);
  all.first = Array<std::uint64_t>(all.row_ptr[rows] + 1);
  parallel_items(rows, rows_of_list_task, threads, [&](std::uint64_t r) {
    std::uint64_t k = all.row_ptr[r];
    for (std::uint64_t i = list.row_ptr[r]; i < list.row_ptr[r + 1]; ++i) {
      if (!begins(r, i)) continue;
      all.col_idx[k] = static_cast<std::uint32_t>(col_idx[list.position[i]]);
      all.first[k++] = i;
    }
  });
  all.first[all.nnz()] = list.position.size();
  all.position = std::move(list.position);
  return all;
}

/// The same for a matrix that has further entries.
AssemblyMap spread(AssemblyMap named, const CsrView& pattern, int threads) {
  AssemblyMap all;
  all.rows = named.rows;
  all.cols = named.cols;
  all.list_size = named.list_size;
  all.position = std::move(named.position);
  all.row_ptr = Array<std::uint64_t>(pattern.rows() + 1);
  all.col_idx = Array<std::uint32_t>(pattern.nnz());
  all.first = Array<std::uint64_t>(pattern.nnz() + 1);
  all.row_ptr[pattern.rows()] = pattern.nnz();
  all.first[pattern.nnz()] = named.first[named.nnz()];
  parallel_items(pattern.rows(), rows_of_list_task, threads, [&](std::uint64_t r) {
    all.row_ptr[r] = pattern.row_ptr(r);
    std::uint64_t from = named.row_ptr[r];
    const std::uint64_t end = named.row_ptr[r + 1];
    for (std::uint64_t k = pattern.row_ptr(r); k < pattern.row_ptr(r + 1); ++k) {
      all.col_idx[k] = pattern.col_idx()[k];
      all.first[k] = named.first[from];
      if (from < end && named.col_idx[from] == all.col_idx[k]) ++from;
    }
    if (from < end)
      throw Error(errc::bad_input, fmt::format("the list has row {}, column {}, of which the pattern has no entry", r,
                                               named.col_idx[from]));
  });
  return all;
}

}  // namespace

void require_sum_sizes(std::uint64_t list, std::uint64_t list_size, std::uint64_t values, std::uint64_t nnz) {
  if (list != 0 && list != list_size)
    throw Error(errc::usage, fmt::format("{} values for a list of {} entries", list, list_size), {},
                "give one for each pair, those that are ignored included, or none");
  if (values != nnz) throw Error(errc::usage, fmt::format("room for {} values of a matrix of {} entries", values, nnz));
}

template <class Index>
AssemblyMap AssemblyMap::of(std::uint64_t rows, std::uint64_t cols, std::span<const Index> row_idx,
                            std::span<const Index> col_idx, int threads) {
  if (row_idx.size() != col_idx.size())
    throw Error(errc::usage, fmt::format("a list of {} rows and {} columns", row_idx.size(), col_idx.size()));
  if (rows >= max_dimension || cols >= max_dimension)
    throw Error(errc::unsupported, fmt::format("{} rows and {} columns, more than a matrix can have", rows, cols));
  return row_idx.size() >> 32U == 0 ? assembly_of<std::uint32_t>(rows, cols, row_idx, col_idx, threads)
                                    : assembly_of<std::uint64_t>(rows, cols, row_idx, col_idx, threads);
}

template <class Index>
AssemblyMap AssemblyMap::of(const CsrView& pattern, std::span<const Index> row_idx, std::span<const Index> col_idx,
                            int threads) {
  pattern.check(threads);
  return spread(of(pattern.rows(), pattern.cols(), row_idx, col_idx, threads), pattern, threads);
}

template <class T>
void AssemblyMap::sum(std::span<const T> list, std::span<T> values, InsertMode mode, int threads) const {
  require_sum_sizes(list.size(), list_size, values.size(), nnz());
  constexpr std::uint64_t piece = std::uint64_t{1} << 15;
  std::visit(
      [&]<class Position>(const Array<Position>& at) {
        parallel_items(nnz(), piece, threads, [&](std::uint64_t k) {
          std::uint64_t i = first[k];
          const std::uint64_t end = first[k + 1];
          if (i == end || list.empty()) {
            if (mode == InsertMode::insert) values[k] = 0;
            return;
          }
          T total = list[at[i]];
          while (++i < end) total = total + list[at[i]];
          values[k] = mode == InsertMode::insert ? total : values[k] + total;
        });
      },
      position);
}

#define SPMVPACK_INSTANTIATE_ASSEMBLY(Index)                                                                         \
  template AssemblyMap AssemblyMap::of(std::uint64_t, std::uint64_t, std::span<const Index>, std::span<const Index>, \
                                       int);                                                                         \
  template AssemblyMap AssemblyMap::of(const CsrView&, std::span<const Index>, std::span<const Index>, int);
SPMVPACK_INSTANTIATE_ASSEMBLY(std::int32_t)
SPMVPACK_INSTANTIATE_ASSEMBLY(std::int64_t)
#undef SPMVPACK_INSTANTIATE_ASSEMBLY

#define SPMVPACK_INSTANTIATE_SUM(T) \
  template void AssemblyMap::sum(std::span<const T>, std::span<T>, InsertMode, int) const;
SPMVPACK_VALUE_TYPES(SPMVPACK_INSTANTIATE_SUM)
#undef SPMVPACK_INSTANTIATE_SUM

}  // namespace spmvpack
