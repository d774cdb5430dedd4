// The kernel of csell for slices that are patterns, with values in them or one: a warp for one or two pairs of slices,
// two rows of each pair for a lane. docs/LAYOUTS.md, "csell", defines the order of additions.

#include "kernels/launch.cuh"
#include "layouts/csell/alike.cuh"
#include "layouts/csell/kernels.hpp"
#include "layouts/csell/operands.cuh"
#include "layouts/csell/tuning.cuh"
#include "layouts/csell/windows.hpp"

namespace spmvpack::gpu_loader::layouts::csell_kernels {
namespace {

using namespace spmvpack::layouts::csell;

/// Two neighbouring elements, loaded and stored as one.
template <class V>
struct alignas(2 * sizeof(V)) Two {
  V of[2];
};
// Not __ldg(), which the compiler moves down to its use, past every barrier: each window would wait for its own load.
__device__ inline Two<double> load_two(const double* p) {
  Two<double> v;
  asm volatile("ld.global.v2.f64 {%0, %1}, [%2];" : "=d"(v.of[0]), "=d"(v.of[1]) : "l"(p));
  return v;
}
__device__ inline Two<float> load_two(const float* p) {
  Two<float> v;
  asm volatile("ld.global.v2.f32 {%0, %1}, [%2];" : "=f"(v.of[0]), "=f"(v.of[1]) : "l"(p));
  return v;
}

/// The values of a window's steps, loaded when the elements of x have come, so that no registers hold them until then.
template <class V>
__device__ void load_values(const Window<double>* w, V (&value)[3]) {
  double v[3];
  asm volatile("ld.global.f64 %0, [%1];" : "=d"(v[0]) : "l"(&w->value));
  asm volatile("ld.global.v2.f64 {%0, %1}, [%2 + 8];" : "=d"(v[1]), "=d"(v[2]) : "l"(&w->value));
  for (int i = 0; i < 3; ++i) value[i] = static_cast<V>(v[i]);
}
template <class V>
__device__ void load_values(const Window<float>* w, V (&value)[3]) {
  float v[3];
  asm volatile("ld.global.v2.f32 {%0, %1}, [%2];" : "=f"(v[0]), "=f"(v[1]) : "l"(&w->value));
  asm volatile("ld.global.f32 %0, [%1 + 8];" : "=f"(v[2]) : "l"(&w->value));
  for (int i = 0; i < 3; ++i) value[i] = static_cast<V>(v[i]);
}

/// Adds the steps of a window that rows have. element: those of x in columns base - 1 to base + 2 from the lane's even
/// row of each pair.
template <int pairs, class A, class V>
__device__ void add_some(const Window<A>* w, std::uint32_t lane, const V (&element)[pairs][4], V (&sum)[pairs][2]) {
  V value[3];
  load_values(w, value);
  const std::uint32_t rows = __ldg(&w->rows[lane]);
#pragma unroll
  for (int kind = 0; kind < 3; ++kind)
#pragma unroll
    for (int p = 0; p < pairs; ++p)
#pragma unroll
      for (int r = 0; r < 2; ++r)
        if ((rows & row_bit(kind, 2 * p + r)) != 0) sum[p][r] = fma(value[kind], element[p][kind + r], sum[p][r]);
}

/// Elements of x around the lane's rows of each pair, of which it has the two of `own` and its neighbours the others.
/// end: what lanes at the ends have no neighbour for.
template <int pairs, class V>
__device__ void share(const Two<V> (&own)[pairs], V end, V (&element)[pairs][4]) {
  const std::uint32_t lane = threadIdx.x % 32;
#pragma unroll
  for (int p = 0; p < pairs; ++p) {
    element[p][1] = own[p].of[0];
    element[p][2] = own[p].of[1];
  }
  element[0][0] = __shfl_up_sync(~0U, own[0].of[1], 1);
  element[pairs - 1][3] = __shfl_down_sync(~0U, own[pairs - 1].of[0], 1);
  if constexpr (pairs == 2) {  // where one pair ends and the other begins, the lane at the other end has the neighbour
    element[0][3] = __shfl_sync(~0U, lane == 0 ? own[1].of[0] : own[0].of[0], (lane + 1) % 32);
    element[1][0] = __shfl_sync(~0U, lane == 31 ? own[0].of[1] : own[1].of[1], (lane + 31) % 32);
  }
  if (lane == 0) element[0][0] = end;
  if (lane == 31) element[pairs - 1][3] = end;
}

/// Adds windows of a program that reach no column outside x.
template <int pairs, class A, class V>
__device__ void add_windows(const Window<A>* w, std::uint32_t n, std::uint32_t row, const V* x, V (&sum)[pairs][2]) {
  const std::uint32_t lane = threadIdx.x % 32;
  // The lanes at the ends load the elements that no neighbour has.
  const std::uint32_t end_kind = lane == 0 ? window_before : lane == 31 ? window_after : 0;
  for (; n != 0; n -= window_batch, w += window_batch) {
    std::uint32_t kinds[window_batch];
    Two<V> own[window_batch][pairs];
    V end[window_batch];
#pragma unroll
    for (int i = 0; i < window_batch; ++i) {
      const uint2 head = __ldg(reinterpret_cast<const uint2*>(w + i));  // base and kinds
      kinds[i] = head.y;
      const V* const from = x + (row + head.x);
#pragma unroll
      for (int p = 0; p < pairs; ++p) own[i][p] = load_two(from + p * pair_rows);
      end[i] = V{0};
      if ((kinds[i] & end_kind) != 0)
        end[i] = __ldg(from + (lane == 0 ? -1 : static_cast<int>((pairs - 1) * pair_rows + 2)));
    }
    __syncwarp();  // all loads before the first sum
#pragma unroll
    for (int i = 0; i < window_batch; ++i) {
      if (kinds[i] == (window_full | window_at)) {
        V value[3];
        load_values(w + i, value);
#pragma unroll
        for (int p = 0; p < pairs; ++p)
#pragma unroll
          for (int r = 0; r < 2; ++r) sum[p][r] = fma(value[1], own[i][p].of[r], sum[p][r]);
      } else if (kinds[i] != 0) {
        V element[pairs][4];
        share(own[i], end[i], element);
        if (kinds[i] == (window_full | window_before | window_at | window_after)) {
          V value[3];
          load_values(w + i, value);
#pragma unroll
          for (int kind = 0; kind < 3; ++kind)
#pragma unroll
            for (int p = 0; p < pairs; ++p)
#pragma unroll
              for (int r = 0; r < 2; ++r) sum[p][r] = fma(value[kind], element[p][kind + r], sum[p][r]);
        } else {
          add_some(w + i, lane, element, sum);
        }
      }
    }
  }
}

/// The same of a program that may reach further: what is outside x is no element of a row.
template <int pairs, class A, class V>
__device__ void add_windows_at_edge(const Window<A>* w, std::uint32_t n, std::uint32_t row, const V* x,
                                    std::uint32_t columns, V (&sum)[pairs][2]) {
#pragma unroll 1
  for (; n != 0; --n, ++w) {
    V element[pairs][4];
#pragma unroll
    for (int p = 0; p < pairs; ++p)
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const std::uint32_t column = row + p * pair_rows + static_cast<std::uint32_t>(w->base + i - 1);
        element[p][i] = column < columns ? __ldg(x + column) : V{0};
      }
    add_some(w, threadIdx.x % 32, element, sum);
  }
}

/// The arrays that load has made.
template <class A>
struct WindowTables {
  const Window<A>* windows;
  const WindowProgram* programs;  ///< a copy wherever it serves: its number would be one more load that waits
  std::int32_t furthest;          ///< column that windows reach, from a program's first row
};

struct Extent {
  std::uint32_t programs, rows, columns;
  bool by_two;  ///< operands are plain, and two elements of y are stored as one
};

/// Writes the sums of two consecutive rows of a lane.
template <class V>
__device__ void put(const V (&sum)[2], const bool (&has)[2], std::uint32_t row, const Extent& extent,
                    const Operands<V>& operands) {
  if (extent.by_two && row + 1 < extent.rows) {
    Two<V> y;
#pragma unroll
    for (int r = 0; r < 2; ++r) y.of[r] = has[r] ? fma(operands.alpha.value, sum[r], V{0}) : V{0};
    *reinterpret_cast<Two<V>*>(operands.y + row) = y;
    return;
  }
  const V alpha = operands.alpha.get(), beta = operands.beta.get();  // here, so that no register keeps them
#pragma unroll
  for (std::uint32_t r = 0; r < 2; ++r) {
    if (row + r >= extent.rows) break;
    V* const at = operands.y + operands.map(std::uint64_t{row} + r);
    const V before = scaled(beta, at);
    *at = has[r] ? fma(alpha, sum[r], before) : before;
  }
}

template <int pairs, class A, class V>
__global__ void __launch_bounds__(tuning::windows_policy(pairs).threads, tuning::windows_policy(pairs).blocks)
    windows_kernel(WindowTables<A> t, Extent extent, Operands<V> operands) {
  if (operands.alpha.get() == V{0}) return operands.scale_all(extent.rows);  // x must not be read
  constexpr std::uint32_t program_rows = pairs * pair_rows;
  const std::uint32_t lane = threadIdx.x % 32, stride = gridDim.x * (blockDim.x / 32);
  std::uint32_t i = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  if (i >= extent.programs) return;
  uint2 next = __ldg(reinterpret_cast<const uint2*>(t.programs + i));  // first and count
  for (; i < extent.programs; i += stride) {
    const uint2 program = next;
    if (i + stride < extent.programs) next = __ldg(reinterpret_cast<const uint2*>(t.programs + i + stride));
    const std::uint32_t row = i * program_rows + 2 * lane;
    V sum[pairs][2] = {};
    if ((program.y & program_at_edge) == 0)
      add_windows(t.windows + program.x, program.y & program_count, row, operands.x, sum);
    else
      add_windows_at_edge(t.windows + program.x, program.y & program_count, row, operands.x, extent.columns, sum);
    // What the next program is the first to read of x comes from device memory meanwhile.
    if (lane < program_rows * sizeof(V) / tuning::prefetched_bytes) {
      const std::uint32_t column = (i + stride) * program_rows + static_cast<std::uint32_t>(t.furthest) +
                                   lane * static_cast<std::uint32_t>(tuning::prefetched_bytes / sizeof(V));
      if (column < extent.columns) asm volatile("prefetch.global.L2 [%0];" ::"l"(operands.x + column));
    }
    std::uint32_t rows = ~0U;  // that have entries
    if ((program.y & program_all_rows) == 0) {
      rows = 0;
      for (std::uint32_t w = 0; w < (program.y & program_count); ++w)
        rows |= __ldg(&t.windows[program.x + w].rows[lane]);
    }
#pragma unroll
    for (int p = 0; p < pairs; ++p) {
      bool has[2];
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const std::uint32_t of_kinds = row_bit(0, 2 * p + r) | row_bit(1, 2 * p + r) | row_bit(2, 2 * p + r);
        has[r] = (rows & of_kinds) != 0;
      }
      put(sum[p], has, row + p * pair_rows, extent, operands);
    }
  }
}

