#include "spmvpack/container/layouts/sjds.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "falling_sort.hpp"
#include "layouts/layouts.hpp"
#include "layouts/sjds_slices.hpp"
#include "spmvpack/container/parallel.hpp"
#include "spmvpack/encoder/survey.hpp"

namespace spmvpack::encoder::layouts {
namespace sjds_plans {
namespace {

constexpr std::array<Setting, 2> settings{
    Setting{"sjds.sigma", "auto, or 8 to 65536", "rows sorted together, rounded up to eights; auto: 256 to 1024"},
    Setting{"sjds.values", "auto, raw or code", "values as they are, or codes of 4 bits if at most 16 are distinct"}};

/// Rows that are sorted together: a sixteenth, so that x and y stay near, of few rows and of many.
std::uint64_t auto_window(std::uint64_t rows) {
  return std::clamp<std::uint64_t>(rows / 16 / lanes * lanes, 256, 1024);
}

/// Whether a row is added up by all lanes: in a lane of a slice with the next rows, which have `sum` entries with it,
/// it would leave more than a fifth of the slice's time to itself.
constexpr bool is_long(std::uint64_t length, std::uint64_t sum) {
  constexpr std::uint64_t least = 32;
  return length > max_entries || (length >= least && 4 * lanes * length > 5 * sum);
}

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
    Slice slice = measure(a, Lanes::of_rows(a, begin, {rows.data(), n}));
    slice.row = static_cast<std::uint32_t>(in_order ? begin + order[i] : begin);
    slice.set_kind(static_cast<std::uint32_t>(n), slice.is_wide(), !in_order, false);
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

/// The distinct values, if there are at most 16 and codes are not excluded.
std::vector<ValueKey> table_of(const PartMatrix& part, const PlanOptions& options) {
  const auto found = options.settings.find("sjds.values");
  const std::string wanted = found == options.settings.end() ? "auto" : found->second;
  if (wanted != "auto" && wanted != "raw" && wanted != "code")
    refuse_setting("sjds.values", wanted, settings[1].values);
  if (wanted == "raw") return {};
  const std::shared_ptr<const ValueTable> values =
      part.values != nullptr ? part.values : ValueTable::count(part.a, options.threads, false);
  std::vector<ValueKey> table;
  if (values->distinct() <= max_table)
    for (const ValueCount& v : values->most_frequent()) table.push_back(v.bits);
  else if (wanted == "code")
    throw Error(errc::unsupported, "sjds: more than 16 distinct values have no codes", {}, "use sjds.values=raw");
  return table;
}

/// Places of the slices in the stream. Returns its units.
std::uint64_t place_slices(CountedVector<Slice>& slices, Source source, std::uint64_t value_bytes) {
  std::uint64_t units = 0;
  for (Slice& slice : slices) {
    slice.begin = static_cast<std::uint32_t>(units);
    units += stream_layout(slice, source, static_cast<std::uint32_t>(value_bytes)).end / unit;
  }
  units += end_units;
  if (units > 0xFFFFFFFF)
    throw Error(errc::unsupported, "sjds: more than 32 GiB of entries", {},
                "use another layout, or parts of fewer rows");
  return units;
}

/// What a multiply on a host does.
std::vector<Counter> work_of(const Choices& choices, bool has_codes) {
  std::uint64_t windows = 0, steps = 0, tail = 0, listed = 0;
  for (const Slice& s : choices.slices) {
    windows += s.windows();
    steps += s.steps();
    tail += s.tail();
    listed += s.is_listed() ? s.rows() : 0;
  }
  std::vector<Counter> work{{"sjds.multiplies", 1},
                            {"sjds.slices", choices.slices.size()},
                            {"sjds.windows", windows},
                            {"sjds.steps", steps},
                            {"sjds.tail", tail},
                            {"sjds.listed", listed},
                            {"sjds.pieces", choices.pieces}};
  if (has_codes) work.push_back({"sjds.codes", windows + steps + tail});
  return work;
}

PartPlan plan(const PartMatrix& part, const PlanOptions& options) {
  const CsrView& a = part.a;
  const auto sigma = read_setting(options, "sjds.sigma", lanes, max_window_rows, "auto");
  const std::uint64_t window_rows = sigma ? round_up(*sigma, lanes) : auto_window(a.rows()),
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
  for (const WindowPlan& w : plans) {
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
  const std::uint64_t units = place_slices(choices.slices, source, size_of(a.value_type()));

  PartPlan plan = begin_plan(layout, part);
  plan.info.params[param_source] = static_cast<std::uint64_t>(source);
  plan.info.params[param_window_rows] = window_rows;
  plan.info.params[param_pieces] = choices.pieces;
  plan.info.counts[section_slices] = choices.slices.size() * slice_words;
  plan.info.counts[section_stream] = units * unit;
  plan.info.counts[section_table] = choices.table.size();
  add_sections(plan, sections);
  share_by_section(plan);
  plan.work = work_of(choices, source == Source::code);
  std::uint64_t window_entries = 0;
  for (const Slice& s : choices.slices) window_entries += std::uint64_t{s.windows()} * lanes;
  plan.counters = {{"source." + std::string(source_names.at(static_cast<std::size_t>(source))), 1},
                   {"sigma", window_rows},
                   {"slices", choices.row_slices()},
                   {"long_rows", long_rows.size()},
                   {"pieces", choices.pieces},
                   {"entries.windows", window_entries}};
  plan.choices = std::make_shared<const Choices>(std::move(choices));
  return plan;
}

/// The slices that bytes of the stream belong to, written one by one.
void fill_stream(const PartPlan& plan, const Choices& choices, const CsrView& a, std::uint64_t begin,
                 std::span<std::byte> out) {
  const Source source = source_of(plan.info);
  const auto value_bytes = static_cast<std::uint32_t>(size_of(a.value_type()));
  const ValueIds ids(choices.table);
  std::fill(out.begin(), out.end(), std::byte{0});
  const auto after =
      std::upper_bound(choices.slices.begin(), choices.slices.end(), begin,
                       [](std::uint64_t byte, const Slice& s) { return byte < std::uint64_t{s.begin} * unit; });
  CountedVector<std::byte> bytes;
  for (auto s = static_cast<std::uint64_t>(after - choices.slices.begin()) - (after == choices.slices.begin() ? 0 : 1);
       s < choices.slices.size(); ++s) {
    const Slice& slice = choices.slices[s];
    const std::uint64_t at = std::uint64_t{slice.begin} * unit;
    if (at >= begin + out.size()) break;
    bytes.assign(stream_layout(slice, source, value_bytes).end, std::byte{0});
    const std::span<const std::uint16_t> rows =
        slice.is_listed() ? std::span<const std::uint16_t>(choices.rows[s]).first(slice.rows())
                          : std::span<const std::uint16_t>{};
    write_slice(a, slice, choices.lanes_of(a, plan.info.params[param_window_rows], s), rows, source, ids, bytes);
    copy_overlap(begin, out, at, bytes);
  }
}

void fill(const PartPlan& plan, const CsrView& a, std::size_t section, std::uint64_t begin, std::span<std::byte> out) {
  const auto& choices = choices_of<Choices>(plan);
  switch (section) {
    case section_windows:
      return copy_from(choices.windows.data(), begin, out);
    case section_slices:
      return copy_from(choices.slices.data(), begin, out);
    case section_stream:
      return fill_stream(plan, choices, a, begin, out);
    default:
      dispatch(a.value_type(), [&]<class T>(T) {
        compute_elements<bits_of<T>>(begin, out,
                                     [&](std::uint64_t i) { return static_cast<bits_of<T>>(choices.table[i]); });
      });
  }
}

/// Every entry takes its value and, in a window step, a byte for its column; or of codes, four bits.
Least least(const Survey& s) {
  const std::uint64_t nnz = s.a.nnz(), steps = nnz / lanes;
  const bool codes = s.values != nullptr && s.values->distinct() <= max_table;
  const std::uint64_t bytes = nnz + (codes ? nnz / 2 : nnz * size_of(s.a.value_type()));
  return {bytes, false, {{"sjds.multiplies", 1}, {"sjds.windows", steps}}};
}

}  // namespace
}  // namespace sjds_plans

extern const LayoutEncoder sjds{.name = "sjds",
                                .summary = "sliced JDS: slices of 8 sorted rows, side by side and without padding",
                                .suits = "CPUs: rows of any lengths, values of any kind; auto takes it for hosts alone",
                                .settings = sjds_plans::settings,
                                .plan = sjds_plans::plan,
                                .fill = sjds_plans::fill,
                                .least = sjds_plans::least,
                                .hosts_only = true};

}  // namespace spmvpack::encoder::layouts
