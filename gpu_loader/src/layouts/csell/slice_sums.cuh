#pragma once
// The sums of a slice's rows, whose values are in the order of the steps, in a table, in the dictionary, or one.
// docs/LAYOUTS.md, "csell", defines the order of additions.

#include <cstdint>
#include <type_traits>

#include "layouts/csell/tuning.cuh"
#include "layouts/csell/walks.cuh"

namespace spmvpack::gpu_loader::layouts::csell_kernels {

using tuning::SliceKernel, tuning::Size;

/// What is known of a slice's sums as their kernel is compiled. `one_group`: groups are loaded one at a time, whatever
/// the kernel's depth is.
template <class K, bool one_group>
struct SumsPolicy {
  static constexpr Source source = K::source;
  static constexpr int block = K::block, block_values = block * block;
  static constexpr int steps = static_cast<int>(group_steps);  ///< of a group
  static constexpr bool raw = source == Source::raw;
  /// Where raw values begin follows from the masks of all groups before: they are added up as the warp goes, or, with
  /// scan, for 32 groups at once, so that no group waits for the masks of another.
  static constexpr bool scan = raw && K::size == Size::few, running = raw && !scan;
  /// Groups that are loaded together, and how many of their steps are.
  static constexpr int depth = one_group ? 1 : K::policy.depth;
  static constexpr int batch = K::policy.batch / (K::policy.depth / depth);
  static_assert(depth * steps % batch == 0);
  /// Steps that some lanes lack are added up in smaller batches, as more has to be known of each.
  static constexpr int uneven_batch = K::size == Size::any && batch > steps ? steps : batch;
  /// The batches of a group of blocks are added up by one loop, each as the first one of the group. That is less code,
  /// which cold multiplies read, too, and fewer registers spill. If values are in patterns or all one, what it moves
  /// costs more than that gains. docs/notebook/GPU.md, "Constants".
  static constexpr bool in_turn = raw && K::block > 1 && batch < steps;
  /// Values are near, and read when the elements of x have come, so that no registers hold them until then.
  static constexpr bool late = source == Source::table;
  /// Steps that all lanes have are added up by code for each multiple of this number. Code for each number, 1 to 16,
  /// makes some cold multiplies far slower, presumably because instructions are loaded again; code for 16 alone makes
  /// all a little slower. docs/notebook/GPU.md, "Constants".
  static constexpr int rounded = batch > 8 ? 8 : 1;
};

__device__ inline std::uint32_t entries_of(const uint4& masks) {
  return static_cast<std::uint32_t>(__popc(masks.x) + __popc(masks.y) + __popc(masks.z) + __popc(masks.w));
}

/// Entries of the groups [begin, end), as far as there are so many.
template <class Walk>
__device__ std::uint32_t entries_of(const Walk& walk, std::uint32_t begin, std::uint32_t end) {
  std::uint32_t n = 0;
  for (std::uint32_t g = begin; g < end && g < walk.groups; ++g) n += entries_of(__ldg(walk.header(g) + 1));
  return n;
}

/// For each lane, the sum of n over the lanes before.
__device__ inline std::uint32_t exclusive_sum(std::uint32_t n, std::uint32_t lane) {
  std::uint32_t sum = n;
#pragma unroll
  for (unsigned by = 1; by < 32; by *= 2) {
    const std::uint32_t other = __shfl_up_sync(~0U, sum, by);
    if (lane >= by) sum += other;
  }
  return sum - n;
}

/// Adds steps of a lane, those that it has: all their loads from device memory are on their way together. `late`: see
/// SumsPolicy.
template <int steps, int block, bool late, class V, class Has, class Columns, class Values>
__device__ void add_steps(const V* __restrict__ x, V (&sum)[block], Has&& has, Columns&& columns, Values&& values) {
  V value[steps][block * block], element[steps][block];
#pragma unroll
  for (int i = 0; i < steps; ++i) {
    const bool on = has(i);
    const V* const elements = x + std::uint64_t{columns(i)} * block;
#pragma unroll
    for (int e = 0; e < block * block; ++e) value[i][e] = on && !late ? values(i, e) : V{0};
#pragma unroll
    for (int c = 0; c < block; ++c) element[i][c] = on ? __ldg(elements + c) : V{0};
  }
  __syncwarp();  // as issue_loads(); all lanes are here
#pragma unroll
  for (int i = 0; i < steps; ++i) {
    if (!has(i)) continue;
#pragma unroll
    for (int e = 0; e < block * block; ++e) {
      const V factor = late ? values(i, e) : value[i][e];
      sum[e / block] = fma(factor, element[i][e % block], sum[e / block]);
    }
  }
}

/// Calls f with n, from 1 to `most`, rounded up to a multiple of `by`, as a constant.
template <int most, int by, class Function>
__device__ void with_constant(std::uint32_t n, Function&& f) {
  static_assert(most % by == 0);
  if constexpr (most > by) {
    if (n <= most - by) return with_constant<most - by, by>(n, f);
  }
  f(std::integral_constant<int, most>{});
}

/// For each lane, the entries of the groups [begin, begin + lane).
template <class Walk>
__device__ __forceinline__ std::uint32_t entries_before(const Walk& walk, std::uint32_t begin, std::uint32_t lane) {
  const std::uint32_t at = begin + lane;
  return exclusive_sum(at < walk.groups ? entries_of(__ldg(walk.header(at) + 1)) : 0, lane);
}

/// A lane's ids in the steps of groups that are loaded together, by value of the block.
template <class P>
using LaneIds = uint2[P::depth][P::source == Source::table ? P::block_values : 1];

/// Loads groups g, g + every, ..., as far as there are so many. `of_group`: raw: where the values of each begin, from
/// the `before` entries of its lane on; step: those of its steps.
template <class P, class Walk, class Table>
__device__ __forceinline__ void load_groups(const Walk& walk, std::uint32_t g, std::uint32_t every, std::uint32_t lane,
                                            std::uint32_t row, const Table* values, std::uint32_t before, ReadOnce once,
                                            LaneGroup (&group)[P::depth], LaneIds<P>& ids,
                                            const Table* (&of_group)[P::depth]) {
  typename Walk::Loaded loaded[P::depth];
#pragma unroll
  for (int d = 0; d < P::depth; ++d) {
    const std::uint32_t at = g + d * every;
    loaded[d] = {};
    for (auto& of_element : ids[d]) of_element = {};
    if (d == 0 || at < walk.groups) {
      loaded[d] = walk.load(at, lane, once);
      if constexpr (P::source == Source::table) {
#pragma unroll
        for (int e = 0; e < P::block_values; ++e) {
          const std::uint32_t of_element = at * P::block_values + static_cast<std::uint32_t>(e);
          ids[d][e] = P::depth == 1 ? load_ids(walk.ids(), walk.id_bytes, of_element, lane, once)
                                    : load_words(walk.ids() + ids_begin(of_element, walk.id_bytes), walk.id_bytes != 1,
                                                 lane, once);
        }
      }
    }
  }
#pragma unroll
  for (int d = 0; d < P::depth; ++d) {  // when all loads are on their way
    const std::uint32_t at = g + d * every;
    group[d] = walk.decode(loaded[d], at, row);
    if constexpr (P::source == Source::table && P::depth != 1) {
#pragma unroll
      for (auto& of_element : ids[d]) of_element = widened(of_element, walk.id_bytes != 1);
    }
    of_group[d] = values;
    if constexpr (P::scan) of_group[d] += __shfl_sync(~0U, before, at) * P::block_values;
    if constexpr (P::source == Source::step) of_group[d] += at * (group_steps * P::block_values);
  }
}

/// A lane's entry in step `step` of the group that is number `group` of those that are loaded. There are `before`
/// entries, in all lanes, between the origin of its StepBatch and the step, which has n; it is number `rank` of them.
struct StepEntry {
  int group, step;
  std::uint32_t before, n, rank;
};

/// Steps of the groups that are loaded: P::batch from step `begin` on. Neither ids nor `of_group` are members, of this
/// or of another structure: nvcc then computes addresses another way, with other registers and spills.
template <class P, class V, int steps_of_batch>
struct StepBatch {
  const LaneGroup (&group)[P::depth];
  int begin;
  std::uint32_t lane, below;  ///< below: the bits of the lanes before

