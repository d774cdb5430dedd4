#include <cuda_runtime.h>

#include "device_facts.hpp"
#include "spmvpack/gpu_cuda/cuda_error.hpp"
#include "spmvpack/gpu_loader/device.hpp"

namespace spmvpack::gpu_loader {

namespace {

/// Code like any other of this build.
__global__ void probe() {}

}  // namespace

bool built_with_cuda() noexcept { return true; }

void require_device_code() {
  int device = 0;
  require_cuda(cudaGetDevice(&device), "querying the current device");
  cudaFuncAttributes attributes{};
  const cudaError_t status = cudaFuncGetAttributes(&attributes, probe);
  if (status == cudaErrorNoKernelImageForDevice || status == cudaErrorInvalidDeviceFunction ||
      status == cudaErrorUnsupportedPtxVersion || status == cudaErrorJitCompilationDisabled) {
    static_cast<void>(cudaGetLastError());
    cudaDeviceProp p{};
    require_cuda(cudaGetDeviceProperties(&p, device), "reading a GPU's properties");
    throw no_code_error(p.name, p.major, p.minor, built_for(), cudaGetErrorString(status));
  }
  require_cuda(status, "reading a kernel's properties");
}

std::vector<DeviceInfo> devices() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  // A machine whose driver is missing or older than the runtime has no usable device.
  if (status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver) return {};
  require_cuda(status, "counting GPUs");
  std::vector<DeviceInfo> found;
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp p{};
    require_cuda(cudaGetDeviceProperties(&p, i), "reading a GPU's properties");
    found.push_back(
        {p.name, p.major, p.minor, p.multiProcessorCount, p.totalGlobalMem, static_cast<std::uint64_t>(p.l2CacheSize)});
  }
  return found;
}

CurrentDevice::CurrentDevice(int device) : device_(device) {
  require_cuda(cudaGetDevice(&before_), "querying the current device");
  if (device_ == before_) return;
  const cudaError_t status = cudaSetDevice(device_);
  if (status == cudaErrorInvalidDevice) {
    static_cast<void>(cudaGetLastError());
    throw Error(errc::no_device, "there is no GPU " + std::to_string(device_), {},
                "this process sees " + std::to_string(devices().size()) + "; check CUDA_VISIBLE_DEVICES");
  }
  require_cuda(status, "choosing the GPU");
}

CurrentDevice::~CurrentDevice() {
  if (device_ != before_) static_cast<void>(cudaSetDevice(before_));
}

DeviceFacts device_facts() {
  require_device_code();
  constexpr int cuda_12_3 = 12030;
  DeviceFacts facts;
  int device = 0;
  require_cuda(cudaGetDevice(&device), "querying the current device");
  const auto attribute = [&](cudaDeviceAttr which) {
    int value = 0;
    require_cuda(cudaDeviceGetAttribute(&value, which, device), "reading a GPU's properties");
    return value;
  };
  facts.compute_major = attribute(cudaDevAttrComputeCapabilityMajor);
  facts.compute_minor = attribute(cudaDevAttrComputeCapabilityMinor);
  facts.shared_bytes = static_cast<std::uint64_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  facts.multiprocessors = static_cast<unsigned>(attribute(cudaDevAttrMultiProcessorCount));
  facts.multiprocessor_threads = static_cast<unsigned>(attribute(cudaDevAttrMaxThreadsPerMultiProcessor));
  facts.l2_bytes = static_cast<std::uint64_t>(attribute(cudaDevAttrL2CacheSize));
  require_cuda(cudaDriverGetVersion(&facts.driver_version), "querying the driver's version");
  facts.early_launches = code_can_wait({__CUDA_ARCH_LIST__}, facts.compute_major * 100 + facts.compute_minor * 10) &&
                         facts.driver_version >= cuda_12_3 && CUDART_VERSION >= cuda_12_3;
  return facts;
}

}  // namespace spmvpack::gpu_loader
