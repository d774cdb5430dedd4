// Layout `bitflag` on the GPU: the launches of a multiply. chunk.cuh has what a warp does with a chunk, tiles.cuh the
// kernel, segments.cuh what adds up the sums of segments.
// Compiled in the second group.

#include <algorithm>
#include <type_traits>

#include "kernels/carries.cuh"
#include "kernels/launch.cuh"
#include "kernels/prefetch.cuh"
#include "kernels/row_map.cuh"
#include "kernels/scalar.cuh"
#include "layouts/bitflag/columns.cuh"
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
  unsigned pieces;  ///< of all segments
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
  const std::uint64_t pieces = std::max(resident, std::uint64_t{v.segment_count});
  const std::uint64_t work = near == Near::segment ? pieces : div_up(tiles, teams);
  cudaLaunchConfig_t config =
      launch_config(static_cast<unsigned>(std::min<std::uint64_t>(work, resident)), threads, call.stream);
  const bool staged = near != Near::none && fits();
  config.dynamicSmemBytes = staged ? shared_bytes() : shared_bytes() - near_bytes;
  return {config, static_cast<unsigned>(pieces), staged};
}

/// One multiply of a part with chunks: a schedule for each kind of near elements.
template <Source source, class A, class V>
class Multiplication {
 public:
  Multiplication(const DevicePart& part, const MultiplyCall& call)
      : part_(part),
        call_(call),
        v_(view<A>(part.view)),
        tiles_(v_.chunk_count / v_.tile_chunks),
        near_(reinterpret_cast<V*>(call.workspace)),
        sums_(reinterpret_cast<V*>(call.workspace + near_workspace(part.view.info(), call.description.vectors))) {}

  void run(std::integral_constant<Near, Near::none> /*near*/) const {
    const TilesLaunch how = tiles_launch<Near::none, A, V>(v_, call_);
    launch(how.config, tiles_kernel<source, Near::none, A, V>, v_, operands(how, of_call()), prefetch(how));
    add_shared_rows(of_call());
  }

  void run(std::integral_constant<Near, Near::hot> /*near*/) const {
    const TilesLaunch how = tiles_launch<Near::hot, A, V>(v_, call_);
    launch(gather_hot_kernel<V>, blocks_for(v_.hot_count, tuning::gather_threads), tuning::gather_threads, call_.stream,
           v_.hot, v_.hot_count, of_call().alpha, x(), near_);
    launch_early(call_.device, how.config, tiles_kernel<source, Near::hot, A, V>, v_, operands(how, of_call()),
                 prefetch(how));
    add_shared_rows(of_call());
  }

  /// By several columns. Hot ones are read where they lie.
  template <bool hot>
  void run_columns() const {
    const ColumnOperands<V> operands(call_);
    const unsigned team_warps = tuning::column_warps(v_.tile_chunks), teams = tuning::column_threads / 32 / team_warps,
                   warps = team_warps * teams, multiprocessors = call_.device.multiprocessors;
    const std::uint64_t shared = column_bytes<V>(operands.lanes, warps, teams * v_.tile_chunks),
                        resident =
                            std::uint64_t{multiprocessors} *
                            std::clamp<std::uint64_t>(call_.device.shared_bytes / shared, 1, tuning::column_blocks);
    cudaLaunchConfig_t config = launch_config(
        static_cast<unsigned>(std::min(div_up(tiles_, std::uint64_t{teams}), resident)), warps * 32, call_.stream);
    config.dynamicSmemBytes = shared;
    const TileSums<V> sums{reinterpret_cast<V*>(call_.workspace), tiles_};
    launch(config, columns_kernel<source, hot, A, V>, v_,
           ColumnTiles<V>{operands, sums, static_cast<std::uint32_t>(values_of(part_.view.info()))});
    if (part_.view.info().params[param_continued] != 0)
      add_column_carries<V>(SharedTiles{tiles_, v_.chunks, v_.tile_chunks}, sums.sums, operands.alpha, operands.beta,
                            call_);
  }

