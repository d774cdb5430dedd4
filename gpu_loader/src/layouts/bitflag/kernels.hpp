#pragma once
// What bitflag's files share.

#include <array>
#include <string_view>

#include "layouts/layout.hpp"
#include "spmvpack/container/layouts/bitflag.hpp"

namespace spmvpack::gpu_loader::layouts::bitflag_kernels {

extern const std::array<std::string_view, 8> check_names;
void check(const PartView& part, std::uint32_t* errors, std::uint32_t* scratch, Stream stream);

/// Bytes at the start of the workspace: the copy of the hot elements of x, or the sums of the rows of segments and one
/// element more.
inline std::uint64_t near_workspace(const PartInfo& part, ValueType vectors) {
  using namespace spmvpack::layouts::bitflag;
  const std::uint64_t elements = segments_of(part) > 1 ? segment_rows(part) + 1 : hot_of(part);
  return round_up(checked_mul(elements, size_of(vectors), "workspace bytes"), 256);
}

}  // namespace spmvpack::gpu_loader::layouts::bitflag_kernels
