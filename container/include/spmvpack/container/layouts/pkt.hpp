#pragma once
/// Layout `pkt`: the packets of Bell and Garland (Efficient Sparse Matrix-Vector Multiplication on CUDA, NVR-2008-004):
/// rows that, with the columns of the same numbers, fit into the memory that a thread block shares. A
/// part has the entries inside of its packets and no others. The functions that decode it serve host and device alike;
/// docs/FORMAT.md, section 7, has the tables.

#include <array>

#include "spmvpack/container/base/host_device.hpp"
#include "spmvpack/container/layouts/layout.hpp"

namespace spmvpack::layouts::pkt {

enum Param : std::uint8_t {
  param_packet_rows = 0,  ///< no packet has more rows
  param_threads = 1,      ///< among which each packet's rows are dealt out
};
inline constexpr std::array<std::string_view, 2> parameters{"packet_rows", "threads"};
enum Section : std::uint8_t { section_packet_ptr = 0, section_local_idx = 3, section_values = 4 };  ///< in `sections`

/// x and y of so many rows in double precision take 48 KiB, what a thread block of every GPU may share.
inline constexpr std::uint64_t max_packet_rows = 3072, max_packet_threads = 1024;
inline constexpr std::uint64_t max_steps = (std::uint64_t{1} << 32) - 1;

constexpr std::uint64_t slots_of(const PartInfo& part) noexcept { return part.counts[section_local_idx]; }
constexpr std::uint64_t packets_of(const PartInfo& part) noexcept {
  const std::uint64_t pointers = part.counts[section_packet_ptr];
  return pointers == 0 ? 0 : pointers - 1;
}
inline constexpr std::array<SectionDescription, 5> sections{{
    {"packet_ptr", Element::u32},
    {"step_ptr", Element::u32, [](const PartInfo& part) { return part.counts[section_packet_ptr]; }},
    {"rows", Element::u32, rows_of},
    {"local_idx", Element::u32},
    {"values", Element::value, slots_of},
}};

/// An element of `local_idx`: where in its packet an entry is.
struct LocalIndex {
  static constexpr std::uint32_t padding = 0xFFFFFFFF;
  std::uint32_t bits;  ///< column 16 | row 16, the lowest first
  [[nodiscard]] constexpr SPMVPACK_HOST_DEVICE bool is_padding() const noexcept { return bits == padding; }
  [[nodiscard]] constexpr SPMVPACK_HOST_DEVICE std::uint32_t row() const noexcept { return bits >> 16U; }
  [[nodiscard]] constexpr SPMVPACK_HOST_DEVICE std::uint32_t column() const noexcept { return bits & 0xFFFFU; }
  static constexpr LocalIndex of(std::uint32_t row, std::uint32_t column) noexcept { return {row << 16U | column}; }
};

/// A part's arrays, in host or device memory. T: the type of its values.
template <class T>
struct View {
  const std::uint32_t *packet_ptr, *step_ptr, *rows, *local_idx;
  const T* values;
  std::uint64_t packets, steps;
  std::uint32_t packet_rows, threads;

  /// The place of a thread's step, of those of all packets, in `local_idx` and `values`.
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t slot(std::uint64_t step, std::uint64_t thread) const {
    return step * threads + thread;
  }
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint32_t rows_of(std::uint64_t packet) const {
    return packet_ptr[packet + 1] - packet_ptr[packet];
  }
};

template <class T>
View<T> view(const PartView& part) {
  const PartInfo& info = part.info();
  return {part.get<std::uint32_t>("packet_ptr").data(),
          part.get<std::uint32_t>("step_ptr").data(),
          part.get<std::uint32_t>("rows").data(),
          part.get<std::uint32_t>("local_idx").data(),
          part.get<T>("values").data(),
          packets_of(info),
          slots_of(info) / info.params[param_threads],
          static_cast<std::uint32_t>(info.params[param_packet_rows]),
          static_cast<std::uint32_t>(info.params[param_threads])};
}

SPMVPACK_EXPORT extern const Layout layout;

}  // namespace spmvpack::layouts::pkt
