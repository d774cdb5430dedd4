#pragma once
// How the entries of a part become a matrix by rows.

#include <bit>
#include <variant>

#include "spmvpack/container/layouts/entry_order.hpp"
#include "spmvpack/container/matrix/csr_matrix.hpp"

namespace spmvpack::layouts {

/// Layout::unpack of a layout by its Entries.
template <template <class> class Entries>
CsrMatrix unpack(const PartView& part, int threads) {
  const std::uint64_t nnz = part.info().nnz;
  CsrMatrix m = allocate_csr(part.rows(), part.cols(), nnz, part.info().value_type);
  dispatch(m.value_type(), [&]<class T>(T) {
    const auto entries = Entries<T>::of(part);
    const CountedVector<std::uint32_t> before = count_entries(entries, m.row_ptr, nnz, threads);
    const EntryOrder order{m.row_ptr.data(), before.data()};
    const SectionBytes<const std::byte> bytes = section_bytes(part);
    T* const values = std::get<Array<T>>(m.values).data();
    const auto begin = [&](std::uint32_t row, std::uint64_t run) {
      const std::uint64_t first = order.first(row, run);
      return [&bytes, columns = m.col_idx.data() + first, values = values + first](
                 std::uint32_t index, std::uint32_t column, const ValueSlot& slot) {
        columns[index] = column;
        values[index] = std::bit_cast<T>(bytes.template read<T>(slot));
      };
    };
    each_unit(entries, nnz, threads, [&](std::uint64_t unit) { entries.each(unit, 0, 1, begin); });
  });
  return m;
}

}  // namespace spmvpack::layouts
