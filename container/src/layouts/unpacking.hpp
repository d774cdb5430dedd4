#pragma once
// How the entries of a part become a matrix by rows.

#include <variant>

#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/container/layouts/value_slot.hpp"
#include "spmvpack/container/matrix/csr_matrix.hpp"

namespace spmvpack::layouts {

/// Takes entries that are neighbours in the matrix one after the other, the next of which is its entry k. `section`:
/// the one that their slots are in.
template <class T>
auto put_from(CsrMatrix& m, const void* section, std::uint64_t k) {
  return [col_idx = m.col_idx.data(), values = std::get<Array<T>>(m.values).data(), section, k](
             std::uint64_t column, const ValueSlot& slot) mutable {
    col_idx[k] = static_cast<std::uint32_t>(column);
    copy_value<T>(section, slot, &values[k++]);
  };
}

/// Makes of the lengths of rows, each in the element behind the row's, where they begin.
inline void add_up_lengths(CsrMatrix& m) {
  m.row_ptr[0] = 0;
  for (std::uint64_t r = 0; r < m.rows; ++r) m.row_ptr[r + 1] += m.row_ptr[r];
}

/// Fills a matrix from rows that can be looked at one by one. each_entry(r, f): calls f(column, slot) for the entries
/// of row r in their order.
template <class T, class EachEntry>
void unpack_rows(CsrMatrix& m, const void* section, std::uint64_t rows_per_task, int threads, EachEntry&& each_entry) {
  parallel_items(m.rows, rows_per_task, threads, [&](std::uint64_t r) {
    std::uint64_t n = 0;
    each_entry(r, [&](std::uint32_t /*column*/, const ValueSlot& /*slot*/) { ++n; });
    m.row_ptr[r + 1] = n;
  });
  add_up_lengths(m);
  parallel_items(m.rows, rows_per_task, threads,
                 [&](std::uint64_t r) { each_entry(r, put_from<T>(m, section, m.row_ptr[r])); });
}

}  // namespace spmvpack::layouts
