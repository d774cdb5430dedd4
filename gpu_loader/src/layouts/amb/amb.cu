// Layout `amb` on the GPU: a thread per lane or two, blocks unrolled (Nagasaka et al., section 4.2). docs/LAYOUTS.md,
// "amb", defines the order of additions.

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

#include "kernels/launch.cuh"
#include "kernels/prefetch.cuh"
#include "kernels/read_once.cuh"
#include "kernels/row_map.cuh"
#include "kernels/scalar.cuh"
#include "kernels/vectors.hpp"
#include "layouts/amb/kernels.hpp"
#include "layouts/amb/partials.cuh"

namespace spmvpack::gpu_loader::layouts {
namespace amb_kernels {
namespace {

using launch_rules::amb::values_in_flight;
/// Of lanes of single columns, `ordered` has them issued together; with longer blocks that is slower.
template <int block>
inline constexpr bool issues_together = block == 1;

/// Lanes of single columns are short: as many blocks as a multiprocessor holds go on from lane to lane, which hides the
/// loads that each lane begins with. Longer lanes are faster without this. docs/notebook/GPU.md, "Constants".
template <int block>
inline constexpr bool may_go_on = block == 1;
constexpr unsigned resident_blocks = 4;
/// Not where some lanes are long: a block that has had one of them gets no less to do after it.
constexpr std::uint32_t longest_that_goes_on = 64;

/// Blocks of a lane whose loads are on their way together.
template <int block>
inline constexpr int batch_of = block >= values_in_flight ? 1 : values_in_flight / block;

/// Blocks of several columns in single precision: a thread takes two lanes, whose columns and values are then one load
/// each, if there are enough lanes to fill the device like this. With single columns, or in double precision, that is
/// slower. docs/notebook/GPU.md, "Constants".
template <int block, class V>
inline constexpr bool may_take_pairs = block > 1 && sizeof(V) == 4;
constexpr unsigned pair_threads = 128, pair_blocks = 10;  ///< of a block; on a multiprocessor
constexpr std::uint64_t pair_lanes_per_multiprocessor = 4096;

/// What a lane starts from. It is loaded before the lane before is worked on, where a thread takes several.
struct Lane {
  LaneRow to;
  ChunkLength length;
  std::uint32_t first_step;
};

template <class A, class Index>
__device__ Lane load_lane(const Chunks<A>& c, Index i, LaneRow to) {
  const auto chunk = static_cast<std::uint32_t>(i / c.chunk_rows);
  return {to, {__ldg(c.cl + chunk)}, __ldg(c.cs + chunk)};
}

template <class A>
__device__ Lane load_lane(const Chunks<A>& c, std::uint64_t i, ReadOnce once) {
  return load_lane(c, i, LaneRow{once(c.row_idx + i)});
}

/// The sum of lane number `in_chunk` of its chunk. `together`: the loads of a batch of blocks are issued before the
/// first sum, wherever the compiler would have them.
template <int block, bool together, class A, class V>
__device__ V lane_sum(const Chunks<A>& c, const Lane& lane, std::uint32_t in_chunk, const V* __restrict__ x,
                      ReadOnce once) {
  constexpr int batch = batch_of<block>;
  const std::uint32_t steps = lane.length.steps();
  const V* const segment = x + std::uint64_t{lane.length.segment()} * c.segment_cols;
  const std::uint16_t* columns = c.col_idx + std::uint64_t{lane.first_step} * c.chunk_rows + in_chunk;
  const A* values = c.values + std::uint64_t{lane.first_step} * block * c.chunk_rows + in_chunk;
  V sum = 0;
  std::uint32_t next = 0;  // the column that a further block reaches at least
  for (std::uint32_t step = 0; step < steps; step += batch) {
    std::uint32_t column[batch];
    V value[batch][block];
#pragma unroll
    for (int i = 0; i < batch; ++i) {
      const bool stored = step + i < steps;
      column[i] = stored ? once(columns + i * c.chunk_rows) : 0;
#pragma unroll
      for (int k = 0; k < block; ++k)
        value[i][k] = stored ? static_cast<V>(once(values + (i * block + k) * c.chunk_rows)) : V{0};
    }
    columns += batch * c.chunk_rows;
    values += batch * block * c.chunk_rows;
    bool ended = false;
    if constexpr (together) {
      issue_loads();
      bool has[batch];
      V element[batch][block];
#pragma unroll
      for (int i = 0; i < batch; ++i) {
        ended = ended || step + i >= steps || column[i] < next;
        next = column[i] + 1;
        has[i] = !ended;
#pragma unroll
        for (int k = 0; k < block; ++k) element[i][k] = has[i] ? __ldg(segment + column[i] + k) : V{0};
      }
      issue_loads();
#pragma unroll
      for (int i = 0; i < batch; ++i)
        if (has[i]) {
#pragma unroll
          for (int k = 0; k < block; ++k) sum = fma(value[i][k], element[i][k], sum);
        }
    } else {
#pragma unroll
      for (int i = 0; i < batch; ++i) {
        ended = ended || step + i >= steps || column[i] < next;
        if (!ended) {
#pragma unroll
          for (int k = 0; k < block; ++k) sum = fma(value[i][k], __ldg(segment + column[i] + k), sum);
        }
        next = column[i] + 1;
      }
    }
    if (ended) break;
  }
  return sum;
}

/// Where a kernel writes rows of y.
template <class V>
struct Output {
  V* y;
  RowMap map;
  V alpha, beta;

