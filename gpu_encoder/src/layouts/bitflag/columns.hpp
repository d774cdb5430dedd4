#pragma once
// Hot columns, and the matrix whose rows are those of all segments of columns.

#include "csr_arrays.hpp"
#include "execution/group.hpp"
#include "memory.hpp"
#include "reorder.hpp"
#include "spmvpack/encoding_rules/bitflag.hpp"

namespace spmvpack::gpu_encoder::bitflag {

namespace rules = encoder::layouts::bitflag_plans;

/// The most used columns, and the entries that have them.
struct Hot {
  std::uint64_t count = 0, entries = 0;
  Buffer<std::uint32_t> columns;  ///< rising
};

/// At most `most` of them. Reads the columns once.
template <class Execution>
Hot hot_columns_of(const Execution& run, const Csr& a, std::uint64_t most) {
  Buffer<std::uint32_t> uses = run.template allocate<std::uint32_t>(a.cols),
                        order = run.template allocate<std::uint32_t>(a.cols);
  std::uint32_t *const use = uses.data(), *const item = order.data();
  run.zero(use, uses.bytes());
  run.each(a.nnz, [=] SPMVPACK_HOST_DEVICE(std::uint64_t k) { atomic_add(use + a.col_idx[k], 1U); });
  run.each(a.cols, [=] SPMVPACK_HOST_DEVICE(std::uint64_t c) {
    use[c] = ~use[c];  // rising keys for falling uses
    item[c] = static_cast<std::uint32_t>(c);
  });
  run.sort_pairs(uses, order, a.cols, 32);
  const std::uint32_t *const sorted = uses.data(), *const column = order.data();
  const Buffer<std::uint8_t> flags = run.template allocate<std::uint8_t>(a.cols);
  const Buffer<std::uint64_t> sum = run.template allocate<std::uint64_t>(1);
  std::uint8_t* const flag = flags.data();
  std::uint64_t* const entries = sum.data();
  run.zero(flag, flags.bytes());
  run.zero(entries, sum.bytes());
  Hot hot;
  const std::uint64_t tried = most < a.cols ? most : a.cols;
  run.each(tried, [=] SPMVPACK_HOST_DEVICE(std::uint64_t i) {
    const std::uint32_t n = ~sorted[i];
    if (n == 0) return;
    flag[column[i]] = 1;
    atomic_add(entries, std::uint64_t{n});
  });
  hot.columns = run.template allocate<std::uint32_t>(a.cols);
  hot.count = run.select(flag, a.cols, hot.columns.data());
  hot.entries = run.read(entries);
  return hot;
}

/// encoder's bytes_of_columns().
template <class Execution>
double bytes_of_columns(const Execution& run, const Csr& a) {
  constexpr std::uint64_t most_chunks = 1024, size = layouts::bitflag::chunk_entries;
  const std::uint64_t chunks = a.nnz / size, whole = div_up(chunks, most_chunks), stride = whole == 0 ? 1 : whole,
                      seen = div_up(chunks, stride);
  if (seen == 0) return 4;
  const Buffer<std::uint64_t> sum = run.template allocate<std::uint64_t>(1);
  std::uint64_t* const bytes = sum.data();
  run.zero(bytes, sum.bytes());
  run.each_group(seen, [=] SPMVPACK_HOST_DEVICE(std::uint64_t i, Group group) {
    const std::uint32_t* const columns = a.col_idx + i * stride * size;
    std::uint32_t low = ~0U, high = 0;
    for (std::uint64_t e = group.lane; e < size; e += Group::lanes()) {
      low = columns[e] < low ? columns[e] : low;
      high = columns[e] > high ? columns[e] : high;
    }
    low = group.min(low);
    high = group.max(high);
    if (group.lane == 0) atomic_add(bytes, std::uint64_t{rules::column_bytes(high - low)});
  });
  return static_cast<double>(run.read(bytes)) / static_cast<double>(seen);
}

/// The sum of all rows' lengths, of which each counts `most` at most.
template <class Execution>
std::uint64_t sum_of_few(const Execution& run, const Csr& a, std::uint64_t most) {
  const Buffer<std::uint64_t> lengths = run.template allocate<std::uint64_t>(a.rows);
  std::uint64_t* const length = lengths.data();
  run.each(a.rows, [=] SPMVPACK_HOST_DEVICE(std::uint64_t r) {
    const std::uint64_t n = a.row_length(r);
    length[r] = n < most ? n : most;
  });
  return run.sum(length, a.rows);
}

/// The first of a row's entries whose column is not below `column`.
SPMVPACK_HOST_DEVICE inline std::uint64_t first_from(const Csr& a, std::uint64_t row, std::uint64_t column) {
  std::uint64_t low = a.row_ptr(row), high = a.row_ptr(row + 1);
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (a.col_idx[middle] < column)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

template <class Bits, class Execution>
void copy_segments(const Execution& run, const Csr& a, std::uint64_t segments, std::uint64_t columns, OwnCsr& own) {
  const std::uint64_t* const row_ptr = own.row_ptr.data();
  std::uint32_t* const col_idx = own.col_idx.data();
  auto* const values = reinterpret_cast<Bits*>(own.values.data());
  run.each_group(a.rows * segments, [=] SPMVPACK_HOST_DEVICE(std::uint64_t i, Group group) {
    const std::uint64_t to = row_ptr[i], n = row_ptr[i + 1] - to;
    if (n == 0) return;
    const std::uint64_t from = first_from(a, i % a.rows, i / a.rows * columns);
    for (std::uint64_t e = group.lane; e < n; e += Group::lanes()) {
      col_idx[to + e] = a.col_idx[from + e];
      values[to + e] = a.values<Bits>()[from + e];
    }
  });
}

/// Row r of segment s is row s * rows + r.
template <class Execution>
OwnCsr in_segments(const Execution& run, const Csr& a, std::uint64_t segments) {
  const std::uint64_t rows = a.rows * segments, columns = div_up(a.cols, segments);
  OwnCsr own;
  own.row_ptr = run.template allocate<std::uint64_t>(rows + 1);
  own.col_idx = run.template allocate<std::uint32_t>(a.nnz);
  own.values = run.template allocate<std::byte>(a.nnz * size_of(a.type));
  std::uint64_t* const row_ptr = own.row_ptr.data();
  run.each(rows + 1, [=] SPMVPACK_HOST_DEVICE(std::uint64_t i) {
    const std::uint64_t r = i % a.rows, s = i / a.rows;
    row_ptr[i] = i == rows ? 0 : first_from(a, r, (s + 1) * columns) - first_from(a, r, s * columns);
  });
  run.sum_before(row_ptr, row_ptr, rows + 1);
  dispatch_bits(a.type, [&](auto zero) { copy_segments<decltype(zero)>(run, a, segments, columns, own); });
  own.a = {rows, a.cols, a.nnz, nullptr, row_ptr, own.col_idx.data(), own.values.data(), a.type};
  return own;
}

}  // namespace spmvpack::gpu_encoder::bitflag
