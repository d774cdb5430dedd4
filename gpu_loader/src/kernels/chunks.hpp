#pragma once
// How `balanced` (coo) and `merge` (csr) divide the entries. The order of additions depends on it, unlike launch
// numbers. Needs no device.

#include <cstdint>

#include "spmvpack/container/base/types.hpp"
#include "spmvpack/launch_rules/csr.hpp"

namespace spmvpack::gpu_loader::balanced {

using launch_rules::csr::chunk_entries;

constexpr std::uint64_t chunk_count(std::uint64_t nnz) noexcept { return div_up(nnz, chunk_entries); }

/// Two sums of the vectors' type for each chunk, and for `balanced` their rows. This fits into 64 bits for any number
/// of nonzeros.
constexpr std::uint64_t workspace_bytes(std::uint64_t nnz, ValueType vectors, bool with_rows) noexcept {
  return chunk_count(nnz) * 2 * (size_of(vectors) + (with_rows ? sizeof(std::uint32_t) : 0));
}

}  // namespace spmvpack::gpu_loader::balanced
