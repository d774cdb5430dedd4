#pragma once
// The groups of a slice as a lane reads them.

#include "spmvpack/container/layouts/csell.hpp"

namespace spmvpack::gpu_loader::layouts::csell_kernels {

using namespace spmvpack::layouts::csell;  // what the bytes mean

/// Units of a group's words of one byte a step.
inline constexpr std::uint32_t word_units = lanes * group_steps / unit;

/// Four steps as a lane sees them.
struct LaneGroup {
  std::uint32_t mask[group_steps], column[group_steps];
};

/// The ids of a lane's four steps, two to a word.
__device__ inline uint2 load_ids(const std::byte* ids, std::uint32_t id_bytes, std::uint32_t g, std::uint32_t lane) {
  if (id_bytes == 1) {
    const std::uint32_t word = __ldcs(reinterpret_cast<const std::uint32_t*>(ids) + g * lanes + lane);
    return {__byte_perm(word, 0, 0x4140), __byte_perm(word, 0, 0x4342)};
  }
  return __ldcs(reinterpret_cast<const uint2*>(ids) + g * lanes + lane);
}

/// The groups of a slice that is_pattern(): most slices of structured matrices. All lanes load the same bytes.
struct PatternWalk {
  const Group* patterns;
  const std::byte* stream;
  std::uint32_t stream_place, pattern, groups, id_bytes;

  __device__ PatternWalk(const Slice& h, const Group* dictionary, const std::byte* streams, std::uint32_t bytes_of_id)
      : patterns(dictionary),
        stream(streams),
        stream_place(h.stream),
        pattern(h.first_group()),
        groups(h.counts),
        id_bytes(bytes_of_id) {}

  [[nodiscard]] __device__ const std::byte* ids() const { return stream + std::uint64_t{stream_place} * unit; }
  [[nodiscard]] __device__ const uint4* header(std::uint32_t g) const {
    return reinterpret_cast<const uint4*>(patterns + (pattern + g));
  }
  [[nodiscard]] __device__ LaneGroup load(std::uint32_t g, std::uint32_t /*lane*/, std::uint32_t row) const {
    const uint4 base = __ldg(header(g)), mask = __ldg(header(g) + 1);
    return {{mask.x, mask.y, mask.z, mask.w}, {base.x + row, base.y + row, base.z + row, base.w + row}};
  }
};

/// The groups of any slice. Addresses follow from the header alone, so that all loads of a group are on their way at
/// the same time; they are computed for each load from places in units, so that few registers are needed.
struct AnyWalk {
  const Group* patterns;
  const std::byte* stream;
  std::uint32_t pattern, headers, words;             ///< places: of the first group of each, and of all words
  std::uint32_t end_pattern, end_8, end_16, groups;  ///< where the groups of each kind of columns end
  std::uint32_t id_bytes;

  __device__ AnyWalk(const Slice& h, const Group* dictionary, const std::byte* streams, std::uint32_t bytes_of_id)
      : patterns(dictionary), stream(streams), pattern(h.first_group()), id_bytes(bytes_of_id) {
    const bool many = h.counts == SliceGroups::many;
    const SliceGroups n = many ? *reinterpret_cast<const SliceGroups*>(at(h.stream)) : SliceGroups::from(h.counts);
    end_pattern = n.of[0];
    end_8 = end_pattern + n.of[1];
    end_16 = end_8 + n.of[2];
    groups = end_16 + n.of[3];
    headers = h.stream + (many ? 1 : 0);
    words = headers + (groups - end_pattern);
  }
  [[nodiscard]] __device__ const std::byte* at(std::uint32_t place) const {
    return stream + std::uint64_t{place} * unit;
  }
  [[nodiscard]] __device__ const std::byte* ids() const {
    return at(words + word_units * (end_8 - end_pattern + 2 * (end_16 - end_8) + 4 * (groups - end_16)));
  }
  [[nodiscard]] __device__ const uint4* header(std::uint32_t g) const {
    return g < end_pattern ? reinterpret_cast<const uint4*>(patterns + (pattern + g))
                           : reinterpret_cast<const uint4*>(at(headers + (g - end_pattern)));
  }
  [[nodiscard]] __device__ LaneGroup load(std::uint32_t g, std::uint32_t lane, std::uint32_t row) const {
    const uint4 base = __ldg(header(g)), mask = __ldg(header(g) + 1);
    LaneGroup r{{mask.x, mask.y, mask.z, mask.w}, {base.x, base.y, base.z, base.w}};
    if (g < end_pattern) {
#pragma unroll
      for (auto& column : r.column) column += row;
    } else if (g < end_8) {
      const std::uint32_t place = words + word_units * (g - end_pattern);
      const std::uint32_t word = __ldcs(reinterpret_cast<const std::uint32_t*>(at(place)) + lane);
#pragma unroll
      for (std::uint32_t k = 0; k < group_steps; ++k) r.column[k] += word >> 8 * k & 0xFF;
    } else if (g < end_16) {
      const std::uint32_t place = words + word_units * (end_8 - end_pattern + 2 * (g - end_8));
      const uint2 word = __ldcs(reinterpret_cast<const uint2*>(at(place)) + lane);
      r.column[0] += word.x & 0xFFFF;
      r.column[1] += word.x >> 16;
      r.column[2] += word.y & 0xFFFF;
      r.column[3] += word.y >> 16;
    } else {
      const std::uint32_t place = words + word_units * (end_8 - end_pattern + 2 * (end_16 - end_8) + 4 * (g - end_16));
      const uint4 word = __ldcs(reinterpret_cast<const uint4*>(at(place)) + lane);
      r.column[0] += word.x;
      r.column[1] += word.y;
      r.column[2] += word.z;
      r.column[3] += word.w;
    }
    return r;
  }
};

}  // namespace spmvpack::gpu_loader::layouts::csell_kernels
