#pragma once
// The groups of a slice as a lane reads them.

#include "kernels/read_once.cuh"
#include "spmvpack/container/layouts/csell.hpp"

namespace spmvpack::gpu_loader::layouts::csell_kernels {

using namespace spmvpack::layouts::csell;  // what the bytes mean

/// Units of a group's words of one byte a step.
inline constexpr std::uint32_t word_units = lanes * group_steps / unit;

/// A lane's words of a group, of one or two bytes a step, as they are stored; with one, y is 0. Loads are predicated: a
/// branch that does anything with what it loads, if only to set y, waits for it, and so do the loads after it.
__device__ __forceinline__ uint2 load_words(const std::byte* words, bool two_bytes, std::uint32_t lane, ReadOnce once) {
  return once.one_or_two(words + lane * (two_bytes ? sizeof(uint2) : sizeof(std::uint32_t)), two_bytes);
}
/// The same, of two bytes a step.
__device__ __forceinline__ uint2 widened(const uint2& words, bool two_bytes) {
  return {__byte_perm(words.x, 0, two_bytes ? 0x3210 : 0x4140),
          __byte_perm(words.x, words.y, two_bytes ? 0x7654 : 0x4342)};
}

/// The ids of a lane's four steps, two to a word, where groups are loaded one at a time: a branch takes fewer registers
/// than load_words(). docs/notebook/GPU.md, "Constants".
__device__ inline uint2 load_ids(const std::byte* ids, std::uint32_t id_bytes, std::uint32_t g, std::uint32_t lane,
                                 ReadOnce once) {
  if (id_bytes == 1) {
    const std::uint32_t word = once(reinterpret_cast<const std::uint32_t*>(ids) + g * lanes + lane);
    return {__byte_perm(word, 0, 0x4140), __byte_perm(word, 0, 0x4342)};
  }
  return once(reinterpret_cast<const uint2*>(ids) + g * lanes + lane);
}

/// Four steps as a lane sees them.
struct LaneGroup {
  std::uint32_t mask[group_steps], column[group_steps];
  /// The others come first then.
  template <int n>
  __device__ __forceinline__ void drop_first() {
#pragma unroll
    for (int k = 0; k + n < static_cast<int>(group_steps); ++k) {
      mask[k] = mask[k + n];
      column[k] = column[k + n];
    }
  }
};

/// The groups of a slice that is_pattern(): most slices of structured matrices. All lanes load the same bytes.
struct PatternWalk {
  struct Loaded {
    uint4 base, mask;
  };
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
  [[nodiscard]] __device__ __forceinline__ Loaded load(std::uint32_t g, std::uint32_t /*lane*/,
                                                       ReadOnce /*once*/) const {
    return {__ldg(header(g)), __ldg(header(g) + 1)};
  }
  [[nodiscard]] __device__ __forceinline__ LaneGroup decode(const Loaded& l, std::uint32_t /*g*/,
                                                            std::uint32_t row) const {
    return {{l.mask.x, l.mask.y, l.mask.z, l.mask.w}, {l.base.x + row, l.base.y + row, l.base.z + row, l.base.w + row}};
  }
};

/// The groups of a slice that has up to 255 of each kind, and none of 32-bit offsets. Places follow from the slice's
/// header and are computed for each load, so that few registers are needed.
struct NarrowWalk {
  struct Loaded {
    uint4 base, mask;
    uint2 words;
  };
  const Group* patterns;
  const std::byte* stream;
  std::uint32_t pattern, stream_place, counts, groups, id_bytes;

  static __device__ bool suits(const Slice& h) { return h.counts >> 24 == 0; }
  __device__ NarrowWalk(const Slice& h, const Group* dictionary, const std::byte* streams, std::uint32_t bytes_of_id)
      : patterns(dictionary),
        stream(streams),
        pattern(h.first_group()),
        stream_place(h.stream),
        counts(h.counts),
        groups((h.counts & 0xFF) + (h.counts >> 8 & 0xFF) + (h.counts >> 16)),
        id_bytes(bytes_of_id) {}

  [[nodiscard]] __device__ std::uint32_t end_pattern() const { return counts & 0xFF; }
  [[nodiscard]] __device__ std::uint32_t end_8() const { return groups - (counts >> 16); }
  [[nodiscard]] __device__ const std::byte* at(std::uint32_t place) const {
    return stream + std::uint64_t{stream_place + place} * unit;
  }
  /// Those of a group that is not a pattern; or the end of all.
  [[nodiscard]] __device__ const std::byte* words(std::uint32_t g) const {
    return at(groups - end_pattern() + word_units * (g - end_pattern() + (g - min(g, end_8()))));
  }
  [[nodiscard]] __device__ const std::byte* ids() const { return words(groups); }
  [[nodiscard]] __device__ const uint4* header(std::uint32_t g) const {
    return g < end_pattern() ? reinterpret_cast<const uint4*>(patterns + (pattern + g))
                             : reinterpret_cast<const uint4*>(at(g - end_pattern()));
  }
  [[nodiscard]] __device__ __forceinline__ Loaded load(std::uint32_t g, std::uint32_t lane, ReadOnce once) const {
    const uint4* const at_group = header(g);
    Loaded l{__ldg(at_group), __ldg(at_group + 1), {}};
    if (g >= end_pattern()) l.words = load_words(words(g), g >= end_8(), lane, once);
    return l;
  }
  [[nodiscard]] __device__ __forceinline__ LaneGroup decode(const Loaded& l, std::uint32_t g, std::uint32_t row) const {
    const uint2 offsets = widened(l.words, g >= end_8());
    const std::uint32_t by = g < end_pattern() ? row : 0;
    return {{l.mask.x, l.mask.y, l.mask.z, l.mask.w},
            {l.base.x + by + (offsets.x & 0xFFFF), l.base.y + by + (offsets.x >> 16),
             l.base.z + by + (offsets.y & 0xFFFF), l.base.w + by + (offsets.y >> 16)}};
  }
};

/// The groups of any slice.
struct AnyWalk {
  struct Loaded {
    uint4 base, mask, words;
  };
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
  [[nodiscard]] __device__ Loaded load(std::uint32_t g, std::uint32_t lane, ReadOnce once) const {
    const uint4* const at_group = header(g);
    Loaded l{__ldg(at_group), __ldg(at_group + 1), {}};
    if (g >= end_16) {
      const std::uint32_t place = words + word_units * (end_8 - end_pattern + 2 * (end_16 - end_8) + 4 * (g - end_16));
      l.words = once(reinterpret_cast<const uint4*>(at(place)) + lane);
    } else if (g >= end_pattern) {
      const std::uint32_t place = words + word_units * (g - end_pattern + (g - min(g, end_8)));
      const uint2 narrow = load_words(at(place), g >= end_8, lane, once);
      l.words = {narrow.x, narrow.y, 0, 0};
    }
    return l;
  }
  [[nodiscard]] __device__ LaneGroup decode(const Loaded& l, std::uint32_t g, std::uint32_t row) const {
    uint4 offset = l.words;
    if (g < end_16) {
      const uint2 pairs = widened({l.words.x, l.words.y}, g >= end_8);
      offset = {pairs.x & 0xFFFF, pairs.x >> 16, pairs.y & 0xFFFF, pairs.y >> 16};
    }
    const std::uint32_t by = g < end_pattern ? row : 0;
    return {{l.mask.x, l.mask.y, l.mask.z, l.mask.w},
            {l.base.x + by + offset.x, l.base.y + by + offset.y, l.base.z + by + offset.z, l.base.w + by + offset.w}};
  }
};

}  // namespace spmvpack::gpu_loader::layouts::csell_kernels