/// Memory for windows, which it copies there, and then for so many programs; null if there is no room.
template <class A>
std::unique_ptr<DeviceWindows> place_windows(const WindowPrograms<A>& programs, std::uint64_t count,
                                             std::uint32_t pairs, const LoadContext& context) {
  const auto windows = std::as_bytes(std::span(programs.windows()));
  auto result = std::make_unique<DeviceWindows>();
  result->pairs = pairs;
  result->furthest = programs.furthest();
  result->windows = 0;
  result->programs = round_up(windows.size(), 256);
  const std::uint64_t bytes = result->programs + count * sizeof(WindowProgram);
  if (bytes > context.room) return nullptr;
  result->memory = context.allocate(bytes);
  if (!windows.empty())
    require_cuda(
        cudaMemcpyAsync(result->memory.get(), windows.data(), windows.size(), cudaMemcpyHostToDevice, context.stream),
        "copying windows");
  return result;
}
WindowProgram* programs_in(const DeviceWindows& windows) {
  return reinterpret_cast<WindowProgram*>(static_cast<std::byte*>(windows.memory.get()) + windows.programs);
}

/// With so many pairs of slices to a program, all of which the host reads: where too many differ for Alike.
template <class A>
std::unique_ptr<const DeviceWindows> make_on_host(const View<A>& v, WindowPrograms<A>& programs, std::uint32_t pairs,
                                                  const LoadContext& context) {
  CountedVector<WindowProgram> in_order;
  constexpr std::uint64_t at_once = 1U << 16U;
  const std::size_t of_program = std::size_t{2} * pairs;
  for (std::uint64_t begin = 0; begin < v.slice_count; begin += at_once) {
    CountedVector<Slice> slices =
        copied_back(std::span(v.slices + begin, std::min(at_once, v.slice_count - begin)), context.stream);
    slices.resize(round_up(slices.size(), of_program));  // beside the last one, as if they were empty
    for (std::size_t i = 0; i < slices.size(); i += of_program) {
      const auto program = programs.program((begin + i) / of_program, std::span(slices).subspan(i, of_program));
      if (!program) return nullptr;
      in_order.push_back(programs.programs()[*program]);
    }
  }
  auto result = place_windows(programs, in_order.size(), pairs, context);
  if (result == nullptr) return nullptr;
  require_cuda(cudaMemcpyAsync(programs_in(*result), in_order.data(), in_order.size() * sizeof(WindowProgram),
                               cudaMemcpyHostToDevice, context.stream),
               "copying windows");
  require_cuda(cudaStreamSynchronize(context.stream), "copying windows");
  return result;
}

