#pragma once
/// Layout `amb`: Adaptive Multi-level Blocking (Nagasaka, Nukada, Matsuoka: A Memory Access Reduction Method for GPU
/// Sparse Matrix-Vector Multiplication, in Japanese, section 4.1). The functions that decode it serve host and device
/// alike; docs/FORMAT.md, section 7, has the tables.

#include <array>

#include "spmvpack/container/base/host_device.hpp"
#include "spmvpack/container/layouts/layout.hpp"

namespace spmvpack::layouts::amb {

enum Param : std::uint8_t {
  param_segment_cols = 0,
  param_block = 1,
  param_chunk_rows = 2,
};
inline constexpr std::array<std::string_view, 3> parameters{"segment_cols", "block", "chunk_rows"};
enum Section : std::uint8_t {  // places in `sections`
  section_cl = 0,
  section_col_idx = 3,
  section_values = 4,
  section_shared_rows = 5,
  section_empty_rows = 6,
  section_stored_zeros = 7,
};

inline constexpr std::uint64_t max_segment_cols = 65536, max_segments = 65536;
inline constexpr std::uint64_t max_block = 8, max_chunk_rows = 1024, max_steps = (std::uint64_t{1} << 32) - 1;
inline constexpr std::uint64_t max_rows = std::uint64_t{1} << 31;

constexpr std::uint64_t chunks_of(const PartInfo& part) noexcept { return part.counts[section_cl]; }
inline std::uint64_t lanes_of(const PartInfo& part) {
  return checked_mul(chunks_of(part), part.params[param_chunk_rows], "lanes of amb");
}
/// Blocks of all lanes, including padding.
constexpr std::uint64_t blocks_of(const PartInfo& part) noexcept { return part.counts[section_col_idx]; }
/// Blocks of a lane, over all chunks.
constexpr std::uint64_t steps_of(const PartInfo& part) noexcept {
  const std::uint64_t chunk_rows = part.params[param_chunk_rows];
  return blocks_of(part) / (chunk_rows == 0 ? 1 : chunk_rows);
}
/// Partial sums of rows with several lanes.
constexpr std::uint64_t shared_of(const PartInfo& part) noexcept { return part.counts[section_shared_rows]; }
inline constexpr std::array<SectionDescription, 8> sections{{
    {"cl", Element::u32},
    {"cs", Element::u32, chunks_of},
    {"row_idx", Element::u32, lanes_of},
    {"col_idx", Element::u16},
    {"values", Element::value,
     [](const PartInfo& part) { return checked_mul(blocks_of(part), part.params[param_block], "values of amb"); }},
    {"shared_rows", Element::u32},
    {"empty_rows", Element::u32},
    {"stored_zeros", Element::u64, nullptr, 16, 0},
}};

/// An element of `cl`.
struct ChunkLength {
  std::uint32_t bits;  ///< 16 | 16, the lowest first
  [[nodiscard]] constexpr SPMVPACK_HOST_DEVICE std::uint32_t steps() const noexcept { return (bits & 0xFFFFU) + 1; }
  [[nodiscard]] constexpr SPMVPACK_HOST_DEVICE std::uint32_t segment() const noexcept { return bits >> 16U; }
  static constexpr ChunkLength of(std::uint64_t steps, std::uint64_t segment) noexcept {
    return {static_cast<std::uint32_t>((steps - 1) | segment << 16U)};
  }
};

/// An element of `row_idx`: where the sum of a lane goes.
struct LaneRow {
  static constexpr std::uint32_t none = 0xFFFFFFFF, shared_bit = 0x80000000;
  std::uint32_t bits;  ///< 31 | 1, the lowest first
  [[nodiscard]] constexpr SPMVPACK_HOST_DEVICE bool is_none() const noexcept { return bits == none; }
  [[nodiscard]] constexpr SPMVPACK_HOST_DEVICE bool is_shared() const noexcept { return (bits & shared_bit) != 0; }
  /// The row, or the number of the partial sum.
  [[nodiscard]] constexpr SPMVPACK_HOST_DEVICE std::uint32_t index() const noexcept { return bits & ~shared_bit; }
};
inline constexpr std::uint64_t max_shared = LaneRow::shared_bit - 1;

/// A part's arrays, in host or device memory. T: the type of its values.
template <class T>
struct View {
  const std::uint32_t *cl, *cs, *row_idx;
  const std::uint16_t* col_idx;
  const T* values;
  const std::uint32_t *shared_rows, *empty_rows;
  std::uint64_t chunks, steps, shared, empty;
  std::uint32_t segment_cols, block, chunk_rows;

  /// The place of a lane's block in `col_idx`.
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t place(std::uint64_t chunk, std::uint64_t step,
                                                         std::uint64_t lane) const {
    return (cs[chunk] + step) * chunk_rows + lane;
  }
  /// The place in `values` of the value in column i of a block.
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t slot(std::uint64_t chunk, std::uint64_t step, std::uint64_t i,
                                                        std::uint64_t lane) const {
    return ((cs[chunk] + step) * block + i) * chunk_rows + lane;
  }
};

template <class T>
View<T> view(const PartView& part) {
  const PartInfo& info = part.info();
  return {part.get<std::uint32_t>("cl").data(),
          part.get<std::uint32_t>("cs").data(),
          part.get<std::uint32_t>("row_idx").data(),
          part.get<std::uint16_t>("col_idx").data(),
          part.get<T>("values").data(),
          part.get<std::uint32_t>("shared_rows").data(),
          part.get<std::uint32_t>("empty_rows").data(),
          chunks_of(info),
          steps_of(info),
          shared_of(info),
          info.counts[section_empty_rows],
          static_cast<std::uint32_t>(info.params[param_segment_cols]),
          static_cast<std::uint32_t>(info.params[param_block]),
          static_cast<std::uint32_t>(info.params[param_chunk_rows])};
}

SPMVPACK_EXPORT extern const Layout layout;

}  // namespace spmvpack::layouts::amb