  [[nodiscard]] __device__ __forceinline__ std::uint32_t mask(int i) const {
    return group[(begin + i) / P::steps].mask[(begin + i) % P::steps];
  }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t entries(int i) const {
    return static_cast<std::uint32_t>(__popc(mask(i)));
  }
  [[nodiscard]] __device__ __forceinline__ std::uint32_t column(int i) const {
    return group[(begin + i) / P::steps].column[(begin + i) % P::steps];
  }
  /// The step from which entries before step i are counted: the batch's first one; with scan, the first of its group,
  /// which may be before.
  [[nodiscard]] __device__ __forceinline__ int origin(int i) const {
    return P::scan && !P::in_turn ? (begin + i) / P::steps * P::steps - begin : 0;
  }
  /// Entries of the group before the batch.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t before() const {
    std::uint32_t n = 0;
#pragma unroll
    for (int k = origin(0); k < 0; ++k) n += entries(k);
    return n;
  }
  /// Entry of step i, before which there are `before` entries: number `rank` of the step's n.
  [[nodiscard]] __device__ __forceinline__ StepEntry entry(int i, std::uint32_t before, std::uint32_t n,
                                                           std::uint32_t rank) const {
    return {(begin + i) / P::steps, (begin + i) % P::steps, before, n, rank};
  }
  /// Which lanes have the steps.
  struct Shape {
    std::uint32_t uneven;  ///< up to 1: all lanes have each of the first n steps, and none a later one
    std::uint32_t n;       ///< steps that any lane has, if so
  };
  [[nodiscard]] __device__ __forceinline__ Shape shape() const {
    Shape s{};
#pragma unroll
    for (int i = 0; i < steps_of_batch; ++i) {
      s.uneven |= mask(i) + 1;
      if (i % P::steps == 0 && i != 0) s.uneven |= ~mask(i - 1) & mask(i);  // a group that is not full
      s.n -= mask(i);                                                       // 0 or ~0, which is -1
    }
    return s;
  }
  /// Lanes with an entry in any of the steps.
  [[nodiscard]] __device__ __forceinline__ std::uint32_t any() const {
    std::uint32_t lanes_seen = 0;
#pragma unroll
    for (int i = 0; i < steps_of_batch; ++i) lanes_seen |= mask(i);
    return lanes_seen;
  }

