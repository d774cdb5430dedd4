// Layout `pkt` on the GPU: a thread block for each packet, whose x and y are in the memory that the block shares (Bell
// and Garland). docs/LAYOUTS.md, "pkt", defines the order of additions.

#include "kernels/launch.cuh"
#include "kernels/row_map.cuh"
#include "kernels/scalar.cuh"
#include "layouts/pkt/kernels.hpp"
#include "spmvpack/container/layouts/pkt.hpp"

namespace spmvpack::gpu_loader::layouts {
namespace pkt_kernels {
namespace {

using namespace spmvpack::layouts::pkt;

constexpr unsigned batch = 4;  ///< steps whose loads are on their way together

/// Of each packet, x and beta y, in which the threads then add up their rows: an element of y is one thread's.
template <class A, class V>
__global__ void __launch_bounds__(max_packet_threads)
    packets_kernel(View<A> v, DeviceScalar<V> alpha_in, const V* __restrict__ x, DeviceScalar<V> beta_in, V* y,
                   RowMap map) {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  V* const near_x = reinterpret_cast<V*>(shared_bytes);
  V* const near_y = near_x + v.packet_rows;
  const V alpha = alpha_in.get(), beta = beta_in.get();
  for (std::uint64_t p = blockIdx.x; p < v.packets; p += gridDim.x) {
    const std::uint32_t* const rows = v.rows + v.packet_ptr[p];
    const std::uint32_t count = v.rows_of(p);
    for (std::uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
      const std::uint32_t row = __ldg(rows + i);
      near_x[i] = alpha != V{0} ? __ldg(x + row) : V{0};
      near_y[i] = scaled(beta, y + map(row));
    }
    __syncthreads();
    if (alpha != V{0} && threadIdx.x < v.threads) {
      const std::uint32_t steps = v.step_ptr[p + 1] - v.step_ptr[p];
      const std::uint64_t first = v.slot(v.step_ptr[p], threadIdx.x);
      constexpr std::uint32_t none = 0xFFFFFFFF;
      std::uint32_t row = none;
      V sum = 0;
      for (std::uint32_t step = 0; step < steps; step += batch) {
        LocalIndex at[batch];
        V value[batch];
#pragma unroll
        for (unsigned i = 0; i < batch; ++i) {
          const std::uint64_t slot = first + std::uint64_t{step + i} * v.threads;
          at[i].bits = step + i < steps ? __ldcs(v.local_idx + slot) : LocalIndex::padding;
          value[i] = step + i < steps ? static_cast<V>(__ldcs(v.values + slot)) : V{0};
        }
        issue_loads();
#pragma unroll
        for (unsigned i = 0; i < batch; ++i) {
          if (at[i].is_padding()) continue;
          if (at[i].row() != row) {
            if (row != none) near_y[row] = fma(alpha, sum, near_y[row]);
            row = at[i].row();
            sum = 0;
          }
          sum = fma(value[i], near_x[at[i].column()], sum);
        }
        if (at[batch - 1].is_padding()) break;
      }
      if (row != none) near_y[row] = fma(alpha, sum, near_y[row]);
    }
    __syncthreads();
    for (std::uint32_t i = threadIdx.x; i < count; i += blockDim.x) y[map(__ldg(rows + i))] = near_y[i];
    __syncthreads();  // the next packet takes the same memory
  }
}

void multiply(const DevicePart& part, const MultiplyCall& call) {
  const PartView& view = part.view;
  dispatch_types(view.info().value_type, call.description.vectors, [&]<class A, class V>(A, V) {
    const View<A> v = spmvpack::layouts::pkt::view<A>(view);
    if (v.packets == 0) return;
    constexpr unsigned warp = 32;
    cudaLaunchConfig_t config =
        launch_config(stride_blocks(v.packets, 1), static_cast<unsigned>(div_up(v.threads, warp)) * warp, call.stream);
    static_assert(2 * sizeof(V) * max_packet_rows <= 48 * 1024);  // what any kernel may have unasked
    config.dynamicSmemBytes = 2 * sizeof(V) * v.packet_rows;
    launch(config, packets_kernel<A, V>, v, device_scalar<V>(call.alpha), static_cast<const V*>(call.columns.x),
           device_scalar<V>(call.beta), static_cast<V*>(call.columns.y), RowMap{call.row_list});
  });
}

}  // namespace
}  // namespace pkt_kernels

const LayoutKernels pkt{.check_names = pkt_kernels::check_names,
                        .check_scratch = pkt_kernels::check_scratch,
                        .check = pkt_kernels::check,
                        .multiply = pkt_kernels::multiply};

}  // namespace spmvpack::gpu_loader::layouts
