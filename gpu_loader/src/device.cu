#include <cuda_runtime_api.h>

#include "spmvpack/gpu_loader/device.hpp"

namespace spmvpack::gpu_loader {
namespace {

void require(cudaError_t status, const char* doing) {
  if (status == cudaSuccess) return;
  throw Error(errc::no_device, std::string(doing) + ": " + cudaGetErrorString(status), {},
              "check the driver with nvidia-smi");
}

}  // namespace

bool built_with_cuda() noexcept { return true; }

std::vector<DeviceInfo> devices() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  // No driver, or one older than the runtime, is a machine without a usable device.
  if (status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver) return {};
  require(status, "counting GPUs");
  std::vector<DeviceInfo> found;
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp p{};
    require(cudaGetDeviceProperties(&p, i), "reading a GPU's properties");
    found.push_back(
        {p.name, p.major, p.minor, p.multiProcessorCount, p.totalGlobalMem, static_cast<std::uint64_t>(p.l2CacheSize)});
  }
  return found;
}

}  // namespace spmvpack::gpu_loader
