#pragma once
// What bitflag's multiplies share, whatever the instructions.

#include <cstdint>
#include <type_traits>
#include <vector>

#include "kernels.hpp"
#include "spmvpack/container/layouts/bitflag.hpp"

namespace spmvpack::host_loader::layouts::bitflag_sums {

using namespace spmvpack::layouts::bitflag;  // what the bytes mean

/// Chunks are streams of short pieces: what comes is fetched so far ahead.
constexpr std::size_t ahead_bytes = 4096;

/// Sums of rows that tiles share, by tile: of the row that it continues; of its last row, if that goes on.
template <class V>
struct Carries {
  std::vector<V> first, last;
};

/// What a tile's chunks leave to one another: the sum of the row that goes on.
template <class V>
struct OpenRow {
  bool continued;  ///< it began in an earlier tile
  std::uint32_t row;
  V sum;
};

/// How a chunk's columns are stored.
enum class Word : std::uint8_t { offset_8, offset_16, offset_32, hot };

template <Word word>
using WordOf = std::conditional_t<word == Word::offset_8, std::uint8_t,
                                  std::conditional_t<word == Word::offset_16, std::uint16_t, std::uint32_t>>;

}  // namespace spmvpack::host_loader::layouts::bitflag_sums