  /// Adds n steps that all lanes have: little has to be computed. `before_batch`: entries since the origin.
  template <class Value>
  __device__ __forceinline__ void add_full(std::uint32_t n, std::uint32_t before_batch, const V* x, V (&sum)[P::block],
                                           Value&& value) const {
    constexpr int by = P::rounded;
    with_constant<steps_of_batch, by>(n, [&]<int steps_here>(std::integral_constant<int, steps_here>) {
      add_steps<steps_here, P::block, P::late>(
          x, sum, [&](int i) { return i <= steps_here - by || static_cast<std::uint32_t>(i) < n; },
          [&](int i) { return column(i); },
          [&](int i, int e) {
            const int since = origin(i) < 0 ? i : i - origin(i);
            const std::uint32_t before = (origin(i) < 0 ? before_batch : 0) + static_cast<std::uint32_t>(since) * lanes;
            return value(entry(i, before, lanes, lane), e);
          });
    });
  }
  /// Adds steps that some lanes have. Returns the entries since the origin.
  template <class Value>
  __device__ __forceinline__ std::uint32_t add_uneven(std::uint32_t before_batch, const V* x, V (&sum)[P::block],
                                                      Value&& value) const {
    std::uint32_t before[steps_of_batch];  // entries since the origin
#pragma unroll
    for (int i = 0; i < steps_of_batch; ++i) {
      before[i] = i == 0 ? before_batch : 0;
      if (i != 0 && i != origin(i)) before[i] = before[i - 1] + entries(i - 1);
    }
    add_steps<steps_of_batch, P::block, P::late>(
        x, sum, [&](int i) { return (mask(i) >> lane & 1U) != 0; }, [&](int i) { return column(i); },
        [&](int i, int e) {
          return value(entry(i, before[i], entries(i), static_cast<std::uint32_t>(__popc(mask(i) & below))), e);
        });
    return before[steps_of_batch - 1] + entries(steps_of_batch - 1);
  }
};

/// What the values of groups are counted from as a warp goes through them: of raw ones, the first that is not passed
/// (running), or that of the 32 groups that are scanned; of the other sources it stays.
template <class P, class Walk, class Table>
struct ValueCursor {
  const Walk& walk;
  std::uint32_t lane;
  const Table* values;
  std::uint32_t scanned = 0, before_group = 0;  ///< groups that have been; entries_before() of the last 32

