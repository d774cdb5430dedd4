#include "spmvpack/container/layouts/sjds.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "falling_sort.hpp"
#include "layouts/layouts.hpp"
#include "layouts/sjds/sjds_rules.hpp"
#include "layouts/sjds/slices.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/encoder/survey.hpp"

namespace spmvpack::encoder::layouts {
namespace sjds_plans {
namespace {

constexpr std::array<Setting, 2> settings{
    Setting{"sjds.sigma", "auto, or 8 to 65536",
            "rows sorted together, rounded up to a multiple of 8; auto: 256 to 1024"},
    Setting{"sjds.values", "auto, raw or code",
            "raw, or 4-bit codes of up to 16 values; auto: codes from 2^20 entries"}};

struct Choices {
  std::uint64_t pieces = 0;
  CountedVector<RowWindow> windows;
  CountedVector<Slice> slices;
  /// Of each slice that is no piece, its rows, relative to its window's first; 0 where it has none.
  CountedVector<std::array<std::uint16_t, lanes>> rows;
  std::vector<ValueKey> table;

  [[nodiscard]] std::uint64_t row_slices() const { return slices.size() - pieces; }
  [[nodiscard]] Lanes lanes_of(const CsrView& a, std::uint64_t window_rows, std::uint64_t s) const {
    const Slice& slice = slices[s];
    if (s < row_slices())
      return Lanes::of_rows(a, slice.row / window_rows * window_rows, {rows[s].data(), slice.rows()});
    std::uint64_t first = s;  // of the row's pieces
    while (slices[first].continues()) --first;
    return Lanes::of_piece(a.row_ptr(slice.row) + (s - first) * max_entries, slice.entries());
  }
};

/// What becomes of a window's rows.
struct WindowPlan {
  CountedVector<Slice> slices;
  CountedVector<std::array<std::uint16_t, lanes>> rows;
  CountedVector<std::uint32_t> long_rows;
  KindFacts kinds;
  bool has_others = false;
};

WindowPlan plan_window(const CsrView& a, std::uint64_t begin, std::uint64_t end, FallingSort& sort) {
  WindowPlan plan;
  CountedVector<std::uint32_t> order(end - begin);
  std::iota(order.begin(), order.end(), std::uint32_t{0});
  const auto length = [&](std::uint32_t r) { return a.row_length(begin + r); };
  sort(order, length);
  while (!order.empty() && length(order.back()) == 0) order.pop_back();
  plan.has_others = order.size() < end - begin;
  std::size_t i = 0;
  for (; i < order.size(); ++i) {
    std::uint64_t sum = 0;
    for (std::size_t k = i; k < std::min<std::size_t>(order.size(), i + lanes); ++k) sum += length(order[k]);
    if (!is_long(length(order[i]), sum)) break;
    plan.long_rows.push_back(static_cast<std::uint32_t>(begin + order[i]));
  }
  plan.has_others = plan.has_others || i != 0;
  for (; i < order.size(); i += lanes) {
    const std::size_t n = std::min<std::size_t>(lanes, order.size() - i);
    auto& rows = plan.rows.emplace_back();
    for (std::size_t lane = 0; lane < n; ++lane) rows.at(lane) = static_cast<std::uint16_t>(order[i + lane]);
    bool in_order = true;
    for (std::size_t lane = 1; lane < n; ++lane) in_order = in_order && order[i + lane] == order[i] + lane;
    FullSteps full;
    Slice slice = measure(a, Lanes::of_rows(a, begin, {rows.data(), n}), &full);
    slice.row = static_cast<std::uint32_t>(in_order ? begin + order[i] : begin);
    slice.set_kind(static_cast<std::uint32_t>(n), slice.is_wide(), !in_order, false);
    plan.kinds.add(slice, full.kind_of(slice, a.cols()));
    plan.slices.push_back(slice);
  }
  return plan;
}

/// The pieces of a row.
template <class F>
void each_piece(const CsrView& a, std::uint32_t row, F&& f) {
  const std::uint64_t first = a.row_ptr(row), end = a.row_ptr(row + std::uint64_t{1});
  for (std::uint64_t k = first; k < end; k += max_entries) {
    Slice slice = measure(a, Lanes::of_piece(k, std::min<std::uint64_t>(max_entries, end - k)));
    slice.row = row;
    slice.set_kind(1, slice.is_wide(), false, k != first);
    f(slice);
  }
}

/// The values that codes name; none if values are raw.
std::vector<ValueKey> table_of(const PartMatrix& part, const PlanOptions& options) {
  const auto wanted = read_name<Source>(options, settings[1], source_names);
  if (wanted == Source::raw) return {};
  if (wanted)
    check_values_setting(options, settings[1].name, source_names.at(static_cast<std::size_t>(*wanted)),
                         values_are(*wanted));
  const std::shared_ptr<const ValueTable> values = values_of(part.a, part.values, options);
  const PartFacts facts{part.a.nnz(), values->distinct()};
  if (!wanted && usual_source(facts, options.aim.optimize) == Source::raw) return {};
  if (!fit_codes(facts))
    throw Error(errc::unsupported, "sjds: more than 16 distinct values have no codes", {}, "use sjds.values=raw");
  return values->frequent_keys();
}

/// What a slice has of an array: elements from its place on.
struct Extent {
  std::uint64_t begin, count;
};
Extent stream_of(const Slice& slice) { return {slice.begin, stream_layout(slice).end / unit}; }
Extent values_of(const Slice& slice) { return {slice.values, slice.entries()}; }
Extent codes_of(const Slice& slice) { return {slice.values, std::uint64_t{slice.full()} + slice.tail()}; }

/// Places of the slices, and where the last one ends.
struct Places {
  std::uint64_t stream = 0, values = 0;
};
Places place_slices(CountedVector<Slice>& slices, Source source) {
  Places next;
  for (Slice& slice : slices) {
    slice.begin = static_cast<std::uint32_t>(next.stream);
    slice.values = static_cast<std::uint32_t>(next.values);
    next.stream += stream_of(slice).count;
    next.values += (source == Source::raw ? values_of(slice) : codes_of(slice)).count;
  }
  if (next.stream > 0xFFFFFFFF || next.values > 0xFFFFFFFF)
    throw Error(errc::unsupported, "sjds: 2^32 entries, or 16 GiB of columns", {}, "use another layout");
  return next;
}

WorkFacts facts_of(const Choices& choices, const KindFacts& kinds, std::uint64_t rows, std::uint64_t window_rows) {
  WorkFacts f{.slices = choices.slices.size(), .pieces = choices.pieces, .decodes = choices.table.size() > 1};
  if (launch_rules::sjds::worth_kinds(kinds.slices, choices.row_slices())) f.kinds = kinds;
  for (const Slice& s : choices.slices) {
    f.windows += s.windows();
    f.steps += s.steps();
    f.tail += s.tail();
    f.listed += s.is_listed() ? s.rows() : 0;
  }
  for (std::uint64_t w = 0; w + 1 < choices.windows.size(); ++w)
    if (choices.windows[w].has_others()) f.scaled_rows += std::min(window_rows, rows - w * window_rows);
  return f;
}

PartPlan plan(const PartMatrix& part, const PlanOptions& options) {
  const CsrView& a = part.a;
  const auto sigma = read_setting(options, "sjds.sigma", lanes, max_window_rows, "auto");
  const std::uint64_t window_rows = sigma ? round_up(*sigma, lanes) : usual_window(a.rows()),
                      windows = div_up(a.rows(), window_rows);
  Choices choices;
  choices.table = table_of(part, options);
  const Source source = choices.table.empty() ? Source::raw : Source::code;

  CountedVector<WindowPlan> plans(windows);
  parallel_pieces(windows, 4, options.threads, [&](std::uint64_t first, std::uint64_t last) {
    FallingSort sort;
    for (std::uint64_t w = first; w < last; ++w)
      plans[w] = plan_window(a, w * window_rows, std::min(a.rows(), (w + 1) * window_rows), sort);
  });
  CountedVector<std::uint32_t> long_rows;
  KindFacts kinds;
  for (const WindowPlan& w : plans) {
    kinds.add(w.kinds);
    choices.windows.push_back(RowWindow::of(choices.slices.size(), w.has_others));
    choices.slices.insert(choices.slices.end(), w.slices.begin(), w.slices.end());
    choices.rows.insert(choices.rows.end(), w.rows.begin(), w.rows.end());
    long_rows.insert(long_rows.end(), w.long_rows.begin(), w.long_rows.end());
  }
  choices.windows.push_back(RowWindow::of(choices.slices.size(), false));
  std::sort(long_rows.begin(), long_rows.end());
  for (const std::uint32_t row : long_rows)
    each_piece(a, row, [&](const Slice& piece) {
      choices.slices.push_back(piece);
      ++choices.pieces;
    });
  const Places end = place_slices(choices.slices, source);

  PartPlan plan = begin_plan(layout, part);
  plan.info.params[param_source] = static_cast<std::uint64_t>(source);
  plan.info.params[param_window_rows] = window_rows;
  plan.info.params[param_pieces] = choices.pieces;
  plan.info.counts[section_slices] = choices.slices.size() * slice_words;
  plan.info.counts[section_stream] = end.stream;
  plan.info.counts[section_values] = source == Source::raw ? end.values : choices.table.size();
  plan.info.counts[section_codes] = source == Source::raw ? 0 : end.values;
  add_sections(plan, sections);
  share_by_section(plan);
  const WorkFacts work = facts_of(choices, kinds, a.rows(), window_rows);
  plan.work = work_of(work);
  if (options.aim.target == Target::host) plan.near_entries = entries_in_turns(a, long_rows, max_entries);
  plan.counters = {main_choice("source." + std::string(source_names.at(static_cast<std::size_t>(source))), 1),
                   main_choice("sigma", window_rows),
                   {"slices", choices.row_slices()},
                   {"long_rows", long_rows.size()},
                   {"pieces", choices.pieces},
                   {"entries.windows", work.windows * lanes}};
  keep_choices(plan, std::make_shared<Choices>(std::move(choices)));
  return plan;
}

/// Fills an array of elements of so many bytes, of which each slice has an extent. write(s, lanes, bytes): what slice s
/// has of it; the bytes are 0 before.
template <class Write>
void fill_by_slices(const Choices& choices, const CsrView& a, std::uint64_t window_rows, Extent (*extent)(const Slice&),
                    std::uint64_t element_bytes, std::uint64_t begin, std::span<std::byte> out, Write&& write) {
  const auto begin_of = [&](std::uint64_t s) {
    const Extent has = extent(choices.slices[std::min(s, choices.slices.size() - 1)]);
    return (has.begin + (s < choices.slices.size() ? 0 : has.count)) * element_bytes;
  };
  fill_pieces(choices.slices.size(), begin_of, begin, out, [&](std::uint64_t s, std::span<std::byte> bytes) {
    std::fill(bytes.begin(), bytes.end(), std::byte{0});
    write(s, choices.lanes_of(a, window_rows, s), bytes);
  });
}

void fill(const PartPlan& plan, const CsrView& a, std::size_t section, std::uint64_t begin, std::span<std::byte> out) {
  const auto& choices = choices_of<Choices>(plan);
  const auto by_slices = [&](Extent (*extent)(const Slice&), std::uint64_t element_bytes, auto&& write) {
    fill_by_slices(choices, a, plan.info.params[param_window_rows], extent, element_bytes, begin, out, write);
  };
  switch (section) {
    case section_windows:
      return copy_from(choices.windows.data(), begin, out);
    case section_slices:
      return copy_from(choices.slices.data(), begin, out);
    case section_stream:
      return by_slices(stream_of, unit, [&](std::uint64_t s, const Lanes& from, std::span<std::byte> bytes) {
        const Slice& slice = choices.slices[s];
        const std::span<const std::uint16_t> rows =
            slice.is_listed() ? std::span<const std::uint16_t>(choices.rows[s]).first(slice.rows())
                              : std::span<const std::uint16_t>{};
        write_stream(a, slice, from, rows, bytes);
      });
    case section_codes:
      return by_slices(
          codes_of, sizeof(std::uint32_t),
          [&, ids = ValueIds(choices.table)](std::uint64_t s, const Lanes& from, std::span<std::byte> bytes) {
            write_codes(a, choices.slices[s], from, ids, bytes);
          });
    default:
      if (source_of(plan.info) == Source::raw)
        return by_slices(values_of, size_of(a.value_type()),
                         [&](std::uint64_t s, const Lanes& from, std::span<std::byte> bytes) {
                           write_values(a, choices.slices[s], from, bytes);
                         });
      fill_table(a.value_type(), choices.table, begin, out);
  }
}

/// Every entry takes its value and, in a window step, a byte for its column; or of codes, four bits.
Least least(const Survey& s) {
  const std::uint64_t nnz = s.a.nnz(), steps = nnz / lanes;
  const Objective optimize = s.fewest_bytes ? Objective::bytes : Objective::time;
  const bool codes = s.values != nullptr && usual_source({nnz, s.values->distinct()}, optimize) == Source::code;
  const std::uint64_t bytes = nnz + (codes ? nnz / 2 : nnz * size_of(s.a.value_type()));
  // A piece has turns of 64 of 2,048 columns at least, of more than 32,768.
  constexpr std::uint64_t least_in_turns = 1024;
  return {bytes, s.longest_row >= least_in_turns, {{Work::multiplies, 1}, {Work::plain_steps, steps}}};
}

}  // namespace
}  // namespace sjds_plans

extern const LayoutEncoder sjds{
    .name = "sjds",
    .summary = "sliced JDS: slices of 8 sorted rows, side by side and without padding",
    .suits = "rows of any lengths, on CPUs; auto takes it only for those",
    .settings = sjds_plans::settings,
    .plan = sjds_plans::plan,
    .fill = sjds_plans::fill,
    .traits = {.least = sjds_plans::least, .aims = true, .hosts_only = true, .update_multiplies = 2.5}};

}  // namespace spmvpack::encoder::layouts
