#pragma once
// Device memory and multiplies in tests.

#include <cuda_runtime_api.h>

#include <cstring>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "containers.hpp"
#include "products.hpp"
#include "spmvpack/gpu_loader/device_matrix.hpp"

namespace spmvpack::test {

inline void cuda(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

inline std::uint64_t multiprocessors() {
  int count = 0;
  cuda(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0));
  return static_cast<std::uint64_t>(count);
}

/// Elements in device memory, `shift` elements past a boundary of 256 bytes. What is not set is 0xFF bytes: NaN.
template <class T>
class DeviceVector {
 public:
  explicit DeviceVector(std::size_t size, std::size_t shift = 0) : size_(size), shift_(shift) {
    cuda(cudaMalloc(&memory_, (size + shift + 1) * sizeof(T)));
    poison();
  }
  explicit DeviceVector(const std::vector<T>& from, std::size_t shift = 0) : DeviceVector(from.size(), shift) {
    set(from);
  }
  DeviceVector(const DeviceVector&) = delete;
  DeviceVector& operator=(const DeviceVector&) = delete;
  ~DeviceVector() { cudaFree(memory_); }

  void poison() {
    cuda(cudaMemset(memory_, 0xFF, (size_ + shift_ + 1) * sizeof(T)));
    cuda(cudaDeviceSynchronize());  // streams that do not wait for the default one shall not outrun it
  }
  void set(const std::vector<T>& from) {
    if (from.empty()) return;
    cuda(cudaMemcpy(data(), from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
    cuda(cudaDeviceSynchronize());
  }
  [[nodiscard]] std::vector<T> get() const {
    std::vector<T> to(size_);
    if (size_ != 0) cuda(cudaMemcpy(to.data(), data(), size_ * sizeof(T), cudaMemcpyDeviceToHost));
    return to;
  }
  [[nodiscard]] T* data() const { return static_cast<T*>(memory_) + shift_; }
  [[nodiscard]] std::span<T> span() const { return {data(), size_}; }
  [[nodiscard]] std::span<const T> view() const { return {data(), size_}; }

 private:
  void* memory_ = nullptr;
  std::size_t size_, shift_;
};

inline gpu_loader::DeviceMatrix load_device(const std::vector<std::byte>& bytes) {
  gpu_loader::DeviceLoadOptions options;
  options.threads = 4;
  return gpu_loader::DeviceMatrix::load(open(bytes), nullptr, options);
}

/// A multiply with vectors of type T by the kernel of that name, "" for the default.
template <class T>
MultiplyDescription by(std::string_view kernel) {
  return {.vectors = value_type_of<T>, .kernel = kernel.empty() ? KernelId{} : gpu_loader::find_kernel(kernel)};
}

/// alpha A x + beta y by one kernel; `shift` misaligns both vectors. y0 is not given where beta is 0.
template <class T>
std::vector<T> multiply(const gpu_loader::DeviceMatrix& a, const std::vector<T>& x, std::string_view kernel,
                        T alpha = 1, T beta = 0, const std::vector<T>* y0 = nullptr, std::size_t shift = 0) {
  const DeviceVector<T> device_x(x, shift);
  DeviceVector<T> y(a.facts().rows, shift);
  if (y0 != nullptr) y.set(*y0);
  const DeviceVector<std::byte> workspace(a.workspace_bytes(by<T>(kernel)));
  a.multiply<T>(alpha, device_x.view(), beta, y.span(), workspace.span(), nullptr, by<T>(kernel));
  return y.get();
}

/// What one multiply launches.
inline std::size_t launches(const gpu_loader::DeviceMatrix& a, std::string_view kernel, double beta) {
  const DeviceVector<double> x(a.facts().cols), y(a.facts().rows);
  const DeviceVector<std::byte> workspace(a.workspace_bytes(by<double>(kernel)));
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  std::size_t nodes = 0;
  cuda(cudaStreamCreate(&stream));
  cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  a.multiply<double>(1, x.view(), beta, y.span(), workspace.span(), stream, by<double>(kernel));
  cuda(cudaStreamEndCapture(stream, &graph));
  cuda(cudaGraphGetNodes(graph, nullptr, &nodes));
  cuda(cudaGraphDestroy(graph));
  cuda(cudaStreamDestroy(stream));
  return nodes;
}

}  // namespace spmvpack::test
