#pragma once
/// The entries of a part of bitflag in the order of CSR (of a segment's rows), and where the value of each lies, for
/// host and device.

#include "spmvpack/container/layouts/bitflag.hpp"
#include "spmvpack/container/layouts/value_slot.hpp"

namespace spmvpack::layouts::bitflag {

/// Raw values are in `stream`; the others in `values`.
constexpr SPMVPACK_HOST_DEVICE ValuesAre values_are(Source source) noexcept {
  if (source == Source::decimal) return ValuesAre::computed;
  return source == Source::raw ? ValuesAre::own : ValuesAre::shared;
}

/// The section of the slots.
template <class T>
SPMVPACK_HOST_DEVICE const void* value_section(const View<T>& v) {
  return v.source == Source::raw ? static_cast<const void*>(v.stream) : v.values;
}

/// Of entry e of a chunk. Not of decimals.
template <class T>
SPMVPACK_HOST_DEVICE ValueSlot value_slot(const ChunkView& chunk, std::uint32_t e) {
  switch (chunk.source) {
    case Source::raw:
      return {std::uint64_t{chunk.chunk.place} * unit + chunk.at.values + chunk.value_slot(e) * sizeof(T)};
    case Source::table:
    case Source::window:
      return element_slot<T>(chunk.id(e));
    default:
      return {0};
  }
}

/// Calls f(e, row) for the entries of a chunk; the row counts through all segments.
template <class F>
SPMVPACK_HOST_DEVICE void each_row_entry(const ChunkView& chunk, F&& f) {
  std::uint32_t starts = 0, row = chunk.chunk.row;
  for (std::uint32_t e = 0; e < chunk.chunk.info.entries(); ++e) {
    if (chunk.starts_row(e)) row = chunk.start_row(starts++);
    f(e, row);
  }
}

/// Calls f(row, column, slot) for the entries of a chunk of a part that has been checked. Not of decimals.
template <class T, class F>
SPMVPACK_HOST_DEVICE void each_entry(const ChunkView& chunk, F&& f) {
  each_row_entry(chunk, [&](std::uint32_t e, std::uint32_t row) { f(row, chunk.column(e), value_slot<T>(chunk, e)); });
}

}  // namespace spmvpack::layouts::bitflag
