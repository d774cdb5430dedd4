#pragma once
// The sums of a slice whose values are in slots, each of which serves two rows. docs/LAYOUTS.md, "csell".

#include "layouts/csell/tuning.cuh"
#include "layouts/csell/walks.cuh"

namespace spmvpack::gpu_loader::layouts::csell_kernels {

/// Four steps of a lane whose values are in slots.
struct ReferencedGroup {
  static constexpr int steps = static_cast<int>(group_steps);
  LaneGroup group;
  Reference references[steps];
  std::uint32_t lane, row;
  std::uint32_t slots[steps];  ///< of the slice that has the entry's value: the unit at which they begin

  /// Group g of a slice whose own slots begin at `own`. Those of mirrors are loaded together.
  template <class A, class Walk>
  __device__ __forceinline__ ReferencedGroup(const View<A>& v, const Walk& walk, std::uint32_t g, std::uint32_t own,
                                             std::uint32_t of_lane, std::uint32_t of_row, ReadOnce once)
      : group(walk.decode(walk.load(g, of_lane, once), g, of_row)), lane(of_lane), row(of_row) {
    const uint2 pairs = walk.id_bytes == 0 ? __ldg(reinterpret_cast<const uint2*>(v.references) + (walk.pattern + g))
                                           : load_ids(walk.ids(), walk.id_bytes, g, lane, once);
    references[0] = {pairs.x & 0xFFFF};
    references[1] = {pairs.x >> 16};
    references[2] = {pairs.y & 0xFFFF};
    references[3] = {pairs.y >> 16};
#pragma unroll
    for (int k = 0; k < steps; ++k)
      slots[k] = has(k) && is_mirror(k) ? __ldg(&v.slices[group.column[k] / lanes].values) : own;
  }
  [[nodiscard]] __device__ __forceinline__ bool has(int k) const { return (group.mask[k] >> lane & 1U) != 0; }
  [[nodiscard]] __device__ __forceinline__ bool is_mirror(int k) const { return references[k].is_mirror(); }
  /// The first value of the entry's block; others are `lanes` apart.
  template <int block_values, class A>
  [[nodiscard]] __device__ __forceinline__ const A* values(const View<A>& v, int k) const {
    const std::uint32_t owner = is_mirror(k) ? group.column[k] : row;
    return v.values + (std::uint64_t{slots[k]} * (unit / sizeof(A)) + references[k].slot() * (block_values * lanes) +
                       owner % lanes);
  }
};

/// The sums of a lane's rows over the groups `first`, first + every, ... of a slice whose slots begin at unit `slots`.
/// Masks of all steps seen go to `seen`. A mirror's slot begins where the slice of its column says: those of a group's
/// steps are loaded together, and so are the values and elements of x of a batch of steps. Values are read twice, so
/// they stay in the second-level cache as long as it has room, and out of the first, which is x's.
template <class K, class A, class V, class Walk>
__device__ void mirror_sums(const View<A>& v, const Walk& walk, std::uint32_t slots, std::uint32_t first,
                            std::uint32_t every, std::uint32_t row, const V* __restrict__ x, ReadOnce once,
                            V (&sum)[K::block], std::uint32_t& seen) {
  constexpr int block = K::block, block_values = block * block, batch = K::policy.batch;
  const std::uint32_t lane = threadIdx.x % 32;
  const bool skew = v.source == Source::skew;
  for (std::uint32_t g = first; g < walk.groups; g += every) {
    const ReferencedGroup group(v, walk, g, slots, lane, row, once);
#pragma unroll
    for (const std::uint32_t mask : group.group.mask) seen |= mask;
#pragma unroll
    for (int begin = 0; begin < ReferencedGroup::steps; begin += batch) {
      if (group.group.mask[begin] == 0) break;
      V value[batch][block_values], element[batch][block];
#pragma unroll
      for (int i = 0; i < batch; ++i) {
        const int k = begin + i;
        const bool on = group.has(k);
        const A* const from = group.template values<block_values>(v, k);
        const V* const elements = x + std::uint64_t{group.group.column[k]} * block;
#pragma unroll
        for (int e = 0; e < block_values; ++e)
          value[i][e] = on ? static_cast<V>(__ldcg(from + e * static_cast<int>(lanes))) : V{0};
#pragma unroll
        for (int c = 0; c < block; ++c) element[i][c] = on ? __ldg(elements + c) : V{0};
      }
      __syncwarp();  // all loads before the first sum: see issue_loads()
#pragma unroll
      for (int i = 0; i < batch; ++i) {
        const int k = begin + i;
        if (!group.has(k)) continue;
        const bool is_mirror = group.is_mirror(k);
#pragma unroll
        for (int e = 0; e < block_values; ++e) {
          const int r = e / block, c = e % block;
          const V factor = is_mirror ? value[i][c * block + r] : value[i][e];
          sum[r] = fma(is_mirror && skew ? -factor : factor, element[i][c], sum[r]);
        }
      }
    }
  }
}

}  // namespace spmvpack::gpu_loader::layouts::csell_kernels
