#include "layouts/registry.hpp"

#include <fmt/format.h>

#include <array>

#include "spmvpack/container/text.hpp"

namespace spmvpack::gpu_loader {
namespace {

const std::array<const LayoutKernels*, 3> all{
    &layouts::csr,
    &layouts::coo,
    &layouts::ccoo,
};

}  // namespace

const LayoutKernels& find_layout_kernels(std::string_view layout) {
  for (const LayoutKernels* const kernels : all)
    if (kernels->name == layout) return *kernels;
  throw Error(errc::unsupported,
              fmt::format("this build cannot multiply with the layout '{}' on a GPU", escape(layout)));
}

}  // namespace spmvpack::gpu_loader
