#pragma once
// What pkt's files share.

#include "layouts/layout.hpp"

namespace spmvpack::gpu_loader::layouts::pkt_kernels {

extern const std::span<const std::string_view> check_names;
std::uint64_t check_scratch(const PartInfo& part);
void check(const PartView& part, std::uint32_t* errors, std::uint32_t* scratch, Stream stream);

}  // namespace spmvpack::gpu_loader::layouts::pkt_kernels
