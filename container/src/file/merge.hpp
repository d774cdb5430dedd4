#pragma once
// How parts become the matrix that they are cut from.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "spmvpack/container/base/memory.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/container/file/contents.hpp"

namespace spmvpack {

/// Maps a part's local indices to those of the matrix.
class ToGlobal {
 public:
  ToGlobal(const PartView& part, const IndexMap& map, std::string_view list)
      : begin_(map.begin), list_(map.kind == format::MapKind::list ? part.get<std::uint32_t>(list).data() : nullptr) {}
  std::uint64_t operator()(std::uint64_t local) const noexcept {
    return list_ != nullptr ? list_[local] : begin_ + local;
  }

 private:
  std::uint64_t begin_;
  const std::uint32_t* list_;
};

/// The entries of a part by local rows and columns. V: whatever goes with each.
template <class V>
struct LocalEntries {
  std::span<const std::uint64_t> row_ptr;
  std::span<const std::uint32_t> col_idx;
  std::span<const V> values;
  ToGlobal row, col;
};

/// Merges the parts into the matrix, whose arrays have their sizes and whose rows become sorted. `transpose` and
/// `where` are for messages: whether it is A^T, and its container. Error(errc::corrupt) if two parts hold the same
/// entry.
template <class V>
void merge(std::span<const LocalEntries<V>> parts, std::span<std::uint64_t> row_ptr, std::span<std::uint32_t> col_idx,
           std::span<V> values, bool transpose, const std::string& where, int threads) {
  const std::uint64_t rows = row_ptr.size() - 1;
  std::fill(row_ptr.begin(), row_ptr.end(), 0);
  for (const LocalEntries<V>& part : parts)
    for (std::uint64_t r = 0; r + 1 < part.row_ptr.size(); ++r)
      row_ptr[part.row(r) + 1] += part.row_ptr[r + 1] - part.row_ptr[r];
  for (std::uint64_t r = 0; r < rows; ++r) row_ptr[r + 1] += row_ptr[r];

  // Parts are appended row by row in table order, then each row is sorted.
  Array<std::uint64_t> next(rows);
  std::copy(row_ptr.begin(), row_ptr.end() - 1, next.begin());
  for (const LocalEntries<V>& part : parts)
    for (std::uint64_t r = 0; r + 1 < part.row_ptr.size(); ++r) {
      std::uint64_t& to = next[part.row(r)];
      for (std::uint64_t k = part.row_ptr[r]; k < part.row_ptr[r + 1]; ++k, ++to) {
        col_idx[to] = static_cast<std::uint32_t>(part.col(part.col_idx[k]));
        std::memcpy(&values[to], &part.values[k], sizeof(V));
      }
    }
  constexpr std::uint64_t rows_per_task = 4096;
  parallel_pieces(rows, rows_per_task, threads, [&](std::uint64_t first, std::uint64_t last) {
    struct Entry {
      std::uint32_t column;
      V value;
    };
    CountedVector<Entry> row;
    for (std::uint64_t r = first; r < last; ++r) {
      const std::uint64_t begin = row_ptr[r], end = row_ptr[r + 1];
      if (std::adjacent_find(col_idx.data() + begin, col_idx.data() + end, std::greater_equal<>()) ==
          col_idx.data() + end)
        continue;
      row.resize(end - begin);
      for (std::uint64_t k = begin; k < end; ++k) row[k - begin] = {col_idx[k], values[k]};
      std::sort(row.begin(), row.end(), [](const Entry& a, const Entry& b) { return a.column < b.column; });
      for (std::uint64_t k = begin; k < end; ++k) {
        col_idx[k] = row[k - begin].column;
        values[k] = row[k - begin].value;
        if (k > begin && col_idx[k] == col_idx[k - 1])
          throw Error(errc::corrupt,
                      fmt::format("two parts hold the entry in row {}, column {}{}", r, col_idx[k],
                                  transpose ? " of the transpose" : ""),
                      where, "get the file again, or encode it again");
      }
    }
  });
}

}  // namespace spmvpack
