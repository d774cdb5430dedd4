#pragma once
// The checks of CsrView::check(), as passes.

#include <cstdint>

#include "csr_arrays.hpp"
#include "execution/group.hpp"
#include "memory.hpp"

namespace spmvpack::gpu_encoder {

/// The first places that do not fit; none: no_place.
struct Faults {
  static constexpr std::uint64_t no_place = ~std::uint64_t{0};
  std::uint64_t row = no_place;                       ///< whose pointers fall, or exceed the nonzeros
  std::uint64_t column = no_place;                    ///< entry whose column is out of range
  std::uint64_t first_pointer = 0, last_pointer = 0;  ///< row_ptr[0] and row_ptr[rows]
  /// Entries whose column is not larger than that of the entry before; those of them that are the first of their rows.
  /// If rows are sorted, these are all.
  std::uint64_t falls = 0, falls_between_rows = 0;
};

/// Reads row pointers once, and columns twice where rows are short: once, and those on both sides of a row's begin.
template <class Execution>
Faults find_faults(const Execution& run, const Csr& a) {
  const Buffer<Faults> buffer = run.template allocate<Faults>(1);
  const Faults none;
  run.write(buffer.data(), &none, 1);
  Faults* const faults = buffer.data();
  constexpr std::uint64_t size = 1024;  // of a group
  run.each_group(div_up(a.rows + 1, size), [=] SPMVPACK_HOST_DEVICE(std::uint64_t i, Group group) {
    std::uint64_t falls = 0;
    const std::uint64_t last = (i + 1) * size < a.rows + 1 ? (i + 1) * size : a.rows + 1;
    for (std::uint64_t r = i * size + group.lane; r < last; r += Group::lanes()) {
      const std::uint64_t begin = a.row_ptr(r);
      if (r == 0) faults->first_pointer = begin;
      if (r == a.rows) faults->last_pointer = begin;
      if (r == a.rows) continue;
      const std::uint64_t end = a.row_ptr(r + 1);
      if (begin > end || end > a.nnz)
        atomic_min(&faults->row, r);
      else if (begin != 0 && begin != end && a.col_idx[begin] <= a.col_idx[begin - 1])
        ++falls;
    }
    falls = group.sum(falls);
    if (group.lane == 0 && falls != 0) atomic_add(&faults->falls_between_rows, falls);
  });
  run.each_group(a.rows == 0 ? 0 : div_up(a.nnz, size), [=] SPMVPACK_HOST_DEVICE(std::uint64_t i, Group group) {
    std::uint64_t falls = 0;
    const std::uint64_t last = (i + 1) * size < a.nnz ? (i + 1) * size : a.nnz;
    for (std::uint64_t k = i * size + group.lane; k < last; k += Group::lanes()) {
      const std::uint32_t column = a.col_idx[k];
      if (column >= a.cols) atomic_min(&faults->column, k);
      if (k != 0 && column <= a.col_idx[k - 1]) ++falls;
    }
    falls = group.sum(falls);
    if (group.lane == 0 && falls != 0) atomic_add(&faults->falls, falls);
  });
  return run.read(buffer.data());
}

/// The first entry whose column is not larger than the one before in its row, if there is one.
template <class Execution>
std::uint64_t first_fall(const Execution& run, const Csr& a) {
  const Buffer<std::uint64_t> first = run.template allocate<std::uint64_t>(1);
  run.write(first.data(), &Faults::no_place, 1);
  std::uint64_t* const place = first.data();
  run.each(a.nnz, [=] SPMVPACK_HOST_DEVICE(std::uint64_t k) {
    if (k != 0 && a.col_idx[k] <= a.col_idx[k - 1] && a.row_ptr(a.row_of(k)) != k) atomic_min(place, k);
  });
  return run.read(place);
}

/// The errors of CsrView::check(): Error(errc::bad_input). `wide`: row pointers have 64 bits, and may be signed.
[[noreturn]] void refuse_first_pointer(std::uint64_t pointer, bool wide);
[[noreturn]] void refuse_last_pointer(const Csr& a, std::uint64_t pointer, bool wide);
[[noreturn]] void refuse_pointers(const Csr& a, std::uint64_t row, std::uint64_t begin, std::uint64_t end, bool wide);
[[noreturn]] void refuse_column(const Csr& a, std::uint64_t row, std::uint32_t column);
[[noreturn]] void refuse_order(std::uint64_t row, std::uint32_t column, std::uint32_t before, const char* remedy);

/// The row of an entry, found where the matrix is.
template <class Execution>
std::uint64_t row_of(const Execution& run, const Csr& a, std::uint64_t k) {
  const Buffer<std::uint64_t> row = run.template allocate<std::uint64_t>(1);
  std::uint64_t* const found = row.data();
  run.each(1, [=] SPMVPACK_HOST_DEVICE(std::uint64_t) { *found = a.row_of(k); });
  return run.read(found);
}

/// Throws Error(errc::bad_input) unless row pointers rise from 0 to nnz, and columns are in range. Returns the
/// first entry whose column is not larger than the one before in its row, or Faults::no_place.
template <class Execution>
std::uint64_t check_matrix(const Execution& run, const Csr& a) {
  const Faults faults = find_faults(run, a);
  const bool wide = a.narrow == nullptr;
  if (faults.first_pointer != 0) refuse_first_pointer(faults.first_pointer, wide);
  if (faults.last_pointer != a.nnz) refuse_last_pointer(a, faults.last_pointer, wide);
  const auto pointer = [&](std::uint64_t i) { return wide ? run.read(a.wide + i) : run.read(a.narrow + i); };
  if (faults.row != Faults::no_place)
    refuse_pointers(a, faults.row, pointer(faults.row), pointer(faults.row + 1), wide);
  if (faults.column != Faults::no_place)
    refuse_column(a, row_of(run, a, faults.column), run.read(a.col_idx + faults.column));
  return faults.falls == faults.falls_between_rows ? Faults::no_place : first_fall(run, a);
}

/// Error(errc::bad_input): entry k, of check_matrix().
template <class Execution>
[[noreturn]] void refuse_order(const Execution& run, const Csr& a, std::uint64_t k, const char* remedy) {
  refuse_order(row_of(run, a, k), run.read(a.col_idx + k), run.read(a.col_idx + (k - 1)), remedy);
}

}  // namespace spmvpack::gpu_encoder
