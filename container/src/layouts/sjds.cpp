#include <fmt/format.h>

#include <atomic>
#include <utility>

#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/container/layouts/sjds_check.hpp"
#include "unpacking.hpp"
#include "value_functions.hpp"
#include "violations.hpp"

namespace spmvpack::layouts::sjds {
namespace {

constexpr std::uint64_t slices_per_task = 256, windows_per_task = 4;

void check_shape(const PartView& part) {
  const auto& p = part.info().params;
  const auto& counts = part.info().counts;
  const auto require = [&](bool ok, Param param) {
    part.require(ok, {}, [&] { return fmt::format("{} is {}", sjds::parameters.at(param), p.at(param)); });
  };
  const auto require_count = [&](bool ok, Section section) {
    part.require(ok, sections.at(section).name,
                 [&] { return fmt::format("{} elements", part.info().counts.at(section)); });
  };
  require(p[param_source] < source_names.size(), param_source);
  require(p[param_window_rows] >= lanes && p[param_window_rows] <= max_window_rows && p[param_window_rows] % lanes == 0,
          param_window_rows);
  require_count(counts[section_slices] % slice_words == 0 && slices_of(part.info()) < RowWindow::of(0, true).bits,
                section_slices);
  require(p[param_pieces] <= slices_of(part.info()), param_pieces);
  const bool has_codes = source_of(part.info()) == Source::code;
  require_count(counts[section_stream] <= 0xFFFFFFFF, section_stream);
  require_count(has_codes ? counts[section_values] <= max_table
                          : counts[section_values] == part.info().nnz && part.info().nnz <= 0xFFFFFFFF,
                section_values);
  require_count(counts[section_codes] <= (has_codes ? 0xFFFFFFFF : 0), section_codes);
}

constexpr std::array<ViolationText, 20> texts{{
    {"windows", "window {}: its slices are not those behind the ones of the window before it"},
    {"windows", "window {}: its slices have more rows than it has"},
    {"windows", "window {}: whether it has rows that are in no slice is said wrongly"},
    {"slices", "slice {}: its stream begins elsewhere"},
    {"slices", "slice {}: bits that have no meaning"},
    {"slices", "slice {}: more entries than a row of a slice has"},
    {"slices", "slice {}: it is not in the window of its rows"},
    {"slices", "slice {}: lanes without a row or without an entry"},
    {"slices", "slice {}: it is no piece of a row, or not of the one before"},
    {"slices", "slice {}: the rows of pieces do not rise"},
    {"slices", "slice {}: the stream ends elsewhere"},
    {"slices", "slice {}: its values or codes begin or end elsewhere"},
    {"stream", "slice {}: a row out of range"},
    {"stream", "slice {}: a row comes twice"},
    {"stream", "slice {}: the lanes of its tail"},
    {"stream", "slice {}: a window step that leaves the columns"},
    {"stream", "slice {}: a column out of range"},
    {"stream", "slice {}: columns do not rise"},
    {"stream", "slice {}: a code out of range"},
    {"stream", "slice {}: bytes of no entry are not 0"},
}};
static_assert(texts.size() == number_of(padding_not_zero));

void check(const PartView& part, int threads) {
  dispatch(part.info().value_type, [&]<class T>(T) {
    const View<T> v = view<T>(part);
    const Sizes n = sizes_of(part);
    for (std::uint64_t w = 0; w <= v.window_count; ++w) require_sound(check_window(v, w), part, texts, w);
    parallel_items(v.slice_count, slices_per_task, threads,
                   [&](std::uint64_t s) { require_sound(check_slice(v, n, s), part, texts, s); });
    if (v.slice_count == 0) require_sound(check_end(v, n), part, texts, 0);
    CountedVector<std::uint8_t> marks(v.rows);  // bytes, as windows are checked at a time
    const auto seen = [&](std::uint32_t row) { return std::exchange(marks[row], std::uint8_t{1}) != 0; };
    std::atomic<std::uint64_t> entries{0};
    const auto check_slices = [&](std::uint64_t first, std::uint64_t last) {
      std::uint64_t sum = 0;
      for (std::uint64_t s = first; s < last; ++s) {
        require_sound(check_entries(v, n, s, seen), part, texts, s);
        sum += v.slices[s].entries();
      }
      entries += sum;
    };
    parallel_pieces(v.window_count, windows_per_task, threads, [&](std::uint64_t first, std::uint64_t last) {
      check_slices(v.windows[first].first_slice(), v.windows[last].first_slice());
    });
    parallel_pieces(v.piece_count, slices_per_task, threads, [&](std::uint64_t first, std::uint64_t last) {
      check_slices(v.row_slices() + first, v.row_slices() + last);
    });
    require_entries(part, entries);
  });
}

}  // namespace

const Layout layout{.name = "sjds",
                    .sections = sections,
                    .parameters = parameters,
                    .check_shape = check_shape,
                    .check = check,
                    .unpack = unpack<Entries>,
                    .values = &value_functions<Entries>,
                    .source_names = source_names,
                    .part_values = [](const PartInfo& part) { return PartValues{values_are(source_of(part))}; }};

}  // namespace spmvpack::layouts::sjds
