#pragma once
/// The entries of a part of bitflag, for host and device.

#include "spmvpack/container/layouts/bitflag.hpp"
#include "spmvpack/container/layouts/entries.hpp"

namespace spmvpack::layouts::bitflag {

/// The slot of entry e of a chunk, in a part with this source.
template <class T, Source source>
SPMVPACK_HOST_DEVICE ValueSlot value_slot(const ChunkView& chunk, std::uint32_t e) {
  const auto place = [&] {
    return std::uint64_t{chunk.chunk.place} * unit + chunk.at.values +
           std::uint64_t{chunk.value_element(e)} * chunk.value_bytes;
  };
  if constexpr (source == Source::raw)
    return {place(), section_stream};
  else if constexpr (source == Source::decimal)
    return {place(), section_stream, values_are(source), Change::none,
            static_cast<std::uint8_t>(chunk.chunk.info.exponent() + chunk.more_exponent(e))};
  else
    return element_slot<T>(section_values, source == Source::single ? 0 : chunk.id(e), values_are(source));
}

/// A unit is a chunk. Rows of one segment have a run in each chunk that continues them. Of several segments, each row
/// of a segment has one in every chunk: either its number or the chunk's is one more than before.
template <class T>
struct Entries {
  View<T> v;

  static Entries of(const PartView& part) { return {view<T>(part)}; }
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t units() const { return v.chunk_count; }
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint64_t runs() const {
    return v.chunk_count + (v.segment_count > 1 ? v.segment_count * v.rows : 0);
  }
  template <class Begin>
  SPMVPACK_HOST_DEVICE void each(std::uint64_t c, std::uint32_t lane, std::uint32_t stride, Begin&& begin) const {
    const ChunkView chunk = ChunkView::of(v, c);
    dispatch_source(v.source, [&](auto source) {
      std::uint32_t e = lane;
      each_row(c, chunk, [&](std::uint32_t row, std::uint64_t run, std::uint32_t first, std::uint32_t end) {
        auto&& put = begin(row, run);
        for (; e < end; e += stride) put(e - first, chunk.column(e), value_slot<T, source()>(chunk, e));
      });
    });
  }
  template <class F>
  SPMVPACK_HOST_DEVICE void each_run(std::uint64_t c, F&& f) const {
    each_row(c, ChunkView::of(v, c), [&](std::uint32_t row, std::uint64_t run, std::uint32_t first, std::uint32_t end) {
      f(row, run, end - first);
    });
  }

 private:
  /// Calls f(row, run, first entry, end) for the rows of a chunk.
  template <class F>
  SPMVPACK_HOST_DEVICE void each_row(std::uint64_t c, const ChunkView& chunk, F&& f) const {
    const std::uint32_t entries = chunk.chunk.info.entries();
    std::uint32_t starts = 0;
    for (std::uint32_t first = 0, end = 0; first < entries; first = end) {
      const bool continues = first == 0 && chunk.chunk.info.continues();
      const std::uint32_t row = continues ? chunk.chunk.row : chunk.start_row(starts++);
      do ++end;
      while (end < entries && !chunk.starts_row(end));
      if (v.segment_count > 1)
        f(static_cast<std::uint32_t>(row % v.rows), row + c, first, end);
      else
        f(row, continues ? c : first_run, first, end);
    }
  }
};

}  // namespace spmvpack::layouts::bitflag
