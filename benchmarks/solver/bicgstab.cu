#include <algorithm>
#include <cmath>

#include "bench/device_memory.hpp"
#include "solver/bicgstab.hpp"

namespace spmvpack::bench {
namespace {

constexpr unsigned threads = 256, blocks_per_multiprocessor = 4, most_blocks = 1024;
static_assert(most_blocks % threads == 0);

struct Scalars {
  double rho, alpha, omega, beta;
  double rr, bb;  ///< squares of |r| and |b|
};

/// The vectors, n elements each, and what the sums of a step are made of: `sums` of each block.
struct Vectors {
  std::uint64_t n;
  double *x, *r, *shadow, *p, *v, *t;
  double2* sums;
  Scalars* scalars;
};

__device__ double2 operator+(double2 a, double2 b) { return {a.x + b.x, a.y + b.y}; }

/// The sum over the block, in thread 0.
__device__ double2 block_sum(double2 sum) {
  __shared__ double2 shared[threads];
  shared[threadIdx.x] = sum;
  for (unsigned width = threads / 2; width != 0; width /= 2) {
    __syncthreads();
    if (threadIdx.x < width) shared[threadIdx.x] = shared[threadIdx.x] + shared[threadIdx.x + width];
  }
  return shared[0];
}

/// Calls f(i) for each element, and leaves what it returns added up by block.
template <class F>
__device__ void add_up(const Vectors& of, F&& f) {
  double2 sum{0, 0};
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x; i < of.n;
       i += std::uint64_t{gridDim.x} * threads)
    sum = sum + f(i);
  sum = block_sum(sum);
  if (threadIdx.x == 0) of.sums[blockIdx.x] = sum;
}

enum class Step { start, alpha, omega, next };

/// Adds up what the blocks have left, and makes the step's scalars of it. One block.
template <Step step>
__global__ void __launch_bounds__(threads) scalars_kernel(Vectors of, unsigned blocks) {
  double2 sum{0, 0};
  for (unsigned i = threadIdx.x; i < blocks; i += threads) sum = sum + of.sums[i];
  sum = block_sum(sum);
  if (threadIdx.x != 0) return;
  Scalars& s = *of.scalars;
  if constexpr (step == Step::start) {
    s = {sum.x, 0, 0, 0, sum.x, sum.x};
  } else if constexpr (step == Step::alpha) {
    s.alpha = s.rho / sum.x;
  } else if constexpr (step == Step::omega) {
    s.omega = sum.x / sum.y;
  } else {
    s.beta = sum.x / s.rho * (s.alpha / s.omega);
    s.rho = sum.x;
    s.rr = sum.y;
  }
}

/// From x = 0, where r = b: r, its shadow and p are b.
__global__ void __launch_bounds__(threads) start_kernel(Vectors of, const double* b) {
  add_up(of, [&](std::uint64_t i) {
    const double r = b[i];
    of.x[i] = 0;
    of.r[i] = of.shadow[i] = of.p[i] = r;
    return double2{r * r, 0};
  });
}

__global__ void __launch_bounds__(threads) shadow_kernel(Vectors of) {
  add_up(of, [&](std::uint64_t i) { return double2{of.shadow[i] * of.v[i], 0}; });
}

/// r -= alpha v
__global__ void __launch_bounds__(threads) half_kernel(Vectors of) {
  const double alpha = of.scalars->alpha;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x; i < of.n;
       i += std::uint64_t{gridDim.x} * threads)
    of.r[i] = fma(-alpha, of.v[i], of.r[i]);
}

__global__ void __launch_bounds__(threads) omega_kernel(Vectors of) {
  add_up(of, [&](std::uint64_t i) {
    const double t = of.t[i];
    return double2{t * of.r[i], t * t};
  });
}

/// x += alpha p + omega r; r -= omega t
__global__ void __launch_bounds__(threads) update_kernel(Vectors of) {
  const double alpha = of.scalars->alpha, omega = of.scalars->omega;
  add_up(of, [&](std::uint64_t i) {
    const double half = of.r[i], r = fma(-omega, of.t[i], half);
    of.x[i] = fma(alpha, of.p[i], fma(omega, half, of.x[i]));
    of.r[i] = r;
    return double2{of.shadow[i] * r, r * r};
  });
}

/// p = r + beta (p - omega v)
__global__ void __launch_bounds__(threads) direction_kernel(Vectors of) {
  const double beta = of.scalars->beta, omega = of.scalars->omega;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x; i < of.n;
       i += std::uint64_t{gridDim.x} * threads)
    of.p[i] = fma(beta, fma(-omega, of.v[i], of.p[i]), of.r[i]);
}

}  // namespace

struct Bicgstab::Impl {
  Vectors vectors{};
  std::shared_ptr<void> memory, b;
  cudaStream_t stream = nullptr;
  unsigned blocks = 1;
  cudaGraphExec_t iteration = nullptr;

