// Layout `bitflag` on the GPU: the launches of a multiply. chunk.cuh has what a warp does with a chunk, tiles.cuh the
// kernel, segments.cuh what adds up the sums of segments.

#include <algorithm>
#include <type_traits>

#include "kernels/carries.cuh"
#include "kernels/launch.cuh"
#include "kernels/prefetch.cuh"
#include "kernels/row_map.cuh"
#include "kernels/scalar.cuh"
#include "layouts/bitflag/kernels.hpp"
#include "layouts/bitflag/segments.cuh"
#include "layouts/bitflag/tiles.cuh"
#include "layouts/bitflag/tuning.cuh"
#include "spmvpack/container/layouts/bitflag.hpp"

namespace spmvpack::gpu_loader::layouts {
namespace bitflag_kernels {
namespace {

using namespace spmvpack::layouts::bitflag;  // what the bytes mean

/// The tiles as chunks of carries.cuh.
struct SharedTiles {
  static constexpr bool in_workspace = false;
  std::uint64_t count;
  const Chunk* chunks;
  std::uint32_t tile_chunks;
  __device__ std::uint32_t first_row(std::uint64_t t) const { return __ldg(&chunks[t * tile_chunks].row); }
  __device__ bool continues(std::uint64_t t) const {
    return Info{__ldg(&chunks[t * tile_chunks].info.bits)}.continues();
  }
};

/// Copies the hot elements of x to where they lie side by side.
template <class V>
__global__ void __launch_bounds__(tuning::gather_threads)
    gather_hot_kernel(const std::uint32_t* columns, std::uint32_t count, DeviceScalar<V> alpha, const V* x, V* to) {
  allow_next_kernel();
  const std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count && alpha.get() != V{0}) to[i] = x[columns[i]];
}

/// A launch of the tiles.
struct TilesLaunch {
  cudaLaunchConfig_t config;
  unsigned pieces;  ///< of each segment
  bool staged;      ///< whether near elements fit shared memory
};

template <Near near, class A, class V>
TilesLaunch tiles_launch(const View<A>& v, const MultiplyCall& call) {
  const std::uint64_t tiles = v.chunk_count / v.tile_chunks;
  const unsigned team_threads = v.tile_chunks * 32, multiprocessors = call.device.multiprocessors;
  const auto teams_of = [&](unsigned threads) {
    return std::clamp(threads / team_threads, 1U, v.tile_chunks == 1 ? max_tile_chunks : tuning::most_teams);
  };
  unsigned teams = teams_of(near == Near::hot ? tuning::max_threads : tuning::usual_threads);
  if (const std::uint64_t all = tiles * team_threads;
      near == Near::none && all <= std::uint64_t{multiprocessors} * tuning::multiprocessor_threads) {
    const unsigned most = teams_of(tuning::max_threads) * team_threads;
    teams = launch_rules::even_threads(all, most, multiprocessors, team_threads) / team_threads;
  }
  const std::uint64_t near_bytes = sizeof(V) * (near == Near::hot       ? v.hot_count
                                                : near == Near::segment ? v.segment_columns
                                                                        : 0);
  const auto shared_bytes = [&] { return std::uint64_t{teams} * v.tile_chunks * warp_slots * sizeof(V) + near_bytes; };
  const auto fits = [&] { return shared_bytes() + tuning::other_shared_bytes <= call.device.shared_bytes; };
  // Rather a few warps less than hot elements outside shared memory, on devices that have less of it: down to half.
  if (const unsigned all = teams; near == Near::hot) {
    while (teams > 1 && 2 * teams > all && !fits()) --teams;
    if (!fits()) teams = all;
  }
  const unsigned threads = team_threads * teams;
  const std::uint64_t resident =
      std::uint64_t{multiprocessors} * std::max(1U, tuning::multiprocessor_threads / threads);
  const std::uint64_t pieces = std::max<std::uint64_t>(1, resident / v.segment_count);
  const std::uint64_t work = near == Near::segment ? v.segment_count * pieces : div_up(tiles, teams);
  cudaLaunchConfig_t config =
      launch_config(static_cast<unsigned>(std::min<std::uint64_t>(work, resident)), threads, call.stream);
  const bool staged = near != Near::none && fits();
  config.dynamicSmemBytes = staged ? shared_bytes() : shared_bytes() - near_bytes;
  return {config, static_cast<unsigned>(pieces), staged};
}

template <Source source, Near near, class A, class V>
void multiply_tiles(const DevicePart& part, const MultiplyCall& call) {
  const View<A> v = view<A>(part.view);
  const auto& info = part.view.info();
  const std::uint64_t tiles = v.chunk_count / v.tile_chunks;
  const auto alpha = device_scalar<V>(call.alpha), beta = device_scalar<V>(call.beta);
  const auto* const x = static_cast<const V*>(call.columns.x);
  auto* const y = static_cast<V*>(call.columns.y);
  const RowMap map{call.row_list};
  auto* const near_bytes = reinterpret_cast<V*>(call.workspace);
  auto* const sums = reinterpret_cast<V*>(call.workspace + near_workspace(info, call.description.vectors));
  // The sums of segments are made in the workspace.
  constexpr bool segments = near == Near::segment;
  const DeviceScalar<V> one{V{1}, nullptr}, zero{V{0}, nullptr};
  V* const target = segments ? near_bytes : y;
  const RowMap target_map = segments ? RowMap{nullptr} : map;
  const TilesLaunch how = tiles_launch<near, A, V>(v, call);
  const TilesOperands<V> operands{.table_values = static_cast<std::uint32_t>(values_of(info)),
                                  .pieces = how.pieces,
                                  .cols = part.view.cols(),
                                  .alpha = alpha,
                                  .x = x,
                                  .beta = beta,
                                  .y = target,
                                  .map = target_map,
                                  .first_sum = sums,
                                  .last_sum = sums + tiles,
                                  .near = {near_bytes, v.hot_count, how.staged},
                                  .once = ReadOnce(call)};
  const auto prefetch = [&](const cudaLaunchConfig_t& config) {
    return Prefetch::of<V>(config.gridDim.x, call, part.view, bytes_of(part.view.get<std::uint32_t>("stream")));
  };
  if constexpr (near == Near::hot) {
    launch(gather_hot_kernel<V>, blocks_for(v.hot_count, tuning::gather_threads), tuning::gather_threads, call.stream,
           v.hot, v.hot_count, alpha, x, near_bytes);
    launch_early(call.device, how.config, tiles_kernel<source, near, A, V>, v, operands, prefetch(how.config));
  } else if (segments && !how.staged) {
    const std::uint64_t rows = v.rows * v.segment_count;
    launch(clear_segments_kernel<V>, blocks_for(rows + 1, tuning::add_threads), tuning::add_threads, call.stream,
           target, rows, alpha);
    TilesOperands<V> adding = operands;
    adding.alpha = {V{}, target + rows};
    adding.beta = one;
    const cudaLaunchConfig_t config = tiles_launch<Near::none, A, V>(v, call).config;
    launch(config, tiles_kernel<source, Near::none, A, V>, v, adding, prefetch(config));
  } else {
    launch(how.config, tiles_kernel<source, near, A, V>, v, operands, prefetch(how.config));
  }
  if (info.params[param_continued] != 0)
    add_carries<V>(SharedTiles{tiles, v.chunks, v.tile_chunks}, sums, sums + tiles, segments ? one : alpha,
                   segments ? zero : beta, target, target_map, call);
  if constexpr (segments) {
    if (v.segment_count <= tuning::few_segments)
      launch_early(call.device, add_few_segments_kernel<V>, blocks_for(v.rows, tuning::add_threads),
                   tuning::add_threads, call.stream, target, v.segment_count, v.rows, alpha, beta, y, map);
    else
      launch_early(call.device, add_segments_kernel<V>, blocks_for(v.rows, 32), 1024, call.stream, target,
                   v.segment_count, v.rows, alpha, beta, y, map);
  }
}

/// Allows the kernel as much shared memory as there is: at load, as this would take from a caller the error that an
/// earlier call left behind.
template <Source source, Near near, class A, class V>
void reserve_shared(const DeviceFacts& device) {
  require_cuda(cudaFuncSetAttribute(tiles_kernel<source, near, A, V>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(device.shared_bytes - tuning::other_shared_bytes)),
               "reserving shared memory");
}

/// Calls f with the part's source of values and near elements as constants.
template <class F>
void with_kind(const PartInfo& part, F&& f) {
  dispatch_source(source_of(part), [&](auto source) {
    if (segments_of(part) > 1)
      f(source, std::integral_constant<Near, Near::segment>{});
    else if (hot_of(part) != 0)
      f(source, std::integral_constant<Near, Near::hot>{});
    else
      f(source, std::integral_constant<Near, Near::none>{});
  });
}

std::unique_ptr<const LayoutState> prepare(const PartView& part, const LoadContext& context) {
  const PartInfo& info = part.info();
  if (!tuning::tiles_fit(chunks_of(info) / info.params[param_tile_chunks], context.device.multiprocessors))
    throw Error(errc::unsupported, "bitflag: nearly 2^32 tiles", {}, "use more chunks for each (bitflag.tile)");
  with_kind(part.info(), [&](auto source, auto near) {
    each_pair_of(part.info().value_type, [&]<class A, class V>(A, V) {
      if constexpr (exists<source(), A>) {
        reserve_shared<source(), near(), A, V>(context.device);
        // Which makes the sums of segments that do not fit.
        if constexpr (near() == Near::segment) reserve_shared<source(), Near::none, A, V>(context.device);
      }
    });
  });
  return nullptr;
}

void multiply(const DevicePart& part, const MultiplyCall& call) {
  const PartInfo& info = part.view.info();
  if (chunks_of(info) == 0) return;
  with_kind(info, [&](auto source, auto near) {
    dispatch_types(info.value_type, call.description.vectors, [&]<class A, class V>(A, V) {
      if constexpr (exists<source(), A>) multiply_tiles<source(), near(), A, V>(part, call);
    });
  });
}

}  // namespace
}  // namespace bitflag_kernels

const LayoutKernels bitflag{.check_names = bitflag_kernels::check_names,
                            .check = bitflag_kernels::check,
                            .prepare = bitflag_kernels::prepare,
                            .multiply = bitflag_kernels::multiply};

}  // namespace spmvpack::gpu_loader::layouts
