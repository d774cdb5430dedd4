// The kernel of csell for slices that are patterns, with values in them or one: a warp for two slices, two rows for a
// lane. docs/LAYOUTS.md, "csell", defines the order of additions.

#include "kernels/launch.cuh"
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
/// row.
template <class A, class V>
__device__ void add_some(const Window<A>* w, std::uint32_t lane, const V (&element)[4], V (&sum)[2]) {
  V value[3];
  load_values(w, value);
  const uint4 m = __ldg(reinterpret_cast<const uint4*>(&w->mask));
  const uint2 n = __ldg(reinterpret_cast<const uint2*>(&w->mask) + 2);
  const std::uint32_t mask[3][2] = {{m.x, m.y}, {m.z, m.w}, {n.x, n.y}};
#pragma unroll
  for (int kind = 0; kind < 3; ++kind)
#pragma unroll
    for (int r = 0; r < 2; ++r)
      if ((mask[kind][r] >> lane & 1U) != 0) sum[r] = fma(value[kind], element[kind + r], sum[r]);
}

/// Adds windows of a pair that reach no column outside x.
template <class A, class V>
__device__ void add_windows(const Window<A>* w, std::uint32_t n, std::uint32_t row, const V* x, V (&sum)[2]) {
  const std::uint32_t lane = threadIdx.x % 32;
  // The lanes at the ends load the elements that no neighbour has.
  const std::uint32_t end_kind = lane == 0 ? window_before : lane == 31 ? window_after : 0;
  for (; n != 0; n -= window_batch, w += window_batch) {
    std::uint32_t kinds[window_batch];
    Two<V> own[window_batch];
    V end[window_batch];
#pragma unroll
    for (int i = 0; i < window_batch; ++i) {
      const uint2 head = __ldg(reinterpret_cast<const uint2*>(w + i));  // base and kinds
      kinds[i] = head.y;
      const V* const from = x + (row + head.x);
      own[i] = load_two(from);
      end[i] = V{0};
      if ((kinds[i] & end_kind) != 0) end[i] = __ldg(from + (lane == 0 ? -1 : 2));
    }
    __syncwarp();  // all loads before the first sum
#pragma unroll
    for (int i = 0; i < window_batch; ++i) {
      if (kinds[i] == (window_full | window_at)) {
        V value[3];
        load_values(w + i, value);
#pragma unroll
        for (int r = 0; r < 2; ++r) sum[r] = fma(value[1], own[i].of[r], sum[r]);
      } else if (kinds[i] != 0) {
        V before = __shfl_up_sync(~0U, own[i].of[1], 1), after = __shfl_down_sync(~0U, own[i].of[0], 1);
        if (lane == 0) before = end[i];
        if (lane == 31) after = end[i];
        const V element[4] = {before, own[i].of[0], own[i].of[1], after};
        if (kinds[i] == (window_full | window_before | window_at | window_after)) {
          V value[3];
          load_values(w + i, value);
#pragma unroll
          for (int kind = 0; kind < 3; ++kind)
#pragma unroll
            for (int r = 0; r < 2; ++r) sum[r] = fma(value[kind], element[kind + r], sum[r]);
        } else {
          add_some(w + i, lane, element, sum);
        }
      }
    }
  }
}

/// The same of a pair that may reach further: what is outside x is no element of a row.
template <class A, class V>
__device__ void add_windows_at_edge(const Window<A>* w, std::uint32_t n, std::uint32_t row, const V* x,
                                    std::uint32_t columns, V (&sum)[2]) {
#pragma unroll 1
  for (; n != 0; --n, ++w) {
    V element[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const std::uint32_t column = row + static_cast<std::uint32_t>(w->base + i - 1);
      element[i] = column < columns ? __ldg(x + column) : V{0};
    }
    add_some(w, threadIdx.x % 32, element, sum);
  }
}

/// The arrays that load has made.
template <class A>
struct WindowTables {
  const Window<A>* windows;
  const WindowProgram* of_pair;  ///< its own copy: a number of one would be one more load that waits for another
  std::int32_t furthest;         ///< column that windows reach, from a pair's first row
};

struct Extent {
  std::uint32_t pairs, rows, columns;
};

template <class A, class V>
__global__ void __launch_bounds__(tuning::windows_threads, tuning::windows_blocks)
    windows_kernel(WindowTables<A> t, Extent extent, Operands<V> operands) {
  if (operands.alpha.get() == V{0}) return operands.scale_all(extent.rows);  // x must not be read
  const std::uint32_t lane = threadIdx.x % 32, stride = gridDim.x * (blockDim.x / 32);
  std::uint32_t p = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  if (p >= extent.pairs) return;
  uint2 next = __ldg(reinterpret_cast<const uint2*>(t.of_pair + p));  // first and count
  for (; p < extent.pairs; p += stride) {
    const uint2 program = next;
    if (p + stride < extent.pairs) next = __ldg(reinterpret_cast<const uint2*>(t.of_pair + p + stride));
    const std::uint32_t row = p * pair_rows + 2 * lane;
    V sum[2] = {};
    if ((program.y & program_at_edge) == 0)
      add_windows(t.windows + program.x, program.y & program_count, row, operands.x, sum);
    else
      add_windows_at_edge(t.windows + program.x, program.y & program_count, row, operands.x, extent.columns, sum);
    // What the next pair is the first to read of x comes from device memory meanwhile.
    if (lane < pair_rows * sizeof(V) / tuning::prefetched_bytes) {
      const std::uint32_t column = (p + stride) * pair_rows + static_cast<std::uint32_t>(t.furthest) +
                                   lane * static_cast<std::uint32_t>(tuning::prefetched_bytes / sizeof(V));
      if (column < extent.columns) asm volatile("prefetch.global.L2 [%0];" ::"l"(operands.x + column));
    }
    bool has[2] = {true, true};
    if ((program.y & program_all_rows) == 0) {
      const uint2 rows = (program.y & program_count) == 0
                             ? uint2{0, 0}
                             : __ldg(reinterpret_cast<const uint2*>(&t.windows[program.x].rows));
      has[0] = (rows.x >> lane & 1U) != 0;
      has[1] = (rows.y >> lane & 1U) != 0;
    }
    const V alpha = operands.alpha.get(), beta = operands.beta.get();  // here, so that no register keeps them
    const bool as_two = operands.map.list == nullptr && beta == V{0} && row + 1 < extent.rows &&
                        reinterpret_cast<std::uintptr_t>(operands.y) % sizeof(Two<V>) == 0;
    if (as_two) {
      Two<V> y;
#pragma unroll
      for (int r = 0; r < 2; ++r) y.of[r] = has[r] ? fma(alpha, sum[r], V{0}) : V{0};
      *reinterpret_cast<Two<V>*>(operands.y + row) = y;
    } else {
#pragma unroll
      for (std::uint32_t r = 0; r < 2; ++r) {
        if (row + r >= extent.rows) break;
        V* const at = operands.y + operands.map(std::uint64_t{row} + r);
        const V before = scaled(beta, at);
        *at = has[r] ? fma(alpha, sum[r], before) : before;
      }
    }
  }
}

