#pragma once
// What bitflag's multiplies share, whatever the instructions.

#include <array>
#include <cstdint>
#include <type_traits>

#include "layouts/kernels.hpp"
#include "spmvpack/container/base/array.hpp"
#include "spmvpack/container/layouts/bitflag.hpp"

namespace spmvpack::host_loader::layouts::bitflag_sums {

using namespace spmvpack::layouts::bitflag;  // what the bytes mean

/// Chunks are streams of short pieces: what comes is fetched so far ahead.
constexpr std::size_t ahead_bytes = 4096;

constexpr std::uint64_t chunks_per_task = 64, rows_per_task = 1024, sums_per_task = 65536;
constexpr std::uint32_t tree_width = 32;

/// The tree over n values: at distances 1, 2, 4, ... each takes in the one that far to its right. Overwrites them.
template <class V>
SPMVPACK_INLINE V tree_sum(V* v, std::uint32_t n) {
  for (std::uint32_t distance = 1; distance < n; distance *= 2)
    for (std::uint32_t i = 0; i + distance < n; i += 2 * distance) v[i] = v[i] + v[i + distance];
  return v[0];
}

/// Sums of rows that tiles share, by tile: of the row that it continues; of its last row, if that goes on.
template <class V>
struct Carries {
  Array<V> first, last;
};

/// What a tile's chunks leave to one another: the sum of the row that goes on.
template <class V>
struct OpenRow {
  bool continued;  ///< it began in an earlier tile
  std::uint32_t row;
  V sum;
};

/// How a chunk's columns are stored: in so many bits, and some are hot.
enum class Word : std::uint8_t { offset_8, offset_16, offset_24, offset_32, hot_24, hot_32 };

constexpr bool is_hot(Word word) { return word >= Word::hot_24; }
constexpr bool is_of_24_bits(Word word) { return word == Word::offset_24 || word == Word::hot_24; }

/// What is stored side by side of an entry's word: all of it, or two bytes of three.
template <Word word>
using WordOf = std::conditional_t<
    word == Word::offset_8, std::uint8_t,
    std::conditional_t<word == Word::offset_16 || is_of_24_bits(word), std::uint16_t, std::uint32_t>>;

/// The element of x that a word names. `from`: x, and its hot elements.
template <Word word, class V>
SPMVPACK_INLINE V element_of(const std::array<const V*, 2>& from, std::uint32_t stored) {
  constexpr std::uint32_t hot = hot_bit(is_of_24_bits(word) ? 3 : 4);
  return is_hot(word) ? from[stored / hot][stored % hot] : from[0][stored];
}

/// How those of a chunk are. `hot`: the part has hot columns.
SPMVPACK_INLINE Word word_of(Info info, bool hot) {
  switch (info.column_bytes()) {
    case 1:
      return Word::offset_8;
    case 2:
      return Word::offset_16;
    case 3:
      return hot ? Word::hot_24 : Word::offset_24;
    default:
      return hot ? Word::hot_32 : Word::offset_32;
  }
}

/// What the ids of a chunk count from: the table, or the chunk's window of one.
template <Source source, class A>
SPMVPACK_INLINE const A* table_of(const View<A>& v, Info info) {
  return v.values + std::size_t{source == Source::window ? info.window() : 0} * window_step;
}
/// The value of all entries, if that is their source.
template <Source source, class V, class A>
SPMVPACK_INLINE V single_of(const View<A>& v) {
  return source == Source::single ? V{v.values[0]} : V{0};
}

}  // namespace spmvpack::host_loader::layouts::bitflag_sums
