// Layout `ccoo` on the GPU.
// Compiled in the second group.

#include <algorithm>

#include "kernels/carries.cuh"
#include "kernels/launch.cuh"
#include "kernels/prefetch.cuh"
#include "kernels/vectors.hpp"
#include "layouts/ccoo/check.hpp"
#include "layouts/ccoo/chunk.cuh"
#include "layouts/ccoo/kernels.hpp"
#include "layouts/ccoo/team.cuh"
#include "layouts/ccoo/tuning.cuh"
#include "layouts/layout.hpp"
#include "spmvpack/container/layouts/ccoo.hpp"

namespace spmvpack::gpu_loader::layouts {
namespace ccoo_kernels {
namespace {

constexpr unsigned warps = tuning::ccoo_threads / 32;

template <class A>
using View = spmvpack::layouts::ccoo::View<A>;

template <class A>
__device__ ChunkHeader header_of(const View<A>& v, std::uint64_t c, std::uint64_t rows) {
  ChunkHeader h;
  h.chunk = c;
  if (c >= v.chunks) return h;
  h.encoding.bits = v.encoding[c];
  h.row_base = v.row_base[c];
  h.col_base = v.col_base[c];
  h.offset = v.blob_offset[c];
  const bool is_last = c + 1 == v.chunks;
  h.next_encoding.bits = is_last ? std::uint8_t{0} : v.encoding[c + 1];
  h.next_row_base = is_last ? rows : v.row_base[c + 1];
  return h;
}

/// The chunks as shared rows are found in.
struct SharedRows {
  static constexpr bool in_workspace = false;
  std::uint64_t count;
  const std::uint32_t* row_base;
  const std::uint8_t* encoding;
  __device__ std::uint32_t first_row(std::uint64_t c) const { return row_base[c]; }
  __device__ bool continues(std::uint64_t c) const { return Encoding{encoding[c]}.continues(); }
};

template <class A>
__host__ __device__ SharedRows shared_rows(const View<A>& v) {
  return {v.chunks, v.row_base, v.encoding};
}

/// One warp per chunk; the grid strides over the chunks, so that a block copies the LUT only once. Writes every row
/// except those that chunks share.
template <class A, class V, int K>
__global__ void __launch_bounds__(tuning::ccoo_threads, tuning::ccoo_compiled.blocks(K))
    chunk_kernel(View<A> v, unsigned lut_size, std::uint64_t rows, DeviceScalar<V> alpha, const V* __restrict__ x,
                 DeviceScalar<V> beta, V* y, RowMap map, V* workspace, ReadOnce once, Prefetch prefetch) {
  __shared__ V lut[spmvpack::layouts::ccoo::lut_capacity];
  __shared__ Scratch<V> scratch[warps];
  allow_next_kernel();
  const RowSums<V> to{alpha.get(), beta.get(), y, map, workspace, workspace + v.chunks};
  if (to.alpha == V{0}) return to.scale_share(rows);  // x must not be read
  prefetch(to.alpha);
  const unsigned lane = lane_id(), warp = threadIdx.x / 32;
  const std::uint64_t stride = std::uint64_t{gridDim.x} * warps, start = std::uint64_t{blockIdx.x} * warps + warp;
  // The next header is loaded while a chunk is multiplied, and the first one while the LUT is.
  ChunkHeader next = header_of(v, start, rows);
  for (unsigned i = threadIdx.x; i < lut_size; i += tuning::ccoo_threads) lut[i] = static_cast<V>(v.lut[i]);
  __syncthreads();
  if (start == 0)
    for (std::uint64_t r = lane; r < next.row_base; r += 32) to.scale(r);
  for (std::uint64_t c = start; c < v.chunks; c += stride) {
    const ChunkHeader h = next;
    next = header_of(v, c + stride, rows);
    const std::byte* const bytes = v.blob + h.offset;
    Scratch<V>& mine = scratch[warp];
    chunk<A, V, K>(h, bytes, v.single, lut, x, once, mine, to);
  }
}

/// Shared memory for the raw values of a team, by warp.
template <class A, int K>
constexpr std::size_t stage_bytes(unsigned threads) {
  return is_staged<Format<A, A, K, std::uint8_t, false>> ? threads / 32 * sizeof(StagedValues::Stage) : 0;
}

/// The same with one block per chunk: chunks of K = 8 are so large that with one warp each, many warps would idle while
/// the last ones finish; and where chunks of any size are few, most of the device would.
template <class A, class V, int K>
__global__ void __launch_bounds__(tuning::ccoo_most_threads, tuning::ccoo_compiled.most_blocks())
    team_kernel(View<A> v, unsigned lut_size, std::uint64_t rows, DeviceScalar<V> alpha, const V* __restrict__ x,
                DeviceScalar<V> beta, V* y, RowMap map, V* workspace, ReadOnce once, Prefetch prefetch) {
  __shared__ V lut[spmvpack::layouts::ccoo::lut_capacity];
  // Two that alternate: some warps may still add up rows of a chunk while others multiply the next one.
  __shared__ TeamScratch<V> scratch[2];
  extern __shared__ StagedValues::Stage stages[];  // stage_bytes()
  allow_next_kernel();
  const RowSums<V> to{alpha.get(), beta.get(), y, map, workspace, workspace + v.chunks};
  if (to.alpha == V{0}) return to.scale_share(rows);  // x must not be read
  prefetch(to.alpha);
  ChunkHeader next = header_of(v, blockIdx.x, rows);
  for (unsigned i = threadIdx.x; i < lut_size; i += blockDim.x) lut[i] = static_cast<V>(v.lut[i]);
  __syncthreads();
  if (blockIdx.x == 0)
    for (std::uint64_t r = threadIdx.x; r < next.row_base; r += blockDim.x) to.scale(r);
  unsigned turn = 0;
  for (std::uint64_t c = blockIdx.x; c < v.chunks; c += gridDim.x, turn ^= 1U) {
    const ChunkHeader h = next;
    next = header_of(v, c + gridDim.x, rows);
    const std::byte* const bytes = v.blob + h.offset;
    team_chunk<A, V, K>(h, bytes, v.single, lut, x, once, scratch[turn], stages, to);
  }
}

constexpr unsigned most_atomic_threads = 256;

/// The paper's kernel (listings 1.1 and 1.2, section 2.2): a block of B threads for a chunk, with K entries each, which
/// find their values in the LUT in global memory; a segmented scan in each warp, or a plain one if the chunk is of one
/// row; and the first lane of every row adds atomically to y, which has been scaled.
template <class A, class V, int K>
__global__ void __launch_bounds__(most_atomic_threads)
    atomic_kernel(View<A> v, DeviceScalar<V> alpha_in, const V* __restrict__ x, V* y, RowMap map, ReadOnce once) {
  const V alpha = alpha_in.get();
  if (alpha == V{0}) return;
  const unsigned lane = lane_id();
  for (std::uint64_t c = blockIdx.x; c < v.chunks; c += gridDim.x) {
    const ChunkHeader h = header_of(v, c, 0);
    const std::byte* const bytes = v.blob + h.offset;
    const unsigned lanes = h.encoding.groups() * 32;
    if (threadIdx.x >= lanes) continue;
    const Blob blob = Blob::of<A, K>(h.encoding, bytes, lanes, v.single, once);
    const std::uint32_t row = spmvpack::layouts::ccoo::lane_row(h.encoding, h.row_base, bytes, threadIdx.x);
    V sum[1] = {};
    std::uint32_t first = 0, last = 0;
    with_format<A, V, K>(
        h.encoding, [&]<class F>(F) { lane_sums<F, 1>(blob, v.lut, x + h.col_base, threadIdx.x, sum, first, last); });
    const std::uint32_t row_before = __shfl_up_sync(full_warp, row, 1),
                        last_before = __shfl_up_sync(full_warp, last, 1);
    const bool starts = lane == 0 || row != row_before;
    if (!starts && first == last_before) sum[0] = 0;  // padding
    if (h.encoding.one_row()) {
#pragma unroll
      for (unsigned distance = 16; distance != 0; distance /= 2)
        sum[0] = sum[0] + __shfl_down_sync(full_warp, sum[0], distance);
    } else {
      sum[0] = segment_sum(sum[0], lane, segment_end(__ballot_sync(full_warp, starts), lane, 32));
    }
    if (starts) atomicAdd(y + map(row), alpha * sum[0]);
  }
}

std::unique_ptr<const LayoutState> prepare(const PartView& part, const LoadContext& /*context*/) {
  // Only after the structure check, so that a corrupt file is reported as such, whatever the size of its chunks.
  const std::uint64_t lanes = part.info().params[spmvpack::layouts::ccoo::param_lanes];
  if (lanes < 32)
    throw Error(errc::unsupported, "chunks of " + std::to_string(lanes) + " lanes; a GPU takes whole warps",
                part.where(), "encode the matrix again, with 256 lanes");
  return nullptr;
}

template <class A, class V, int K>
void launch(const DevicePart& part, const MultiplyCall& call) {
  const View<A> v = spmvpack::layouts::ccoo::view<A>(part.view);
  const auto alpha = device_scalar<V>(call.alpha), beta = device_scalar<V>(call.beta);
  const auto lut_size = static_cast<unsigned>(part.view.get<A>("lut").size());
  const auto* const x = static_cast<const V*>(call.columns.x);
  auto* const y = static_cast<V*>(call.columns.y);
  const RowMap map{call.row_list};
  const tuning::CcooNumbers& tuned = tuning::ccoo_numbers(call.device.compute_major);
  const unsigned blocks =
      std::min(blocks_for(v.chunks * 32, tuning::ccoo_threads), call.device.multiprocessors * tuned.blocks(K));
  if (call.kernel == atomic) {
    scale_vector(call.description.vectors, call.beta, call.columns.y, call.row_list, part.view.rows(), call.stream);
    constexpr std::uint64_t most_blocks = (std::uint64_t{1} << 31) - 1;
    const auto of_chunk = static_cast<unsigned>(part.view.info().params[spmvpack::layouts::ccoo::param_lanes]);  // B
    return gpu_loader::launch(atomic_kernel<A, V, K>, static_cast<unsigned>(std::min(v.chunks, most_blocks)), of_chunk,
                              call.stream, v, alpha, x, y, map, ReadOnce(call));
  }
  auto* const workspace = reinterpret_cast<V*>(call.workspace);
  const auto run = [&](auto kernel, unsigned grid, unsigned threads, std::size_t shared_bytes) {
    cudaLaunchConfig_t config = launch_config(grid, threads, call.stream);
    config.dynamicSmemBytes = shared_bytes;
    gpu_loader::launch(config, kernel, v, lut_size, part.view.rows(), alpha, x, beta, y, map, workspace, ReadOnce(call),
                       Prefetch::of<V>(grid, call, part.view, bytes_of(part.view.get<std::uint8_t>("blob"))));
    add_carries<V>(shared_rows(v), workspace, workspace + v.chunks, alpha, beta, y, map, call);
  };
  const unsigned team =
      launch_rules::ccoo::block_threads(part.view.rows(), v.chunks, K, lut_size, call.device.multiprocessors);
  if (team != 0)
    run(team_kernel<A, V, K>,
        static_cast<unsigned>(
            std::min<std::uint64_t>(v.chunks, call.device.multiprocessors * launch_rules::ccoo::team_blocks)),
        team, stage_bytes<A, K>(team));
  else
    run(chunk_kernel<A, V, K>, blocks, tuning::ccoo_threads, 0);
}

void multiply(const DevicePart& part, const MultiplyCall& call) {
  const auto& params = part.view.info().params;
  if (spmvpack::layouts::ccoo::chunks_of(part.view.info()) == 0)
    return scale_vector(call.description.vectors, call.beta, call.columns.y, call.row_list, part.view.rows(),
                        call.stream);
  dispatch_types(part.view.info().value_type, call.description.vectors, [&]<class A, class V>(A, V) {
    switch (params[spmvpack::layouts::ccoo::param_slots]) {
      case 1:
        return launch<A, V, 1>(part, call);
      case 2:
        return launch<A, V, 2>(part, call);
      case 4:
        return launch<A, V, 4>(part, call);
      default:
        return launch<A, V, 8>(part, call);
    }
  });
}

}  // namespace
}  // namespace ccoo_kernels

const LayoutKernels ccoo{.check_names = ccoo_kernels::check_names,
                         .check = ccoo_kernels::check,
                         .prepare = ccoo_kernels::prepare,
                         .multiply = ccoo_kernels::multiply};

}  // namespace spmvpack::gpu_loader::layouts