  __device__ void put(std::uint32_t row, V sum, bool has_entries) const {
    V* const at = y + map(row);
    const V before = scaled(beta, at);
    *at = has_entries && alpha != V{0} ? fma(alpha, sum, before) : before;
  }
};

/// Writes the rows that have one lane, or none; the sums of the others go to `partial`. A grid-stride loop, by whole
/// chunks.
template <int block, class A, class V>
__global__ void __launch_bounds__(threads, may_go_on<block> ? resident_blocks : 1)
    lanes_kernel(Chunks<A> c, DeviceScalar<V> alpha_in, const V* __restrict__ x, DeviceScalar<V> beta_in, V* y,
                 RowMap map, Partials<V> partial, ReadOnce once, Prefetch prefetch) {
  allow_next_kernel();
  const std::uint64_t stride = std::uint64_t{gridDim.x} * threads / c.chunk_rows * c.chunk_rows;
  const std::uint64_t first = std::uint64_t{blockIdx.x} * threads + threadIdx.x, lanes = c.chunks * c.chunk_rows;
  const V alpha = alpha_in.get();
  prefetch(alpha);
  const Output<V> out{y, map, alpha, beta_in.get()};
  const auto in_chunk = static_cast<std::uint32_t>(first % c.chunk_rows);
  if (first < stride && first < lanes) {
    Lane lane = load_lane(c, first, once);
    for (std::uint64_t i = first;; i += stride) {
      const bool more = may_go_on<block> && i + stride < lanes;
      const Lane next = more ? load_lane(c, i + stride, once) : lane;
      if (!lane.to.is_none()) {
        V sum = 0;
        if (alpha != V{0}) sum = lane_sum<block, issues_together<block>, A, V>(c, lane, in_chunk, x, once);
        if (lane.to.is_shared())
          partial.put(i, lane.to, sum);
        else
          out.put(lane.to.index(), sum, true);
      }
      if (!more) break;
      lane = next;
    }
  }
  for (std::uint64_t i = first; i < c.empty; i += std::uint64_t{gridDim.x} * threads)
    out.put(c.empty_rows[i], V{0}, false);
}

/// As lanes_kernel, where `lanes_of` leads from each row's first lane to its others: the thread of the first one goes
/// on with them, and no partial sums are in memory. Up to 2^30 lanes.
template <int block, class A, class V>
__global__ void __launch_bounds__(threads, may_go_on<block> ? resident_blocks : 1)
    rows_kernel(Chunks<A> c, LanesOfRows lanes_of, DeviceScalar<V> alpha_in, const V* __restrict__ x,
                DeviceScalar<V> beta_in, V* y, RowMap map, ReadOnce once, Prefetch prefetch) {
  const auto lanes = static_cast<std::uint32_t>(c.chunks * c.chunk_rows);
  const std::uint32_t stride = gridDim.x * threads / c.chunk_rows * c.chunk_rows;
  const std::uint32_t first = blockIdx.x * threads + threadIdx.x;
  const V alpha = alpha_in.get();
  prefetch(alpha);
  const Output<V> out{y, map, alpha, beta_in.get()};
  const auto sum_of = [&](const Lane& lane, std::uint32_t in_chunk) {
    return lane_sum<block, issues_together<block>, A, V>(c, lane, in_chunk, x, once);
  };
  const auto load_head = [&](std::uint32_t i) { return load_lane(c, i, LaneRow{once(lanes_of.heads + i)}); };
  const std::uint32_t in_chunk = first % c.chunk_rows;
  if (first < stride && first < lanes) {
    Lane lane = load_head(first);
    for (std::uint32_t i = first;; i += stride) {
      const bool more = may_go_on<block> && i + stride < lanes;
      const Lane following = more ? load_head(i + stride) : lane;
      if (!lane.to.is_none()) {
        V sum = 0;
        if (alpha != V{0}) {
          const bool shared = lane.to.is_shared();
          sum = sum_of(lane, in_chunk);
          if (shared)
            for (std::uint32_t n = once(lanes_of.next + i); n != LaneRow::none; n = once(lanes_of.next + n))
              sum = sum + sum_of(load_lane(c, n, LaneRow{}), n % c.chunk_rows);
        }
        out.put(lane.to.index(), sum, true);
      }
      if (!more) break;
      lane = following;
    }
  }
  for (std::uint64_t i = first; i < c.empty; i += std::uint64_t{gridDim.x} * threads)
    out.put(c.empty_rows[i], V{0}, false);
}

/// What a thread of pairs_kernel starts from: two neighbouring lanes of a chunk.
struct Pair {
  LaneRow to[2];
  ChunkLength length;
  std::uint32_t first_step;
};

/// Two neighbours in memory as one load, used once.
template <class T>
__device__ void load_pair(const T* from, T (&to)[2], ReadOnce once) {
  using Both = std::conditional_t<sizeof(T) == 4, uint2, ushort2>;
  static_assert(sizeof(Both) == 2 * sizeof(T));
  const Both both = once(reinterpret_cast<const Both*>(from));
  memcpy(to, &both, sizeof both);
}

template <class A>
__device__ Pair load_lanes(const Chunks<A>& c, std::uint64_t i, ReadOnce once) {
  const auto chunk = static_cast<std::uint32_t>(i / c.chunk_rows);
  Pair lanes{{}, {__ldg(c.cl + chunk)}, __ldg(c.cs + chunk)};
  std::uint32_t rows[2];
  load_pair(c.row_idx + i, rows, once);
#pragma unroll
  for (int l = 0; l < 2; ++l) lanes.to[l].bits = rows[l];
  return lanes;
}

/// The sums of lanes number `in_chunk` and following of their chunk.
template <int block, class A, class V>
__device__ void pair_sums(const Chunks<A>& c, const Pair& lanes, std::uint32_t in_chunk, const V* __restrict__ x,
                          ReadOnce once, V (&sum)[2]) {
  constexpr int batch = batch_of<block>;
  const std::uint32_t steps = lanes.length.steps();
  const V* const segment = x + std::uint64_t{lanes.length.segment()} * c.segment_cols;
  const std::uint16_t* columns = c.col_idx + std::uint64_t{lanes.first_step} * c.chunk_rows + in_chunk;
  const A* values = c.values + std::uint64_t{lanes.first_step} * block * c.chunk_rows + in_chunk;
  std::uint32_t next[2] = {};  // the column that a further block reaches at least
  bool ended[2];
#pragma unroll
  for (int l = 0; l < 2; ++l) ended[l] = lanes.to[l].is_none(), sum[l] = V{0};
  for (std::uint32_t step = 0; step < steps; step += batch) {
    std::uint16_t column[batch][2];
    A value[batch][block][2];
#pragma unroll
    for (int i = 0; i < batch; ++i) {
      if (step + i < steps) {
        load_pair(columns + i * c.chunk_rows, column[i], once);
#pragma unroll
        for (int k = 0; k < block; ++k) load_pair(values + (i * block + k) * c.chunk_rows, value[i][k], once);
      } else {
#pragma unroll
        for (int l = 0; l < 2; ++l) column[i][l] = 0;
      }
    }
    columns += batch * c.chunk_rows;
    values += batch * block * c.chunk_rows;
    bool all_ended = true;
#pragma unroll
    for (int i = 0; i < batch; ++i) {
#pragma unroll
      for (int l = 0; l < 2; ++l) {
        ended[l] = ended[l] || step + i >= steps || column[i][l] < next[l];
        if (!ended[l]) {
#pragma unroll
          for (int k = 0; k < block; ++k)
            sum[l] = fma(static_cast<V>(value[i][k][l]), __ldg(segment + column[i][l] + k), sum[l]);
        }
        next[l] = column[i][l] + 1U;
      }
    }
#pragma unroll
    for (int l = 0; l < 2; ++l) all_ended = all_ended && ended[l];
    if (all_ended) break;
  }
}

/// As lanes_kernel, of chunks with an even number of lanes.
template <int block, class A, class V>
__global__ void __launch_bounds__(pair_threads, pair_blocks)
    pairs_kernel(Chunks<A> c, DeviceScalar<V> alpha_in, const V* __restrict__ x, DeviceScalar<V> beta_in, V* y,
                 RowMap map, Partials<V> partial, ReadOnce once, Prefetch prefetch) {
  allow_next_kernel();
  const std::uint64_t thread = std::uint64_t{blockIdx.x} * pair_threads + threadIdx.x, first = thread * 2;
  const V alpha = alpha_in.get();
  prefetch(alpha);
  const Output<V> out{y, map, alpha, beta_in.get()};
  if (first < c.chunks * c.chunk_rows) {
    const Pair lanes = load_lanes(c, first, once);
    V sum[2] = {};
    if (alpha != V{0}) pair_sums<block, A, V>(c, lanes, static_cast<std::uint32_t>(first % c.chunk_rows), x, once, sum);
#pragma unroll
    for (int l = 0; l < 2; ++l) {
      const LaneRow to = lanes.to[l];
      if (to.is_none()) continue;
      if (to.is_shared())
        partial.put(first + static_cast<unsigned>(l), to, sum[l]);
      else
        out.put(to.index(), sum[l], true);
    }
  }
  for (std::uint64_t i = thread; i < c.empty; i += std::uint64_t{gridDim.x} * pair_threads)
    out.put(c.empty_rows[i], V{0}, false);
}

/// The second of the paper's two kernels; the first sets y to beta y.
template <int block, class A, class V>
__global__ void __launch_bounds__(most_atomic_threads)
    atomic_kernel(Chunks<A> c, DeviceScalar<V> alpha_in, const V* __restrict__ x, V* y, RowMap map, ReadOnce once) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const V alpha = alpha_in.get();
  if (i >= c.chunks * c.chunk_rows || alpha == V{0}) return;
  const Lane lane = load_lane(c, i, once);
  if (lane.to.is_none()) return;
  const V sum = lane_sum<block, false, A, V>(c, lane, static_cast<std::uint32_t>(i % c.chunk_rows), x, once);
  const LaneRow to = lane.to;
  atomicAdd(y + map(to.is_shared() ? c.shared_rows[to.index()] : to.index()), alpha * sum);
}

template <int block, class A, class V>
void multiply_blocks(const DevicePart& on_device, const MultiplyCall& call) {
  const PartView& part = on_device.view;
  const Chunks<A> c = spmvpack::layouts::amb::view<A>(part);
  const auto alpha = device_scalar<V>(call.alpha), beta = device_scalar<V>(call.beta);
  const auto* const x = static_cast<const V*>(call.columns.x);
  auto* const y = static_cast<V*>(call.columns.y);
  const RowMap map{call.row_list};
  const ReadOnce once(call);
  const std::uint64_t lanes = c.chunks * c.chunk_rows;
  if (const unsigned of_block = atomic_threads(call.kernel); of_block != 0) {
    scale_vector(call.description.vectors, call.beta, call.columns.y, call.row_list, part.rows(), call.stream);
    if (lanes != 0)
      launch(atomic_kernel<block, A, V>, blocks_for(lanes, of_block), of_block, call.stream, c, alpha, x, y, map, once);
    return;
  }
  const State& state = static_cast<const State&>(*on_device.state);
  unsigned blocks = blocks_for(std::max(lanes + spmvpack::layouts::amb::max_chunk_rows, c.empty), threads);
  if (may_go_on<block> && state.found.longest <= longest_that_goes_on)
    blocks = std::min(blocks, resident_blocks * call.device.multiprocessors);
  const auto prefetch = [&](unsigned of_blocks) {
    return Prefetch::of<V>(of_blocks, call, part, bytes_of(part.get<std::uint16_t>("col_idx")),
                           bytes_of(part.get<A>("values")));
  };
  if (state.heads != nullptr) {
    launch(rows_kernel<block, A, V>, blocks, threads, call.stream, c, state.lanes(), alpha, x, beta, y, map, once,
           prefetch(blocks));
    return;
  }
  const Partials<V> partial{reinterpret_cast<V*>(call.workspace), partials_by_lane(part.info())};
  bool pairs = false;
  if constexpr (may_take_pairs<block, V>) {
    pairs = c.chunk_rows % 2 == 0 && lanes >= pair_lanes_per_multiprocessor * call.device.multiprocessors;
    if (pairs) {
      const unsigned of_pairs = blocks_for(std::max(lanes / 2, c.empty), pair_threads);
      launch(pairs_kernel<block, A, V>, of_pairs, pair_threads, call.stream, c, alpha, x, beta, y, map, partial, once,
             prefetch(of_pairs));
    }
  }
  if (!pairs && lanes + c.empty != 0)
    launch(lanes_kernel<block, A, V>, blocks, threads, call.stream, c, alpha, x, beta, y, map, partial, once,
           prefetch(blocks));
  const SharedRows rows = state.rows();
  if (rows.count != 0)
    launch_early(call.device, add_partials_kernel<V>, blocks_for(rows.count, threads), threads, call.stream, rows,
                 static_cast<const V*>(partial.sums), alpha, beta, y, map);
}

template <class A, class V, int... blocks>
void multiply_types(const DevicePart& part, const MultiplyCall& call, std::integer_sequence<int, blocks...> /*sizes*/) {
  using Multiply = void (*)(const DevicePart&, const MultiplyCall&);
  constexpr std::array<Multiply, sizeof...(blocks)> all{multiply_blocks<blocks + 1, A, V>...};
  all.at(part.view.info().params[spmvpack::layouts::amb::param_block] - 1)(part, call);
}

void multiply(const DevicePart& part, const MultiplyCall& call) {
  dispatch_types(part.view.info().value_type, call.description.vectors, [&]<class A, class V>(A, V) {
    multiply_types<A, V>(part, call, std::make_integer_sequence<int, spmvpack::layouts::amb::max_block>{});
  });
}

}  // namespace
}  // namespace amb_kernels

const LayoutKernels amb{.check_names = amb_kernels::check_names,
                        .check_scratch = amb_kernels::check_scratch,
                        .check = amb_kernels::check,
                        .prepare = amb_kernels::prepare,
                        .multiply = amb_kernels::multiply};

}  // namespace spmvpack::gpu_loader::layouts
