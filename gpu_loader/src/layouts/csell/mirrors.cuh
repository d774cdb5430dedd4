#pragma once
// The sums of a slice whose values are in slots, each of which serves two rows. docs/LAYOUTS.md, "csell".

#include "layouts/csell/tuning.cuh"
#include "layouts/csell/walks.cuh"

namespace spmvpack::gpu_loader::layouts::csell_kernels {

/// The sums of a lane's rows over the groups `first`, first + every, ... of a slice whose slots begin at unit `slots`.
/// Masks of all steps seen go to `seen`. A mirror's slot begins where the slice of its column says: those of a group's
/// steps are loaded together, and so are the values and elements of x of a batch of steps. Values are read twice, so
/// they stay in the second-level cache as long as it has room, and out of the first, which is x's.
template <class K, class A, class V, class Walk>
__device__ void mirror_sums(const View<A>& v, const Walk& walk, std::uint32_t slots, std::uint32_t first,
                            std::uint32_t every, std::uint32_t row, const V* __restrict__ x, ReadOnce once,
                            V (&sum)[K::block], std::uint32_t& seen) {
  constexpr int steps = static_cast<int>(group_steps), block = K::block, block_values = block * block;
  constexpr int batch = K::policy.batch;
  const std::uint32_t lane = threadIdx.x % 32;
  const bool skew = v.source == Source::skew;
  for (std::uint32_t g = first; g < walk.groups; g += every) {
    const LaneGroup group = walk.decode(walk.load(g, lane, once), g, row);
    const uint2 pairs = walk.id_bytes == 0 ? __ldg(reinterpret_cast<const uint2*>(v.references) + (walk.pattern + g))
                                           : load_ids(walk.ids(), walk.id_bytes, g, lane, once);
    const Reference references[steps] = {{pairs.x & 0xFFFF}, {pairs.x >> 16}, {pairs.y & 0xFFFF}, {pairs.y >> 16}};
    std::uint32_t units[steps];
#pragma unroll
    for (int k = 0; k < steps; ++k) {
      seen |= group.mask[k];
      const bool is_mirror = (group.mask[k] >> lane & 1U) != 0 && references[k].is_mirror();
      units[k] = is_mirror ? __ldg(&v.slices[group.column[k] / lanes].values) : slots;
    }
#pragma unroll
    for (int begin = 0; begin < steps; begin += batch) {
      if (group.mask[begin] == 0) break;
      V value[batch][block_values], element[batch][block];
#pragma unroll
      for (int i = 0; i < batch; ++i) {
        const int k = begin + i;
        const bool on = (group.mask[k] >> lane & 1U) != 0, is_mirror = references[k].is_mirror();
        const std::uint32_t owner = is_mirror ? group.column[k] : row;
        const A* const from = v.values + (std::uint64_t{units[k]} * (unit / sizeof(A)) +
                                          references[k].slot() * (block_values * lanes) + owner % lanes);
        const V* const elements = x + std::uint64_t{group.column[k]} * block;
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
        if ((group.mask[k] >> lane & 1U) == 0) continue;
        const bool is_mirror = references[k].is_mirror();
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
