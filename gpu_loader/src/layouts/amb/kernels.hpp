#pragma once
// What amb's files share.

#include <cstddef>

#include "layouts/layout.hpp"
#include "spmvpack/container/layouts/amb.hpp"

namespace spmvpack::gpu_loader::layouts::amb_kernels {

enum Kernel : std::size_t { ordered, atomic };  // places in the kernel table

/// A part's arrays in device memory.
template <class A>
struct Chunks {
  const std::uint32_t *cl, *cs, *row_idx;
  const std::uint16_t* col_idx;
  const A* values;
  const std::uint32_t *shared_rows, *empty_rows;
  std::uint64_t chunks, steps, shared, empty;
  std::uint32_t segment_cols, block, chunk_rows;
};

template <class A>
Chunks<A> chunks_of(const PartView& part) {
  using namespace spmvpack::layouts::amb;
  const auto& p = part.info().params;
  const auto empty = part.get<std::uint32_t>("empty_rows");
  return {part.get<std::uint32_t>("cl").data(),
          part.get<std::uint32_t>("cs").data(),
          part.get<std::uint32_t>("row_idx").data(),
          part.get<std::uint16_t>("col_idx").data(),
          part.get<A>("values").data(),
          part.get<std::uint32_t>("shared_rows").data(),
          empty.data(),
          p[param_chunks],
          p[param_steps],
          p[param_shared],
          empty.size(),
          static_cast<std::uint32_t>(p[param_segment_cols]),
          static_cast<std::uint32_t>(p[param_block]),
          static_cast<std::uint32_t>(p[param_chunk_rows])};
}

extern const std::span<const std::string_view> check_names;
std::uint64_t check_scratch(const PartInfo& part);
void check(const PartView& part, std::uint32_t* errors, std::uint32_t* scratch, Stream stream);

}  // namespace spmvpack::gpu_loader::layouts::amb_kernels