  /// On to what follows so many entries.
  __device__ __forceinline__ void pass(std::uint32_t entries) {
    if constexpr (P::running) values += entries * P::block_values;
  }
  /// The groups [begin, end), which are other warps'.
  __device__ __forceinline__ void pass_groups(std::uint32_t begin, std::uint32_t end) {
    if constexpr (P::running) {
      if (begin != end) pass(entries_of(walk, begin, end));
    }
  }
  /// On to the 32 groups of which g is one, and to where their values begin.
  __device__ __forceinline__ void reach(std::uint32_t g) {
    if constexpr (P::scan) {
      if (g < scanned) return;
      if (scanned != 0)
        values += __shfl_sync(~0U, before_group + entries_of(__ldg(walk.header(scanned - 32 + lane) + 1)), 31) *
                  P::block_values;
      before_group = entries_before(walk, scanned, lane);
      scanned += 32;
    }
  }
};

/// The sums of a lane's rows over the groups `first`, first + every, ... of a slice. `values`: raw: the slice's; table:
/// the tile's table; step: of the slice's first pattern; single: the value. Masks of all steps seen go to `seen`. P: a
/// SumsPolicy.
template <class P, class V, class Walk, class Table>
__device__ void slice_sums(const Walk& walk, std::uint32_t first, std::uint32_t every, std::uint32_t row,
                           const Table* __restrict__ values, const V* __restrict__ x, ReadOnce once, V (&sum)[P::block],
                           std::uint32_t& seen) {
  const std::uint32_t lane = threadIdx.x % 32, below = (1U << lane) - 1;
  V single = 0;
  if constexpr (P::source == Source::single) single = static_cast<V>(__ldg(values));
  ValueCursor<P, Walk, Table> at{walk, lane, values};
  at.pass_groups(0, first);
  for (std::uint32_t g = first; g < walk.groups; g += P::depth * every) {
    at.reach(g);
    LaneGroup group[P::depth];
    LaneIds<P> ids;
    const Table* of_group[P::depth];
    load_groups<P>(walk, g, every, lane, row, at.values, at.before_group, once, group, ids, of_group);
    const auto value = [&](const StepEntry& entry, int e) -> V {
      const int d = entry.group, k = entry.step;
      if constexpr (P::raw) {
        return static_cast<V>(
            once((P::scan ? of_group[d] : at.values) + (entry.before * P::block_values + e * entry.n + entry.rank)));
      } else if constexpr (P::source == Source::table) {
        const std::uint32_t pair = k < 2 ? ids[d][e].x : ids[d][e].y;
        return static_cast<V>(at.values[k % 2 == 0 ? pair & 0xFFFF : pair >> 16]);
      } else if constexpr (P::source == Source::step) {
        return static_cast<V>(__ldg(of_group[d] + (k * P::block_values + e)));
      } else {
        return single;
      }
    };
    if constexpr (P::in_turn) {
#pragma unroll 1
      for (int left = P::steps; left > 0 && group[0].mask[0] != 0; left -= P::batch) {
        const StepBatch<P, V, P::batch> batch{group, 0, lane, below};
        const auto shape = batch.shape();
        std::uint32_t entries = shape.n * lanes;
        if (shape.uneven <= 1) {
          seen = ~0U;
          batch.add_full(shape.n, 0, x, sum, value);
        } else {
          seen |= batch.any();
          entries = batch.add_uneven(0, x, sum, value);
        }
        if constexpr (P::scan) of_group[0] += entries * P::block_values;
        at.pass(entries);
        group[0].template drop_first<P::batch>();
      }
    } else {
#pragma unroll
      for (int begin = 0; begin < P::depth * P::steps; begin += P::batch) {
        const StepBatch<P, V, P::batch> batch{group, begin, lane, below};
        if (begin != 0 && batch.mask(0) == 0) continue;
        const auto shape = batch.shape();
        if (shape.uneven <= 1) {
          seen = ~0U;
          batch.add_full(shape.n, batch.before(), x, sum, value);
          at.pass(shape.n * lanes);
          continue;
        }
        seen |= batch.any();
#pragma unroll
        for (int part = 0; part < P::batch; part += P::uneven_batch) {
          const StepBatch<P, V, P::uneven_batch> some{group, begin + part, lane, below};
          at.pass(some.add_uneven(some.before(), x, sum, value));
        }
      }
    }
    at.pass_groups(g + 1, g + every);
  }
}

}  // namespace spmvpack::gpu_loader::layouts::csell_kernels