/// With so many pairs of slices to a program.
template <class A>
std::unique_ptr<const DeviceWindows> make(const View<A>& v, WindowPrograms<A>& programs, std::uint32_t pairs,
                                          std::uint64_t columns, const LoadContext& context) {
  Alike alike(v.slices, v.slice_count, 2 * pairs, context);
  if (alike.failed()) return make_on_host(v, programs, pairs, context);
  if (!alike.collect(programs, 2 * pairs)) return nullptr;
  auto result = place_windows(programs, alike.programs(), pairs, context);
  if (result == nullptr) return nullptr;
  alike.write(pairs * pair_rows, columns, programs_in(*result));
  require_cuda(cudaStreamSynchronize(context.stream), "copying windows");
  return result;
}

template <int pairs, class A, class V>
void launch_windows(const DevicePart& part, const DeviceWindows& windows, const MultiplyCall& call) {
  constexpr tuning::WindowsPolicy policy = tuning::windows_policy(pairs);
  const auto* const memory = static_cast<const std::byte*>(windows.memory.get());
  const WindowTables<A> tables{reinterpret_cast<const Window<A>*>(memory + windows.windows),
                               reinterpret_cast<const WindowProgram*>(memory + windows.programs), windows.furthest};
  const Operands<V> operands(call);
  const auto rows = static_cast<std::uint32_t>(part.view.rows());
  const auto programs = static_cast<std::uint32_t>(div_up(rows, pairs * pair_rows));
  const bool by_two = operands.plain && reinterpret_cast<std::uintptr_t>(call.columns.y) % sizeof(Two<V>) == 0;
  const std::uint64_t resident = std::uint64_t{call.device.multiprocessors} * policy.blocks;
  const std::uint64_t blocks = std::min<std::uint64_t>(div_up(programs, policy.threads / 32), resident);
  launch(windows_kernel<pairs, A, V>, static_cast<unsigned>(blocks), policy.threads, call.stream, tables,
         Extent{programs, rows, static_cast<std::uint32_t>(part.view.cols()), by_two}, operands);
}

}  // namespace

