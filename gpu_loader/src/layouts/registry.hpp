#pragma once

#include "layouts/layout.hpp"

namespace spmvpack::gpu_loader {

/// Error(errc::unsupported), naming it, where this build cannot multiply with the layout on a GPU.
const LayoutKernels& find_layout_kernels(std::string_view layout);

}  // namespace spmvpack::gpu_loader
