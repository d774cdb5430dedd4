// The GPU entry points of a build without CUDA: one link interface serves both.

#include "spmvpack/gpu_loader/device.hpp"

namespace spmvpack::gpu_loader {

bool built_with_cuda() noexcept { return false; }

std::vector<DeviceInfo> devices() {
  throw Error(errc::unsupported, "built without CUDA", {},
              "build spmvpack where nvcc is found, with -DSPMVPACK_CUDA=ON");
}

}  // namespace spmvpack::gpu_loader