std::unique_ptr<const DeviceWindows> make_windows(const PartView& part, const LoadContext& context) {
  if (!launch_rules::csell::worth_windows(slices_of(part.info()), context.device.multiprocessors)) return nullptr;
  return dispatch(part.info().value_type, [&]<class A>(A) -> std::unique_ptr<const DeviceWindows> {
    const View<A> v = view<A>(part);
    const CountedVector<Group> patterns = copied_back(std::span(v.patterns, patterns_of(part.info())), context.stream);
    const CountedVector<A> values = copied_back(std::span(v.values, values_of(part.info())), context.stream);
    for (const std::uint32_t pairs : launch_rules::csell::pairs_by_preference) {
      const WindowLimits limits =
          launch_rules::csell::window_limits(v.slice_count, context.device.multiprocessors, pairs);
      WindowPrograms<A> programs(patterns, values, part.cols(), limits, pairs);
      if (auto windows = make(v, programs, pairs, part.cols(), context)) return windows;
    }
    return nullptr;
  });
}

bool multiply_windows(const DevicePart& part, const DeviceWindows& windows, const MultiplyCall& call) {
  return dispatch_types(part.view.info().value_type, call.description.vectors, [&]<class A, class V>(A, V) {
    if (reinterpret_cast<std::uintptr_t>(call.columns.x) % sizeof(Two<V>) != 0) return false;
    if (windows.pairs == 2)
      launch_windows<2, A, V>(part, windows, call);
    else
      launch_windows<1, A, V>(part, windows, call);
    return true;
  });
}

}  // namespace spmvpack::gpu_loader::layouts::csell_kernels
