#pragma once
// Slices of csell by AVX-512: eight lanes at a time, whatever the masks say; a lane without an entry reads element 0 of
// x and of its table, which are there if any lane has an entry. Not for raw values, which are packed: one by one, in
// the order in which they are stored, they come no later.

#include <immintrin.h>

#include <array>
#include <bit>
#include <type_traits>

#include "layouts/csell/sums.hpp"
#include "layouts/eight_lanes.hpp"

namespace spmvpack::host_loader::layouts::csell_v4 {

using namespace spmvpack::layouts::csell;  // what the bytes mean

// GCC 12 takes what its own header leaves undefined on purpose for a mistake (GCC bug 105593).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

/// The numbers, of `bytes` each, that eight lanes have for a group: its group_steps side by side.
template <std::uint32_t bytes>
struct EightWords {
  __m512i first, second;
  SPMVPACK_INLINE_V4 static EightWords load(const std::byte* p) {
    EightWords words;
    if constexpr (bytes == 1)
      words.first = _mm512_zextsi256_si512(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
    else
      words.first = _mm512_loadu_si512(p);
    words.second = bytes == 4 ? _mm512_loadu_si512(p + 64) : words.first;
    return words;
  }
  [[nodiscard]] SPMVPACK_INLINE_V4 __m256i of_step(std::uint32_t k) const {
    if constexpr (bytes == 1) {
      const __m256i right = _mm256_srl_epi32(_mm512_castsi512_si256(first), _mm_cvtsi32_si128(static_cast<int>(8 * k)));
      return _mm256_and_si256(right, _mm256_set1_epi32(0xFF));
    } else if constexpr (bytes == 2) {
      const __m512i right = _mm512_maskz_srl_epi64(0xFF, first, _mm_cvtsi32_si128(static_cast<int>(16 * k)));
      return _mm512_maskz_cvtepi64_epi32(0xFF, _mm512_and_si512(right, _mm512_set1_epi64(0xFFFF)));
    } else {
      const __m512i places = _mm512_add_epi32(_mm512_set_epi32(0, 0, 0, 0, 0, 0, 0, 0, 28, 24, 20, 16, 12, 8, 4, 0),
                                              _mm512_set1_epi32(static_cast<int>(k)));
      return _mm512_castsi512_si256(_mm512_permutex2var_epi32(first, places, second));
    }
  }
};

/// Entries are streams of short pieces: what comes is fetched so far ahead.
constexpr std::size_t ahead_bytes = 2048;
SPMVPACK_INLINE void prefetch_ahead(const void* p, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += cache_line) prefetch(p, ahead_bytes + i);
}

/// A slice's sums.
template <Source source, class A, class V>
struct SliceSums {
  using Eight = EightOf<V>;
  static constexpr std::uint32_t together = 8;

  const SliceView& slice;
  const V* x;
  const A* values;  ///< the table; of the slice's first step; the only one
  std::uint32_t row, sum_count;
  std::uint32_t first_lane, last_lane;  ///< those that are added up
  std::uint64_t group_index = 0;
  std::uint32_t has_entries = 0;
  alignas(cache_line) std::array<Sums<1, V>, max_sums> sums{};

  /// The next `count` groups, whose columns have `width` bytes, or are those of patterns: 0. `ids`: bytes of an id.
  template <std::uint32_t width, std::uint32_t id_bytes>
  SPMVPACK_INLINE_V4 void add(std::uint64_t count, const Group* group, const std::byte* words) {
    using Id = std::conditional_t<id_bytes == 1, std::uint8_t, std::uint16_t>;
    constexpr std::uint32_t slots = lanes * group_steps;
    for (const Group* const end = group + count; group != end; ++group, ++group_index, words += slots * width) {
      const Id* ids = nullptr;  // without a table, there may be no stream
      if constexpr (source == Source::table)
        ids = reinterpret_cast<const Id*>(slice.stream + slice.at.ids * unit) + group_index * slots;
      if constexpr (width != 0) prefetch_ahead(words, slots * width);
      if constexpr (source == Source::table) prefetch_ahead(ids, slots * id_bytes);
      V* const mine = sums[group_index % sum_count][0].data();
      for (const std::uint32_t mask : group->mask) has_entries |= mask;
      for (std::uint32_t lane = first_lane; lane < last_lane; lane += together) {
        EightWords<width == 0 ? 1 : width> offsets;
        if constexpr (width != 0) offsets = offsets.load(words + lane * group_steps * width);
        Eight sum = Eight::load(mine + lane, 0xFF);
#pragma GCC unroll 4  // shifts by constants
        for (std::uint32_t k = 0; k < group_steps; ++k) {
          const auto mask = static_cast<__mmask8>(group->mask[k] >> lane);
          if (mask == 0) continue;
          Eight element, value;
          const std::uint32_t base = group->base[k] + (width == 0 ? row + lane : 0);
          if (const auto some = static_cast<std::uint32_t>(std::countr_zero(std::uint32_t{mask}));
              width == 0 && base + some < base + together) {
            element = Eight::load(x + (base + some) - some, mask);
          } else {  // also patterns whose columns, sums modulo 2^32, may begin again at 0
            const __m256i more = width == 0 ? _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7) : offsets.of_step(k);
            const __m256i all_base = _mm256_set1_epi32(static_cast<int>(base));
            element = Eight::gather(x, EightIndices(_mm256_maskz_add_epi32(mask, more, all_base)).of);
          }
          if constexpr (source == Source::table)
            value = Eight::of([&](std::uint32_t i) __attribute__((always_inline)) {
              return V{values[ids[(lane + i) * group_steps + k]]};
            });
          else
            value = Eight::all(V{values[source == Source::step ? group_index * group_steps + k : 0]});
          sum.add_product(value, element, mask);
        }
        sum.store(mine + lane);
      }
    }
  }
  template <std::uint32_t id_bytes>
  SPMVPACK_INLINE_V4 void add_all() {
    const auto* const own = reinterpret_cast<const Group*>(slice.stream + slice.at.groups * unit);
    const auto words = [&](std::size_t kind) { return slice.stream + slice.at.words[kind] * unit; };
    add<0, id_bytes>(slice.n.of[0], slice.patterns, nullptr);
    add<1, id_bytes>(slice.n.of[1], own, words(0));
    add<2, id_bytes>(slice.n.of[2], own + slice.n.of[1], words(1));
    add<4, id_bytes>(slice.n.of[3], own + slice.n.of[1] + slice.n.of[2], words(2));
  }
};

/// The parts [begin, end) of slices, of which each has `parts`: as slices() does, the same sums.
template <Source source, std::uint32_t parts, class A, class V>
SPMVPACK_TARGET_V4 void slices(View<A> v, Operands<V> operands, std::uint64_t begin, std::uint64_t end) {
  constexpr std::uint32_t of_part = lanes / parts;
  for (std::uint64_t i = begin; i < end; ++i) {
    const std::uint64_t s = i / parts;
    const auto first_lane = static_cast<std::uint32_t>(i % parts) * of_part;
    const SliceView slice = SliceView::of(v, s);
    SliceSums<source, A, V> all{slice,  operands.x, values_of<source>(v, s), static_cast<std::uint32_t>(s * lanes),
                                v.sums, first_lane, first_lane + of_part};
    if (source == Source::table && slice.id_bytes == 2)
      all.template add_all<2>();
    else
      all.template add_all<1>();
    put_sums<1, 1>(v, s, all.has_entries, all.sums, operands, first_lane, first_lane + of_part);
  }
}

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

}  // namespace spmvpack::host_loader::layouts::csell_v4
