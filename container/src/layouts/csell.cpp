#include <fmt/format.h>

#include <array>
#include <atomic>
#include <bit>

#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/container/layouts/csell_check.hpp"
#include "unpacking.hpp"
#include "value_functions.hpp"
#include "violations.hpp"

namespace spmvpack::layouts::csell {
namespace {

constexpr std::uint64_t slices_per_task = 64, places_per_task = 1U << 14U;

void check_shape(const PartView& part) {
  const auto& p = part.info().params;
  const auto require = [&](bool ok, Param param) {
    part.require(ok, {}, [&] { return fmt::format("{} is {}", csell::parameters.at(param), p.at(param)); });
  };
  const auto source = static_cast<Source>(p[param_source]);
  require(p[param_source] < source_names.size(), param_source);
  require(p[param_block] >= 1 && p[param_block] <= max_block, param_block);
  require(part.rows() % p[param_block] == 0 && part.cols() % p[param_block] == 0, param_block);
  require(p[param_sums] == 1 || p[param_sums] == 2 || p[param_sums] == 4, param_sums);
  require((p[param_tile_slices] != 0) == (source == Source::table), param_tile_slices);
  require(p[param_tile_slices] <= 0xFFFFFFFF, param_tile_slices);  // a view has 32 bits for it
  require(p[param_patterns_only] <= 1, param_patterns_only);
  const auto require_count = [&](bool ok, Section section) {
    part.require(ok, sections.at(section).name,
                 [&] { return fmt::format("{} elements", part.info().counts.at(section)); });
  };
  constexpr std::uint64_t unit_elements = unit / sizeof(std::uint32_t);
  const auto& counts = part.info().counts;
  require_count(counts[section_patterns] % unit_elements == 0 && patterns_of(part.info()) <= max_patterns,
                section_patterns);
  require_count(counts[section_stream] % unit_elements == 0 && units_of(part.info()) <= 0xFFFFFFFF, section_stream);
  const std::uint64_t block_values = p[param_block] * p[param_block], values = values_of(part.info());
  if (source == Source::step)
    require_count(values == patterns_of(part.info()) * group_steps * block_values, section_values);
  if (source == Source::single) require_count(values == 1, section_values);
  if (has_mirrors(source))
    require_count(values % slot_values(static_cast<std::uint32_t>(p[param_block])) == 0, section_values);
  part.require((part.find("references") != nullptr) == has_mirrors(source), "references",
               [] { return std::string("there must be this section if there are mirrors, and else not"); });
}

constexpr std::array<ViolationText, 38> texts{{
    {"tiles", "tile {}: its table is out of range"},
    {"tiles", "values that no tile has"},
    {"tiles", "the largest has {} values, the part table says {}"},
    {"patterns", "group {} is empty, or has steps after its end"},
    {"slices", "slice {}: its stream begins elsewhere"},
    {"slices", "slice {}: few groups in a unit of their own"},
    {"slices", "slice {}: more than the numbers of its groups in their unit"},
    {"slices", "slice {}: its pattern is out of range"},
    {"slices", "slice {}: a pattern that it does not use"},
    {"slices", "slice {}: columns without values"},
    {"slices", "slice {}: references that it does not have, or entries without"},
    {"slices", "slice {}: its stream ends elsewhere"},
    {"stream", "group {} is empty, or has steps after its end"},
    {"slices", "slice {}: its slots begin elsewhere"},
    {"slices", "slice {}: its slots begin within one"},
    {"slices", "slice {}: values of its own"},
    {"slices", "slice {}: its values begin elsewhere"},
    {"slices", "slice {}: its values end elsewhere"},
    {"slices", "slice {}: padding with a value"},
    {"slices", "the stream has {} units more"},
    {"slices", "{} values, the part table says {}"},
    {"slices", "slots of no slice"},
    {"values", "step {} is nothing, but has a value"},
    {"references", "step {} is nothing, but has a reference"},
    {"patterns or stream", "slice {}, lane {}: an entry of a row that the part does not have"},
    {"patterns or stream", "slice {}, lane {}: a column out of range"},
    {"patterns or stream", "slice {}, lane {}: columns do not rise"},
    {"stream", "slice {}, lane {}: an id out of range"},
    {"patterns or stream", "slice {}, lane {}: a column comes twice"},
    {"stream", "slice {}, lane {}: an offset, id or reference of no entry"},
    {"references or stream", "slice {}, lane {}: a slot that the slice does not have"},
    {"references or stream", "slice {}, lane {}: a slot of two entries"},
    {"values", "slice {}, lane {}: a value of no entry"},
    {"references or stream", "slice {}, lane {}: a mirror of a row that the part does not have"},
    {"references or stream", "slice {}, lane {}: a mirror of a slot that the slice does not have"},
    {"references or stream", "slice {}, lane {}: a mirror of another entry than the transposed one, or of a mirror"},
    {"slices", "slice {}: it is no pattern, and patterns_only is 1"},
    {"slices", "all {} slices are patterns, and patterns_only is 0"},
}};
static_assert(texts.size() == number_of(patterns_unsaid));

/// Fails if something is wrong with slice s, or behind the last slice.
template <class T>
void require_slice(Violation found, const PartView& part, const View<T>& v, const Sizes& n, std::uint64_t s) {
  if (found == sound) return;
  const bool of_stream = found == next_stream_elsewhere;
  if (of_stream || found == next_values_elsewhere) {
    if (s + 1 < v.slice_count) {
      // The next slice begins elsewhere, unless something else is wrong with it before that.
      const Violation begin = of_stream ? stream_elsewhere : values_elsewhere, own = check_slice(v, n, s + 1);
      return require_slice(own != sound && own < begin ? own : begin, part, v, n, s + 1);
    }
    std::uint64_t end = 0;  // of the last slice's piece, if there is one
    if (v.slice_count != 0) {
      const SliceView slice = SliceView::of(v, s);
      end = of_stream ? v.slices[s].stream + slice.at.end
                      : round_up(v.slices[s].values * per_unit<T> + entries_of(slice) * v.block * v.block, per_unit<T>);
    }
    require_sound(found, part, texts, of_stream ? n.stream - end : end, n.values);
  }
  std::uint64_t place = s;
  if (found == bad_group) {
    const SliceView slice = SliceView::of(v, s);
    for (place = 0; slice.group(slice.n.of[0] + place).is_sound();) ++place;
  }
  require_sound(found, part, texts, place);
}

/// Where everything lies, so that reading a slice afterwards stays in its sections.
template <class T>
void check_places(const PartView& part, const View<T>& v, const Sizes& n, int threads) {
  Tables tables;
  for (std::uint64_t t = 0; t < n.tiles; ++t) require_sound(tables.add(v.tiles[t], n), part, texts, t);
  require_sound(tables.check(v.source, n), part, texts, tables.largest, n.largest_tile);
  parallel_items(n.patterns, places_per_task, threads, [&](std::uint64_t g) {
    require_sound(v.patterns[g].is_sound() ? sound : bad_pattern, part, texts, g);
  });
  std::atomic<bool> others{false};  // slices that are no patterns
  parallel_items(v.slice_count, places_per_task, threads, [&](std::uint64_t s) {
    require_slice(check_slice(v, n, s), part, v, n, s);
    require_sound(check_kind(v.slices[s], n), part, texts, s);
    if (!v.slices[s].is_pattern()) others = true;
  });
  require_sound(check_kinds(others, n), part, texts, v.slice_count);
  require_slice(check_no_slices(v, n), part, v, n, 0);
  parallel_items(n.patterns * group_steps, places_per_task, threads,
                 [&](std::uint64_t step) { require_sound(check_step(v, step), part, texts, step); });
}

/// Calls f(slice, lane) for the lanes of slices in parallel; what it finds is of that lane.
template <class F>
void check_lanes(const PartView& part, std::uint64_t slices, int threads, F&& f) {
  parallel_items(slices, slices_per_task, threads, [&](std::uint64_t s) {
    for (std::uint32_t lane = 0; lane < lanes; ++lane) require_sound(f(s, lane), part, texts, s, lane);
  });
}

/// Returns the number of entries of a slice.
template <class T>
std::uint64_t check_entries(const PartView& part, const View<T>& v, const Sizes& n, std::uint64_t s) {
  const SliceView slice = SliceView::of(v, s);
  std::uint64_t entries = 0;
  for (std::uint32_t lane = 0; lane < lanes; ++lane)
    require_sound(check_lane(v, n, slice, s, lane, entries), part, texts, s, lane);
  for (std::uint64_t g = 0; g < slice.n.total(); ++g)
    for (std::uint32_t k = 0; k < group_steps; ++k)
      for (std::uint32_t without = ~slice.group(g).mask[k]; without != 0; without &= without - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(without));
        require_sound(check_unused(slice, g, k, lane), part, texts, s, lane);
      }
  return entries;
}

void check(const PartView& part, int threads) {
  dispatch(part.info().value_type, [&]<class T>(T) {
    const View<T> v = view<T>(part);
    const Sizes n = sizes_of(part);
    check_places(part, v, n, threads);
    std::atomic<std::uint64_t> entries{0};
    parallel_pieces(v.slice_count, slices_per_task, threads, [&](std::uint64_t first, std::uint64_t last) {
      std::uint64_t sum = 0;
      for (std::uint64_t s = first; s < last; ++s) sum += check_entries(part, v, n, s);
      entries += sum;
    });
    const std::uint64_t nnz = part.info().nnz, block_values = std::uint64_t{v.block} * v.block;
    part.require(entries <= nnz && entries * block_values == nnz, {},
                 [&] { return fmt::format("{} entries, the part table says {}", entries * block_values, nnz); });
    if (!has_mirrors(v.source)) return;
    CountedVector<std::uint32_t> columns(n.values / block_values);
    check_lanes(part, v.slice_count, threads,
                [&](std::uint64_t s, std::uint32_t lane) { return check_slots(v, n, s, lane, columns.data()); });
    check_lanes(part, v.slice_count, threads,
                [&](std::uint64_t s, std::uint32_t lane) { return check_mirrors(v, n, s, lane, columns.data()); });
  });
}

}  // namespace

const Layout layout{.name = "csell",
                    .sections = sections,
                    .parameters = parameters,
                    .check_shape = check_shape,
                    .check = check,
                    .unpack = unpack<Entries>,
                    .values = &value_functions<Entries>,
                    .shares_entries = true,
                    .source_names = source_names,
                    .part_values = [](const PartInfo& part) { return PartValues{values_are(source_of(part))}; }};

}  // namespace spmvpack::layouts::csell