  ~Impl() { forget(); }
  void forget() {
    if (iteration != nullptr) static_cast<void>(cudaGraphExecDestroy(iteration));
    iteration = nullptr;
  }
  template <class... Parameters, class... Arguments>
  void run(void (*kernel)(Parameters...), Arguments... arguments) const {
    kernel<<<blocks, threads, 0, stream>>>(vectors, arguments...);
    require_cuda(cudaGetLastError(), "starting a kernel");
  }
  template <Step step>
  void finish() const {
    scalars_kernel<step><<<1, threads, 0, stream>>>(vectors, blocks);
    require_cuda(cudaGetLastError(), "starting a kernel");
  }
};

Bicgstab::Bicgstab(std::span<const double> b, cudaStream_t stream) : impl_(std::make_unique<Impl>()) {
  constexpr std::uint64_t line = 32;  // elements: vectors begin at multiples of 256 bytes
  const std::uint64_t n = b.size(), stride = (n + vector_slack + line - 1) / line * line;
  int device = 0, multiprocessors = 1;
  require_cuda(cudaGetDevice(&device), "asking for the GPU");
  require_cuda(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device), "asking for the GPU");
  impl_->stream = stream;
  impl_->blocks = std::min(static_cast<unsigned>(multiprocessors) * blocks_per_multiprocessor, most_blocks);
  impl_->b = upload(b.data(), b.size_bytes());
  const std::uint64_t doubles = 6 * stride + 2 * most_blocks + sizeof(Scalars) / sizeof(double);
  impl_->memory = allocate_device(doubles * sizeof(double));
  require_cuda(cudaMemset(impl_->memory.get(), 0, doubles * sizeof(double)), "clearing vectors");
  auto* next = static_cast<double*>(impl_->memory.get());
  const auto take = [&] {
    double* const vector = next;
    next += stride;
    return vector;
  };
  Vectors& v = impl_->vectors;
  v.n = n;
  v.x = take(), v.r = take(), v.shadow = take(), v.p = take(), v.v = take(), v.t = take();
  v.sums = reinterpret_cast<double2*>(next);
  v.scalars = reinterpret_cast<Scalars*>(next + 2 * most_blocks);
}

Bicgstab::~Bicgstab() = default;

void Bicgstab::use(const DeviceMultiply& multiply) {
  Impl& to = *impl_;
  const Vectors& v = to.vectors;
  to.forget();
  multiply(v.p, v.v);  // what a multiply does the first time only, outside of the graph
  require_cuda(cudaStreamSynchronize(to.stream), "multiplying");
  require_cuda(cudaStreamBeginCapture(to.stream, cudaStreamCaptureModeThreadLocal), "capturing an iteration");
  cudaGraph_t graph = nullptr;
  try {
    multiply(v.p, v.v);
    to.run(shadow_kernel);
    to.finish<Step::alpha>();
    to.run(half_kernel);
    multiply(v.r, v.t);
    to.run(omega_kernel);
    to.finish<Step::omega>();
    to.run(update_kernel);
    to.finish<Step::next>();
    to.run(direction_kernel);
  } catch (...) {
    static_cast<void>(cudaStreamEndCapture(to.stream, &graph));
    if (graph != nullptr) static_cast<void>(cudaGraphDestroy(graph));
    static_cast<void>(cudaGetLastError());
    throw;
  }
  require_cuda(cudaStreamEndCapture(to.stream, &graph), "capturing an iteration");
  const cudaError_t made = cudaGraphInstantiate(&to.iteration, graph, 0);
  static_cast<void>(cudaGraphDestroy(graph));
  require_cuda(made, "making a graph of an iteration");
}

void Bicgstab::start() {
  impl_->run(start_kernel, static_cast<const double*>(impl_->b.get()));
  impl_->finish<Step::start>();
}

void Bicgstab::iterate(int iterations) {
  for (int i = 0; i < iterations; ++i)
    require_cuda(cudaGraphLaunch(impl_->iteration, impl_->stream), "starting an iteration");
}

double Bicgstab::residual() const {
  Scalars s{};
  require_cuda(cudaMemcpyAsync(&s, impl_->vectors.scalars, sizeof s, cudaMemcpyDeviceToHost, impl_->stream),
               "reading the residual");
  require_cuda(cudaStreamSynchronize(impl_->stream), "iterating");
  return std::sqrt(s.rr / s.bb);
}

void Bicgstab::solution(std::span<double> x) const {
  require_cuda(cudaMemcpyAsync(x.data(), impl_->vectors.x, x.size_bytes(), cudaMemcpyDeviceToHost, impl_->stream),
               "reading the solution");
  require_cuda(cudaStreamSynchronize(impl_->stream), "iterating");
}

}  // namespace spmvpack::bench
