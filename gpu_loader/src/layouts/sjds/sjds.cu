// Layout `sjds` on the GPU: a thread for each lane, as plain as can be, with the bits that a host gets. The layout is
// made for hosts.

#include "kernels/launch.cuh"
#include "kernels/row_map.cuh"
#include "kernels/scalar.cuh"
#include "layouts/sjds/kernels.hpp"
#include "spmvpack/container/layouts/sjds_entries.hpp"

namespace spmvpack::gpu_loader::layouts {
namespace sjds_kernels {
namespace {

using namespace spmvpack::layouts::sjds;

constexpr unsigned threads = 256;

template <class V>
struct Operands {
  DeviceScalar<V> alpha, beta;
  const V* x;
  V* y;
  RowMap rows;

  /// `scaled_already`: y is beta y.
  __device__ void put(std::uint64_t row, V sum, bool scaled_already) const {
    V* const element = y + rows(row);
    *element = fma(alpha.get(), sum, scaled_already ? *element : scaled(beta.get(), element));
  }
};

/// Rows of windows that have rows in no slice.
template <class A, class V>
__global__ void scale_kernel(View<A> v, Operands<V> to) {
  const std::uint64_t row = first_item();
  if (row >= v.rows || !v.windows[row / v.window_rows].has_others()) return;
  V* const element = to.y + to.rows(row);
  *element = scaled(to.beta.get(), element);
}

template <class A, class V>
__device__ V lane_sum(const View<A>& v, const SliceView& slice, std::uint32_t lane, const Operands<V>& to) {
  if (to.alpha.get() == V{0}) return V{0};  // x must not be read
  const V* const x = to.x;
  const auto value = [&](std::uint64_t step, std::uint64_t before) {
    return static_cast<V>(
        v.values[v.source == Source::code ? slice.code(step, lane) : slice.slice.values + before + lane]);
  };
  const std::uint64_t windows = slice.slice.windows();
  V sum = 0;
  for (std::uint64_t k = 0; k < windows; ++k)
    sum = fma(value(k, k * lanes), x[slice.window_steps()[k].column(lane)], sum);
  for (OtherStep other(slice); other.is_there() && lane < other.lanes_here; other.next(slice))
    sum = fma(value(windows + other.step, windows * lanes + other.before), x[slice.column(other.before + lane)], sum);
  return sum;
}

template <class A, class V>
__global__ void slices_kernel(View<A> v, Operands<V> to) {
  const std::uint64_t s = first_item() / lanes;
  const auto lane = static_cast<std::uint32_t>(first_item() % lanes);
  if (s >= v.row_slices()) return;
  const SliceView slice = SliceView::of(v, s);
  if (lane >= slice.slice.rows()) return;
  const std::uint64_t row = slice.row(lane);
  to.put(row, lane_sum(v, slice, lane, to), v.windows[row / v.window_rows].has_others());
}

/// Eight threads for each long row, whose pieces they take one after the other. After scale_kernel.
template <class A, class V>
__global__ void pieces_kernel(View<A> v, Operands<V> to) {
  std::uint64_t piece = first_item() / lanes;
  const auto lane = static_cast<std::uint32_t>(first_item() % lanes);
  if (piece >= v.piece_count || v.slices[v.row_slices() + piece].continues()) return;
  const std::uint32_t together = 0xFFU << (threadIdx.x % 32 / lanes * lanes),
                      row = v.slices[v.row_slices() + piece].row;
  V sum = 0;
  bool is_first = true;
  do {
    V own = lane_sum(v, SliceView::of(v, v.row_slices() + piece), lane, to);
    for (unsigned distance = 1; distance < lanes; distance *= 2) own = own + __shfl_down_sync(together, own, distance);
    sum = is_first ? own : sum + own;
    is_first = false;
    ++piece;
  } while (piece < v.piece_count && v.slices[v.row_slices() + piece].continues());
  if (lane == 0) to.put(row, sum, true);
}

void multiply(const DevicePart& part, const MultiplyCall& call) {
  const PartView& view = part.view;
  dispatch_types(view.info().value_type, call.description.vectors, [&]<class A, class V>(A, V) {
    const View<A> v = spmvpack::layouts::sjds::view<A>(view);
    const Operands<V> to{device_scalar<V>(call.alpha), device_scalar<V>(call.beta),
                         static_cast<const V*>(call.columns.x), static_cast<V*>(call.columns.y), RowMap{call.row_list}};
    const auto over = [&](std::uint64_t work, auto kernel) {
      if (work != 0) launch(kernel, blocks_for(work, threads), threads, call.stream, v, to);
    };
    over(v.rows, scale_kernel<A, V>);
    over(v.row_slices() * lanes, slices_kernel<A, V>);
    over(v.piece_count * lanes, pieces_kernel<A, V>);
  });
}

}  // namespace
}  // namespace sjds_kernels

const LayoutKernels sjds{.check_names = sjds_kernels::check_names,
                         .check_scratch = sjds_kernels::check_scratch,
                         .check = sjds_kernels::check,
                         .multiply = sjds_kernels::multiply};

}  // namespace spmvpack::gpu_loader::layouts