template <class T>
std::vector<T> copied_back(std::span<const T> from, Stream stream) {
  std::vector<T> to(from.size());
  require_cuda(cudaMemcpyAsync(to.data(), from.data(), from.size_bytes(), cudaMemcpyDeviceToHost, stream),
               "reading slices back");
  require_cuda(cudaStreamSynchronize(stream), "reading slices back");
  return to;
}

/// Appends an array on a 256-byte boundary, and says where.
template <class T>
std::uint64_t append(std::vector<std::byte>& bytes, const std::vector<T>& array) {
  const std::uint64_t at = round_up(bytes.size(), 256);
  bytes.resize(at);
  const std::span<const std::byte> of_array = std::as_bytes(std::span(array));
  bytes.insert(bytes.end(), of_array.begin(), of_array.end());
  return at;
}

template <class A>
std::unique_ptr<const DeviceWindows> make(const PartView& part, const LoadContext& context) {
  const View<A> v = view<A>(part);
  const std::vector<Group> patterns = copied_back(std::span(v.patterns, patterns_of(part.info())), context.stream);
  const std::vector<A> values = copied_back(std::span(v.values, values_of(part.info())), context.stream);
  WindowPrograms<A> programs(patterns, values, part.cols(), most_windows(v.slice_count));
  std::vector<WindowProgram> of_pair;
  constexpr std::uint64_t at_once = 1U << 16U;
  for (std::uint64_t begin = 0; begin < v.slice_count; begin += at_once) {
    std::vector<Slice> slices =
        copied_back(std::span(v.slices + begin, std::min(at_once, v.slice_count - begin)), context.stream);
    if (slices.size() % 2 != 0) slices.push_back({});  // beside the last one, as if it were empty
    for (std::size_t i = 0; i < slices.size(); i += 2) {
      const auto program = programs.program((begin + i) / 2, slices[i], slices[i + 1]);
      if (!program) return nullptr;
      of_pair.push_back(programs.programs()[*program]);
    }
  }
  std::vector<std::byte> bytes;
  auto result = std::make_unique<DeviceWindows>();
  result->furthest = programs.furthest();
  result->windows = append(bytes, programs.windows());
  result->of_pair = append(bytes, of_pair);
  if (bytes.size() > context.room) return nullptr;
  result->memory = context.allocate(bytes.size());
  require_cuda(
      cudaMemcpyAsync(result->memory.get(), bytes.data(), bytes.size(), cudaMemcpyHostToDevice, context.stream),
      "copying windows");
  require_cuda(cudaStreamSynchronize(context.stream), "copying windows");
  return result;
}

}  // namespace

std::unique_ptr<const DeviceWindows> make_windows(const PartView& part, const LoadContext& context) {
  return dispatch(part.info().value_type, [&]<class A>(A) { return make<A>(part, context); });
}

bool multiply_windows(const DevicePart& part, const DeviceWindows& windows, const MultiplyCall& call) {
  return dispatch_types(part.view.info().value_type, call.description.vectors, [&]<class A, class V>(A, V) {
    if (reinterpret_cast<std::uintptr_t>(call.x) % sizeof(Two<V>) != 0) return false;
    const auto* const memory = static_cast<const std::byte*>(windows.memory.get());
    const WindowTables<A> tables{reinterpret_cast<const Window<A>*>(memory + windows.windows),
                                 reinterpret_cast<const WindowProgram*>(memory + windows.of_pair), windows.furthest};
    const auto rows = static_cast<std::uint32_t>(part.view.rows());
    const auto pairs = static_cast<std::uint32_t>(div_up(part.view.rows(), pair_rows));
    const std::uint64_t resident = std::uint64_t{call.device.multiprocessors} * tuning::windows_blocks;
    const std::uint64_t blocks = std::min(div_up(pairs, tuning::windows_threads / 32), resident);
    launch(windows_kernel<A, V>, static_cast<unsigned>(blocks), tuning::windows_threads, call.stream, tables,
           Extent{pairs, rows, static_cast<std::uint32_t>(part.view.cols())},
           Operands<V>{device_scalar<V>(call.alpha), static_cast<const V*>(call.x), device_scalar<V>(call.beta),
                       static_cast<V*>(call.y), RowMap{call.row_list}});
    return true;
  });
}

}  // namespace spmvpack::gpu_loader::layouts::csell_kernels