  /// The sums of segments are made in the workspace.
  void run(std::integral_constant<Near, Near::segment> /*near*/) const {
    const Target sums{one, zero, near_, RowMap{nullptr}}, to = of_call();
    if (const TilesLaunch how = tiles_launch<Near::segment, A, V>(v_, call_); how.staged) {
      launch(how.config, tiles_kernel<source, Near::segment, A, V>, v_,
             operands(how, {to.alpha, to.beta, sums.y, sums.map}), prefetch(how));
    } else {
      const std::uint64_t rows = v_.rows * v_.segment_count;
      launch(clear_segments_kernel<V>, blocks_for(rows + 1, tuning::add_threads), tuning::add_threads, call_.stream,
             sums.y, rows, to.alpha);
      const Target adding{{V{}, sums.y + rows}, one, sums.y, sums.map};
      const TilesLaunch plain = tiles_launch<Near::none, A, V>(v_, call_);
      launch(plain.config, tiles_kernel<source, Near::none, A, V>, v_, operands(how, adding), prefetch(plain));
    }
    add_shared_rows(sums);
    const auto add = [&](auto kernel, unsigned blocks, unsigned threads) {
      launch_early(call_.device, kernel, blocks, threads, call_.stream, sums.y, v_.segment_count, v_.rows, to.alpha,
                   to.beta, to.y, to.map);
    };
    if (v_.segment_count <= tuning::few_segments)
      add(add_few_segments_kernel<V>, blocks_for(v_.rows, tuning::add_threads), tuning::add_threads);
    else
      add(add_segments_kernel<V>, blocks_for(v_.rows, 32), 1024);
  }

 private:
  /// Where sums go, and what is multiplied and added on the way.
  struct Target {
    DeviceScalar<V> alpha, beta;
    V* y;
    RowMap map;
  };
  static constexpr DeviceScalar<V> one{V{1}, nullptr}, zero{V{0}, nullptr};

  [[nodiscard]] const V* x() const { return static_cast<const V*>(call_.columns.x); }
  [[nodiscard]] Target of_call() const {
    return {device_scalar<V>(call_.alpha), device_scalar<V>(call_.beta), static_cast<V*>(call_.columns.y),
            RowMap{call_.row_list}};
  }
  [[nodiscard]] TilesOperands<V> operands(const TilesLaunch& how, const Target& to) const {
    return {.table_values = static_cast<std::uint32_t>(values_of(part_.view.info())),
            .pieces = how.pieces,
            .cols = part_.view.cols(),
            .alpha = to.alpha,
            .x = x(),
            .beta = to.beta,
            .y = to.y,
            .map = to.map,
            .first_sum = sums_,
            .last_sum = sums_ + tiles_,
            .near = {near_, v_.hot_count, how.staged},
            .once = ReadOnce(call_)};
  }
  [[nodiscard]] Prefetch prefetch(const TilesLaunch& how) const {
    return Prefetch::of<V>(how.config.gridDim.x, call_, part_.view, bytes_of(part_.view.get<std::uint32_t>("stream")));
  }
  /// Adds up what tiles leave of the rows that they share.
  void add_shared_rows(const Target& to) const {
    if (part_.view.info().params[param_continued] != 0)
      add_carries<V>(SharedTiles{tiles_, v_.chunks, v_.tile_chunks}, sums_, sums_ + tiles_, to.alpha, to.beta, to.y,
                     to.map, call_);
  }

  const DevicePart& part_;
  const MultiplyCall& call_;
  View<A> v_;
  std::uint64_t tiles_;
  V *near_, *sums_;
};

/// Allows the kernel as much shared memory as there is: at load, as this would take from a caller the error that an
/// earlier call left behind.
template <Source source, Near near, class A, class V>
void reserve_shared(const DeviceFacts& device) {
  require_cuda(cudaFuncSetAttribute(tiles_kernel<source, near, A, V>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(device.shared_bytes - tuning::other_shared_bytes)),
               "reserving shared memory");
}

template <Source source, bool hot, class A, class V>
void reserve_columns(const DeviceFacts& device) {
  require_cuda(cudaFuncSetAttribute(columns_kernel<source, hot, A, V>, cudaFuncAttributeMaxDynamicSharedMemorySize,
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
        if constexpr (near() != Near::segment) reserve_columns<source(), near() == Near::hot, A, V>(context.device);
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
      if constexpr (exists<source(), A>) {
        const Multiplication<source(), A, V> multiplication(part, call);
        if constexpr (near() != Near::segment) {
          if (call.row_major) return multiplication.template run_columns<near() == Near::hot>();
        }
        multiplication.run(near);
      }
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
