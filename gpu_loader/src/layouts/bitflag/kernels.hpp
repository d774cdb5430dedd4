#pragma once
// What bitflag's files share.

#include <array>
#include <string_view>

#include "layouts/layout.hpp"

namespace spmvpack::gpu_loader::layouts::bitflag_kernels {

extern const std::array<std::string_view, 7> check_names;
void check(const PartView& part, std::uint32_t* errors, std::uint32_t* scratch, Stream stream);

/// Bytes of the copy of the hot elements of x, at the start of the workspace.
inline std::uint64_t hot_bytes(std::uint64_t hot, ValueType vectors) { return round_up(hot * size_of(vectors), 256); }

}  // namespace spmvpack::gpu_loader::layouts::bitflag_kernels
