#pragma once
// Matrices made of the caller's by sorting its entries: with sorted rows, and the transpose. Sorts are stable, and
// nothing is counted by atomic additions: the same matrix has the same result.

#include <cstdint>

#include "csr_arrays.hpp"
#include "memory.hpp"

namespace spmvpack::gpu_encoder {

/// A matrix with arrays of its own, in scratch memory.
struct OwnCsr {
  Csr a;
  Buffer<std::uint64_t> row_ptr;
  Buffer<std::uint32_t> col_idx;
  Buffer<std::byte> values;
};

/// Bits of the numbers below `count`.
constexpr int bits_below(std::uint64_t count) {
  int bits = 0;
  while (bits < 64 && ((count == 0 ? 0 : count - 1) >> static_cast<unsigned>(bits)) != 0) ++bits;
  return bits;
}

/// Error(errc::unsupported): `doing` numbers entries in 32 bits.
inline void require_32_bits(const Csr& a, const char* doing, const char* remedy) {
  if (a.nnz >> 32U != 0)
    throw Error(errc::unsupported, std::string(doing) + " on the device takes fewer than 2^32 nonzeros", {}, remedy);
}

/// The entries in the order of their columns, and those columns.
struct ByColumn {
  Buffer<std::uint32_t> columns, entries;
};
template <class Execution>
ByColumn by_column(const Execution& run, const Csr& a) {
  ByColumn sorted{run.template allocate<std::uint32_t>(a.nnz), run.template allocate<std::uint32_t>(a.nnz)};
  std::uint32_t* const entries = sorted.entries.data();
  run.copy(sorted.columns.data(), a.col_idx, a.nnz * sizeof(std::uint32_t));
  run.each(a.nnz, [=] SPMVPACK_HOST_DEVICE(std::uint64_t k) { entries[k] = static_cast<std::uint32_t>(k); });
  run.sort_pairs(sorted.columns, sorted.entries, a.nnz, bits_below(a.cols));
  return sorted;
}

/// to[i] = from[entries[i]].
template <class Bits, class Execution>
void gather(const Execution& run, const Bits* from, const std::uint32_t* entries, std::uint64_t count, Bits* to) {
  run.each(count, [=] SPMVPACK_HOST_DEVICE(std::uint64_t i) { to[i] = from[entries[i]]; });
}
template <class Execution>
void gather_values(const Execution& run, const Csr& a, const std::uint32_t* entries, OwnCsr& own) {
  own.values = run.template allocate<std::byte>(a.nnz * size_of(a.type));
  dispatch_bits(a.type, [&](auto zero) {
    using Bits = decltype(zero);
    gather(run, a.values<Bits>(), entries, a.nnz, reinterpret_cast<Bits*>(own.values.data()));
  });
  own.a.value_bits = own.values.data();
}

/// The matrix with its rows sorted by column; its row pointers are the caller's. Holds at most 16 bytes for each
/// nonzero besides the result's columns and values, or while those are not there yet.
template <class Execution>
OwnCsr with_sorted_rows(const Execution& run, const Csr& a) {
  require_32_bits(a, "sorting", "sort the columns of each row before");
  ByColumn sorted = by_column(run, a);
  std::uint32_t *const rows = sorted.columns.data(), *const entries = sorted.entries.data();
  run.each(a.nnz,
           [=] SPMVPACK_HOST_DEVICE(std::uint64_t i) { rows[i] = static_cast<std::uint32_t>(a.row_of(entries[i])); });
  run.sort_pairs(sorted.columns, sorted.entries, a.nnz, bits_below(a.rows));
  sorted.columns.release();
  OwnCsr own;
  own.a = a;
  own.col_idx = run.template allocate<std::uint32_t>(a.nnz);
  own.a.col_idx = own.col_idx.data();
  gather(run, a.col_idx, sorted.entries.data(), a.nnz, own.col_idx.data());
  gather_values(run, a, sorted.entries.data(), own);
  return own;
}

/// A^T.
template <class Execution>
OwnCsr transposed(const Execution& run, const Csr& a) {
  require_32_bits(a, "the transpose", "encode A^T on the host, or give it as a matrix of its own");
  const ByColumn sorted = by_column(run, a);
  OwnCsr own;
  own.row_ptr = run.template allocate<std::uint64_t>(a.cols + 1);
  own.a = {a.cols, a.rows, a.nnz, nullptr, own.row_ptr.data(), nullptr, nullptr, a.type};
  const std::uint32_t *const columns = sorted.columns.data(), *const entries = sorted.entries.data();
  std::uint64_t* const row_ptr = own.row_ptr.data();
  run.each(a.cols + 1, [=] SPMVPACK_HOST_DEVICE(std::uint64_t c) {
    std::uint64_t low = 0, high = a.nnz;  // entries before `low` are in columns before c, those from `high` on are not
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (columns[middle] < c)
        low = middle + 1;
      else
        high = middle;
    }
    row_ptr[c] = low;
  });
  own.col_idx = run.template allocate<std::uint32_t>(a.nnz);
  own.a.col_idx = own.col_idx.data();
  std::uint32_t* const rows = own.col_idx.data();
  run.each(a.nnz,
           [=] SPMVPACK_HOST_DEVICE(std::uint64_t i) { rows[i] = static_cast<std::uint32_t>(a.row_of(entries[i])); });
  gather_values(run, a, entries, own);
  return own;
}

/// Notes in differs[0] whether values of A and A^T, of one pattern, differ; in differs[1], whether they are anything
/// but each other's negatives off the diagonal, and an empty diagonal.
template <class Bits, class Execution>
void compare_values(const Execution& run, const Csr& a, const Csr& t, std::uint32_t* differs) {
  constexpr Bits sign = Bits{1} << (8 * sizeof(Bits) - 1);
  run.each(a.nnz, [=] SPMVPACK_HOST_DEVICE(std::uint64_t k) {
    const Bits of_a = a.values<Bits>()[k], of_t = t.values<Bits>()[k];
    if (of_a != of_t) differs[0] = 1;
    if (of_a != (of_t ^ sign) || a.row_of(k) == a.col_idx[k]) differs[1] = 1;
  });
}

/// What a matrix is, of which `t` is the transpose, bit for bit.
template <class Execution>
Symmetry symmetry_of(const Execution& run, const Csr& a, const Csr& t) {
  if (a.rows != a.cols) return Symmetry::general;
  const Buffer<std::uint32_t> differ = run.template allocate<std::uint32_t>(2);  // from A^T = A, from A^T = -A
  run.zero(differ.data(), differ.bytes());
  std::uint32_t* const differs = differ.data();
  run.each(a.rows + 1, [=] SPMVPACK_HOST_DEVICE(std::uint64_t r) {
    if (a.row_ptr(r) != t.row_ptr(r)) differs[0] = differs[1] = 1;
  });
  run.each(a.nnz, [=] SPMVPACK_HOST_DEVICE(std::uint64_t k) {
    if (a.col_idx[k] != t.col_idx[k]) differs[0] = differs[1] = 1;
  });
  dispatch_bits(a.type, [&](auto zero) { compare_values<decltype(zero)>(run, a, t, differs); });
  const std::vector<std::uint32_t> found = run.read(differ.data(), 2);
  return found[0] == 0 ? Symmetry::symmetric : found[1] == 0 ? Symmetry::skew_symmetric : Symmetry::general;
}

}  // namespace spmvpack::gpu_encoder
