#pragma once
// The structure check of ccoo, separate from its kernels.

#include <array>

#include "layouts/layout.hpp"

namespace spmvpack::gpu_loader::layouts::ccoo_kernels {

extern const std::array<std::string_view, 11> check_names;
void check(const PartView& part, std::uint32_t* errors, std::uint32_t* /*scratch*/, Stream stream);

}  // namespace spmvpack::gpu_loader::layouts::ccoo_kernels
