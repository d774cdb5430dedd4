#pragma once
// What amb's files share.

#include <cstddef>

#include "layouts/layout.hpp"
#include "spmvpack/container/layouts/amb.hpp"

namespace spmvpack::gpu_loader::layouts::amb_kernels {

enum Kernel : std::size_t { ordered, atomic };  // places in the kernel table

template <class A>
using Chunks = spmvpack::layouts::amb::View<A>;

extern const std::span<const std::string_view> check_names;
std::uint64_t check_scratch(const PartInfo& part);
void check(const PartView& part, std::uint32_t* errors, std::uint32_t* scratch, Stream stream);

}  // namespace spmvpack::gpu_loader::layouts::amb_kernels
