#pragma once
// What only the predicted time of a multiply depends on.

#include "execution/group.hpp"
#include "layouts/bitflag/chunks.hpp"

namespace spmvpack::gpu_encoder::bitflag {

/// The sum of f(i) for i < count.
template <class Execution, class F>
std::uint64_t sum_of(const Execution& run, std::uint64_t count, const F& f) {
  const Buffer<std::uint64_t> buffer = run.template allocate<std::uint64_t>(1);
  run.zero(buffer.data(), buffer.bytes());
  std::uint64_t* const sum = buffer.data();
  constexpr std::uint64_t size = 1024;  // of a group
  run.each_group(div_up(count, size), [=] SPMVPACK_HOST_DEVICE(std::uint64_t i, Group group) {
    const std::uint64_t end = (i + 1) * size < count ? (i + 1) * size : count;
    std::uint64_t own = 0;
    for (std::uint64_t k = i * size + group.lane; k < end; k += Group::lanes()) own += f(k);
    own = group.sum(own);
    if (group.lane == 0 && own != 0) atomic_add(sum, own);
  });
  return run.read(sum);
}

/// Rows with entries. Reads the row pointers.
template <class Execution>
std::uint64_t filled_rows(const Execution& run, const Csr& a) {
  const Csr m = a;
  return sum_of(run, a.rows,
                [=] SPMVPACK_HOST_DEVICE(std::uint64_t r) -> std::uint64_t { return m.row_length(r) != 0 ? 1 : 0; });
}

/// encoder's entries_in_runs(). Reads a column of each `lane_entries`.
template <class Execution>
std::uint64_t entries_in_runs(const Execution& run, const Csr& a, std::uint64_t lane_entries) {
  const Csr m = a;
  const std::uint64_t lanes = a.nnz < 1 ? 0 : (a.nnz - 1) / lane_entries;
  return lane_entries * sum_of(run, lanes, [=] SPMVPACK_HOST_DEVICE(std::uint64_t i) -> std::uint64_t {
           const std::uint64_t k = i * lane_entries;
           return m.col_idx[k + lane_entries] == m.col_idx[k] + lane_entries ? 1 : 0;
         });
}

/// Bytes of the values of all chunks, padding included.
template <class Execution>
std::uint64_t bytes_of_values(const Execution& run, const Chunks& all, layouts::bitflag::Source source,
                              std::uint32_t value_bytes) {
  const Chunk* const chunks = all.chunks.data();
  return sum_of(run, all.count, [=] SPMVPACK_HOST_DEVICE(std::uint64_t c) -> std::uint64_t {
    const layouts::bitflag::ChunkLayout at = layouts::bitflag::chunk_layout(chunks[c].info, source, value_bytes);
    return at.rows - at.values;
  });
}

}  // namespace spmvpack::gpu_encoder::bitflag
