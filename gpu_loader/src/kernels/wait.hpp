#pragma once
// A kernel that only takes time.

#include "spmvpack/gpu_loader/device_matrix.hpp"

namespace spmvpack::gpu_loader {

/// Keeps the stream busy for about so many seconds, so that what follows is there before its turn comes.
void wait_on_device(double seconds, Stream stream);

}  // namespace spmvpack::gpu_loader
