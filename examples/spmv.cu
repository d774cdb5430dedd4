// The least that a program needs: load a container, multiply, look at y.
//
//     example_spmv A.spmvc
//
// Prints the sum and the largest of |A x| for x = 1, 1/2, 1/3, ...

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "spmvpack/gpu_loader/device_matrix.hpp"

namespace {

void require(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(status));
  std::exit(1);
}

std::shared_ptr<double> device_vector(std::size_t n) {
  void* p = nullptr;
  require(cudaMalloc(&p, std::max<std::size_t>(n, 1) * sizeof(double)));
  return {static_cast<double*>(p), [](double* q) { cudaFree(q); }};
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::fprintf(stderr, "usage: example_spmv A.spmvc\n");
    return 2;
  }
  using namespace spmvpack::gpu_loader;
  const DeviceMatrix a = DeviceMatrix::load(argv[1]);
  const DeviceMultiplier multiplier(a);  // a, with a workspace

  const std::size_t rows = a.facts().rows, cols = a.facts().cols;
  std::vector<double> x(cols), y(rows);
  for (std::size_t i = 0; i < cols; ++i) x[i] = 1.0 / static_cast<double>(i + 1);
  const auto device_x = device_vector(cols), device_y = device_vector(rows);
  require(cudaMemcpy(device_x.get(), x.data(), cols * sizeof(double), cudaMemcpyHostToDevice));

  cudaStream_t stream = nullptr;
  require(cudaStreamCreate(&stream));
  multiplier.multiply<double>(1.0, {device_x.get(), cols}, 0.0, {device_y.get(), rows}, stream);
  require(cudaStreamSynchronize(stream));
  require(cudaMemcpy(y.data(), device_y.get(), rows * sizeof(double), cudaMemcpyDeviceToHost));
  require(cudaStreamDestroy(stream));

  double sum = 0, largest = 0;
  for (const double v : y) {
    sum += std::abs(v);
    largest = std::max(largest, std::abs(v));
  }
  std::printf("%zu x %zu, %llu nonzeros, %.1f bytes each: sum of |y| %.17g, largest %.17g\n", rows, cols,
              static_cast<unsigned long long>(a.facts().nnz),
              static_cast<double>(a.device_bytes()) / static_cast<double>(a.facts().nnz), sum, largest);
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "example_spmv: %s\n", e.what());
  return 1;
}
