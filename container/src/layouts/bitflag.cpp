#include <fmt/format.h>

#include <atomic>

#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/container/layouts/bitflag_check.hpp"
#include "spmvpack/container/layouts/bitflag_entries.hpp"
#include "unpacking.hpp"
#include "value_functions.hpp"
#include "violations.hpp"

namespace spmvpack::layouts::bitflag {
namespace {

constexpr std::uint64_t chunks_per_task = 256, places_per_task = 1U << 16U;

void check_shape(const PartView& part) {
  const PartInfo& info = part.info();
  const auto& counts = info.counts;
  const std::uint64_t tile_chunks = info.params[param_tile_chunks];
  const auto require = [&](bool ok, Param param) {
    part.require(ok, {}, [&] { return fmt::format("{} is {}", parameters.at(param), info.params.at(param)); });
  };
  const auto require_count = [&](bool ok, Section section) {
    part.require(ok, sections.at(section).name, [&] { return fmt::format("{} elements", counts.at(section)); });
  };
  require(info.params[param_source] < source_names.size(), param_source);
  require(tile_chunks >= 1 && tile_chunks <= max_tile_chunks, param_tile_chunks);
  constexpr std::uint64_t chunk_elements = sizeof(Chunk) / sizeof(std::uint32_t),
                          unit_elements = unit / sizeof(std::uint32_t);
  require_count(counts[section_chunks] != 0 && counts[section_chunks] % chunk_elements == 0 &&
                    chunks_of(info) < 0xFFFFFFFF && chunks_of(info) % tile_chunks == 0,
                section_chunks);
  require_count(counts[section_stream] % unit_elements == 0 && units_of(info) <= 0xFFFFFFFF, section_stream);
  const std::uint64_t hot = hot_of(info), segments = segments_of(info);
  require_count(hot <= max_hot && (hot == 0 || part.cols() <= most_hot_cols), section_hot);
  require_count(
      counts[section_segments] == 0 ||
          (segments >= 2 && segments <= part.cols() && hot == 0 && segment_columns(info) <= max_segment &&
           (segments - 1) * segment_columns(info) < part.cols() && segment_rows(info) <= max_segment_rows(info.nnz)),
      section_segments);
  const std::uint64_t values = values_of(info);
  switch (source_of(info)) {
    case Source::raw:
      return require_count(values == 0, section_values);
    case Source::table:
      return require_count(values >= 1 && values <= max_table, section_values);
    case Source::single:
      return require_count(values == 1, section_values);
    case Source::window:
      return require_count(values >= 1 && values <= max_window_values, section_values);
    case Source::decimal:
      require(info.value_type == ValueType::f64, param_source);
      return require_count(values == 0, section_values);
  }
}

constexpr std::array<ViolationText, 27> texts{{
    {"chunks", "chunk {}: its numbers make no sense"},
    {"chunks", "chunk {}: its bytes begin elsewhere"},
    {"chunks", "chunk {}: rows before it"},
    {"chunks", "chunk {}: a row out of range"},
    {"chunks", "chunk {}: rows fall, or skip too many"},
    {"chunks", "chunk {}: the chunk before has more rows than there are up to it"},
    {"chunks", "chunk {}: the chunk before skips rows"},
    {"chunks", "chunk {}: it continues nothing"},
    {"chunks", "chunk {}: it is not the end"},
    {"chunks", "chunk {}: its bytes end elsewhere"},
    {"chunks", "the stream has {1} units more"},
    {"segments", "segment {} does not begin with a tile"},
    {"hot", "column {} is out of range, or does not rise"},
    {"stream", "chunk {}: its columns do not count from its segment's first"},
    {"stream", "chunk {}: more rows start than its numbers say"},
    {"stream", "chunk {}: a row out of range, or that does not rise"},
    {"stream", "chunk {}: its first entry starts no row"},
    {"stream", "chunk {}: a column out of range"},
    {"stream", "chunk {}: columns do not rise"},
    {"stream", "chunk {}: an exponent out of range"},
    {"stream", "chunk {}: an id out of range"},
    {"stream", "chunk {}: fewer rows start than its numbers say"},
    {"stream", "chunk {}: its first entry starts a row, but continues one"},
    {"stream", "chunk {}: it does not continue the row before"},
    {"stream", "chunk {}: columns do not rise"},
    {"stream", "chunk {}: a list of rows that are consecutive"},
    {"stream", "chunk {}: something beyond its last entry"},
}};
static_assert(texts.size() == number_of(bytes_of_no_entry));

/// Where everything lies, so that reading a chunk afterwards stays in its sections.
template <class T>
void check_places(const PartView& part, const View<T>& v, const Sizes& n, int threads) {
  std::atomic<std::uint64_t> continued{0};
  parallel_pieces(v.chunk_count + 1, places_per_task, threads, [&](std::uint64_t first, std::uint64_t last) {
    std::uint64_t sum = 0;
    for (std::uint64_t c = first; c < last; ++c) {
      require_sound(check_header(v, n, c), part, texts, c, n.units - v.chunks[c].place);
      sum += continues_tile(v, c) ? 1 : 0;
    }
    continued += sum;
  });
  const std::uint64_t said = part.info().params[param_continued];
  part.require(continued == said, "chunks", [&] {
    return fmt::format("{} tiles begin inside a row, the part table says {}", continued.load(), said);
  });
  for (std::uint64_t s = 0; v.segment_count > 1 && s <= v.segment_count; ++s)
    require_sound(check_segment(v, s), part, texts, s);
  for (std::uint32_t i = 0; i < v.hot_count; ++i) require_sound(check_hot(v, n, i), part, texts, i);
}

template <class T>
void check_chunk(const PartView& part, const View<T>& v, const Sizes& n, std::uint64_t c) {
  const ChunkView chunk = ChunkView::of(v, c);
  const std::uint32_t entries = chunk.chunk.info.entries();
  if (entries == 0) return;
  const auto require = [&](Violation found) { require_sound(found, part, texts, c); };
  require(check_base(v, chunk.chunk));
  std::uint32_t starts = 0, before = 0;
  for (std::uint32_t e = 0; e < entries; ++e) {
    const std::uint32_t column = chunk.column(e);
    require(check_entry(v, n, c, chunk, e, starts, column, before));
    starts += chunk.starts_row(e) ? 1 : 0;
    before = column;
  }
  require(check_rows(v, c, chunk, starts));
  require(check_unused(chunk, 0, 1));
}

void check(const PartView& part, int threads) {
  dispatch(part.info().value_type, [&]<class T>(T) {
    const View<T> v = view<T>(part);
    const Sizes n = sizes_of(part);
    check_places(part, v, n, threads);
    check_pieces(part, v.chunk_count, chunks_per_task, threads, [&](std::uint64_t c) {
      check_chunk(part, v, n, c);
      return std::uint64_t{v.chunks[c].info.entries()};
    });
  });
}

}  // namespace

const Layout layout{.name = "bitflag",
                    .sections = sections,
                    .parameters = parameters,
                    .check_shape = check_shape,
                    .check = check,
                    .unpack = unpack<Entries>,
                    .values = &value_functions<Entries>,
                    .source_names = source_names,
                    .part_values = [](const PartInfo& part) { return PartValues{values_are(source_of(part))}; }};

}  // namespace spmvpack::layouts::bitflag
