#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "sentences.hpp"
#include "spmvpack/analyzer/report.hpp"
#include "spmvpack/container/base/text.hpp"
#include "spmvpack/container/base/value_text.hpp"
#include "spmvpack/encoder/encode.hpp"

namespace spmvpack::analyzer {
namespace {

using Row = std::vector<std::string>;

constexpr std::size_t bar_columns = 20, longest_name = 77;

/// Rows of cells: the first `left` columns flush left, the others flush right.
std::string table(const std::vector<Row>& rows, std::size_t left) {
  std::vector<std::size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i)
      line += i < left ? fmt::format("  {:<{}}", row[i], widths[i]) : fmt::format("  {:>{}}", row[i], widths[i]);
    text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }
  return text;
}

/// A line with names behind it, which goes on in others where it would be longer than 80 characters.
std::string with_names(std::string line, const std::vector<std::string_view>& names) {
  constexpr std::size_t most = 80;
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string word = fmt::format(" {}{}", names[i], i + 1 < names.size() ? "," : "");
    if (line.size() + word.size() > most) text += std::exchange(line, "   ") + '\n';
    line += word;
  }
  return text + line + '\n';
}

std::string recommendation_text(const Report& report) {
  return fmt::format("Use {}: {}\n{}{}{}", report.layouts[report.recommended].name, report.reason, payback_text(report),
                     sparing_text(report), complex_text(report));
}

std::string map_text(const IndexMap& map) {
  if (map.kind == format::MapKind::all) return "all";
  if (map.kind == format::MapKind::list) return counted(map.count, "listed", "listed");
  return map.count == 0 ? "none" : fmt::format("{} - {}", grouped(map.begin + 1), grouped(map.begin + map.count));
}

std::string layouts_text(const Report& report, Detail detail) {
  const std::vector<const LayoutCost*> sorted = shown_layouts(report, detail);
  std::vector<std::string_view> left_out, refused;
  for (const LayoutCost& cost : report.layouts)
    if (std::find(sorted.begin(), sorted.end(), &cost) == sorted.end()) left_out.emplace_back(cost.name);
  for (const Refusal& refusal : report.refused)
    if (refusal.not_planned)
      left_out.emplace_back(refusal.name);
    else if (detail == Detail::full || !refusal.reproduction)
      refused.emplace_back(refusal.name);
  std::vector<Row> rows{{"", "bytes", "per nonzero", "of csr's", "time", "of csr's", ""}};
  bool any_too_large = false, any_fill_reads_x = false, any_by_name_only = false, any_refuses_zeros = false;
  for (const LayoutCost* cost : sorted) {
    // Whoever wants the digits of what is too large finds them in the details.
    const bool long_number = cost->device_bytes >= 1'000'000'000'000;
    rows.push_back(
        {cost->name,
         long_number ? fmt::format("{:.2e}", static_cast<double>(cost->device_bytes)) : grouped(cost->device_bytes),
         per_nonzero(cost->device_bytes, report.facts.nnz), percent_text(cost->bytes_of_csr),
         time_text(cost->predicted_seconds), cost->time_of_csr ? percent_text(*cost->time_of_csr) : "-",
         fmt::format("{}{}{}", cost->too_large ? "*" : " ",
                     cost->fill_reads_x   ? "~"
                     : cost->by_name_only ? "^"
                                          : " ",
                     may_refuse_zeros(report, *cost) ? "=" : "")});
    any_too_large = any_too_large || cost->too_large;
    any_fill_reads_x = any_fill_reads_x || cost->fill_reads_x;
    any_by_name_only = any_by_name_only || cost->by_name_only;
    any_refuses_zeros = any_refuses_zeros || may_refuse_zeros(report, *cost);
  }
  std::string text = table(rows, 1);
  text += fmt::format("  bytes: of the matrix, all read by each multiply; time: predicted, {}\n",
                      encoder::profile_of(report.aim).machine);
  if (report.aim.columns != 1) text += fmt::format("  a multiply is of {} columns of X at once\n", report.aim.columns);
  if (any_too_large)
    text +=
        fmt::format("  * too large: over {} times the bytes of csr; encode needs --force-size\n", encoder::max_growth);
  if (any_fill_reads_x)
    text +=
        "  ~ multiplies its padding, too: an Inf or NaN in x may spread to rows that do\n"
        "    not have its column; taken only if asked for (--layout)\n";
  if (any_by_name_only) text += "  ^ taken only if asked for (--layout)\n";
  if (any_refuses_zeros)
    text +=
        "  = refuses an update that makes a value +0, or a +0 another value; taken only\n"
        "    if asked for (--layout)\n";
  if (!refused.empty()) text += with_names("  not possible here:", refused);
  if (!left_out.empty()) text += with_names("  --details also has", left_out);
  return text;
}

/// What scaled rows and columns take; empty unless it was asked for.
std::string scaled_text(const Report& report) {
  if (!report.scaled) return "";
  const ScaledCost& cost = *report.scaled;
  return fmt::format(
      "\nScaled rows and columns, D_r A D_c: {}\n"
      "  by factors: {}, with {} bytes of vectors more\n"
      "  in the values: {}, as {} of {} bytes\n",
      cost.factors_pay() ? "factors pay" : "scaled values pay", time_text(cost.factors_seconds),
      grouped(cost.vector_bytes), time_text(cost.values.predicted_seconds), cost.values.layout,
      grouped(cost.values.device_bytes));
}

/// What A^T takes; empty unless it was asked for.
std::string transpose_text(const Report& report) {
  if (!report.transpose) return "";
  const TransposeCost& cost = *report.transpose;
  if (cost.symmetry != Symmetry::general)
    return fmt::format("\nA^T is {}, as the matrix is {}: it takes nothing more\n",
                       spmvpack::transpose_text(cost.symmetry), to_string(cost.symmetry));
  return fmt::format("\nA^T besides, as {}: {} bytes, {} per nonzero\n  {}\n", cost.layout, grouped(cost.device_bytes),
                     per_nonzero(cost.device_bytes, report.facts.nnz), cost.reason);
}

/// What a multiply without compression would take; empty without nonzeros.
std::string balance_text(const Balance& b, std::uint64_t columns) {
  if (!b.alpha) return "";
  const auto short_number = [](double number) {
    return number >= 999'999.5 ? fmt::format("{:.1e}", number)
           : number >= 9.95    ? grouped(static_cast<std::uint64_t>(std::llround(number)))
                               : fmt::format("{:.1f}", number);
  };
  const double ratio = b.copy_seconds / b.multiply_seconds;
  const std::string times = ratio >= 1 ? short_number(ratio) + " times" : short_number(100 * ratio) + " % of";
  const std::string few = short_number(*b.dominated_below), many = short_number(*b.tenth_from);
  const std::vector<Row> rows{
      {"multiply", fmt::format("{} at {:g} GB/s, if only memory limits it: {:.2f} bytes for",
                               time_text(b.multiply_seconds), b.speeds.memory / 1e9, *b.bytes_per_flop)},
      {"", fmt::format("each operation, {:.2f} elements of x loaded per nonzero (alpha)", *b.alpha)},
      {"copies", fmt::format("{} at {:g} GB/s for x to the GPU and y back, {} the", time_text(b.copy_seconds),
                             b.speeds.pcie / 1e9, times)},
      {"", ratio >= 0.1 ? "multiply: keep vectors on the GPU from one multiply to the next;" : "multiply;"},
      {"", *b.dominated_below > 0 ? fmt::format("copies take longer up to {} nonzeros per row,", few) : "copies take"},
      {"", fmt::format("less than 10 % from {} {}", many, *b.dominated_below > 0 ? "on" : "nonzeros per row on")}};
  return fmt::format("\nOn a GPU without compression{} (docs/LAYOUTS.md, \"Code balance\")\n{}",
                     columns == 1 ? "" : ", for one column", table(rows, 2));
}

/// The bounds of the paper's model; empty without nonzeros.
std::string bounds_text(const Balance& b) {
  if (!b.worst || !b.best) return "";
  std::vector<Row> rows{{"x is loaded", "alpha", "bytes/flop", "multiply", "GF/s", "with copies"}};
  const auto add = [&](const char* when, const BalanceBound& bound) {
    rows.push_back({when, fmt::format("{:.3g}", bound.alpha), fmt::format("{:.2f}", bound.bytes_per_flop),
                    time_text(bound.multiply_seconds), number_text(bound.gflops),
                    number_text(bound.gflops_with_copies)});
  };
  add("for every nonzero", *b.worst);
  add("once", *b.best);
  return "\nBounds of the model, on a GPU without compression\n" + table(rows, 1);
}

/// Of layouts of more parts, the text shows this many.
constexpr std::size_t shown_parts = 8;

/// Whether this counter belongs to a part that is shown: its name starts with "part12." if there are several.
bool is_shown(const LayoutCost& cost, const std::string& counter) {
  if (cost.parts.size() <= shown_parts) return true;
  std::size_t part = 0;
  for (std::size_t i = 4; i < counter.size() && counter[i] != '.'; ++i)
    part = 10 * part + static_cast<std::size_t>(counter[i] - '0');
  return part < shown_parts;
}

/// What the text leaves out of this layout, as a row of a table.
void add_hidden_parts(std::vector<Row>& rows, const LayoutCost& cost) {
  if (cost.parts.size() > shown_parts)
    rows.push_back({"", fmt::format("and {}: --json", counted(cost.parts.size() - shown_parts, "more part"))});
}

/// Layouts of several parts; empty if there are none.
std::string parts_text(const Report& report) {
  std::vector<Row> rows{{"", "part", "rows", "columns", "nonzeros", "bytes"}};
  for (const LayoutCost& cost : report.layouts) {
    if (cost.parts.size() < 2) continue;
    for (std::size_t i = 0; i < std::min(cost.parts.size(), shown_parts); ++i) {
      const PartInfo& part = cost.parts[i].info;
      rows.push_back({i == 0 ? cost.name : "", part.layout, map_text(part.rows), map_text(part.cols), grouped(part.nnz),
                      grouped(cost.parts[i].device_bytes)});
    }
    add_hidden_parts(rows, cost);
  }
  return rows.size() == 1 ? "" : "\nParts\n" + table(rows, 2);
}

std::string shares_text(const Report& report) {
  std::vector<Row> rows{{"", "", "bytes", "share", "per nonzero"}};
  for (const LayoutCost& cost : report.layouts) {
    for (const encoder::Counter& share : cost.byte_shares)
      if (is_shown(cost, share.name))
        rows.push_back({&share == cost.byte_shares.data() ? cost.name : "", share.name, grouped(share.value),
                        percent(share.value, cost.device_bytes), per_nonzero(share.value, report.facts.nnz)});
    add_hidden_parts(rows, cost);
  }
  return "Bytes by content\n" + table(rows, 2);
}

double in_mib(std::uint64_t bytes) { return static_cast<double>(bytes) / (1U << 20U); }

std::string details_text(const Report& report) {
  std::vector<Row> rows;
  for (const LayoutCost& cost : report.layouts) {
    rows.push_back({cost.name, "bytes", grouped(cost.device_bytes), ""});
    rows.push_back({"", "file bytes", grouped(cost.file_bytes), ""});
    rows.push_back(
        {"", "padding slots", grouped(cost.padding), percent(cost.padding, cost.padding + report.facts.nnz)});
    if (cost.workspace_bytes) rows.push_back({"", "workspace bytes", grouped(*cost.workspace_bytes), ""});
    for (const encoder::Counter& counter : cost.counters) {
      if (!is_shown(cost, counter.name)) continue;
      // "chunks.one_row" is a part of "chunks" if there is such a counter.
      const std::string parent = counter.name.substr(0, counter.name.find('.'));
      const auto whole = std::find_if(cost.counters.begin(), cost.counters.end(),
                                      [&](const encoder::Counter& c) { return c.name == parent; });
      const bool is_part = whole != cost.counters.end() && parent != counter.name;
      rows.push_back({"", is_part ? "  " + counter.name.substr(parent.size() + 1) : counter.name,
                      grouped(counter.value),
                      is_part                           ? percent(counter.value, whole->value)
                      : counter.name.ends_with("bytes") ? fmt::format("{:.2f} MiB", in_mib(counter.value))
                                                        : ""});
      if (counter.name == "published.bytes" && cost.published_reduction_percent)
        rows.push_back({"", *cost.published_reduction_percent < 0 ? "  above csr's" : "  below csr's", "",
                        fmt::format("{:.1f} %", std::abs(*cost.published_reduction_percent))});
    }
    add_hidden_parts(rows, cost);
  }
  std::string text = "Details\n" + table(rows, 2);
  for (const Refusal& refusal : report.refused) text += fmt::format("\nNo {}: {}\n", refusal.name, refusal.reason);
  for (const LayoutCost& cost : report.layouts)
    if (!cost.parts_reason.empty()) text += fmt::format("\n{}: {}\n", cost.name, cost.parts_reason);
  if (report.data_reduction_pjds)
    text += fmt::format("\nData reduction of pjds: {:.1f} % fewer slots than ell\n", 100 * *report.data_reduction_pjds);
  return text;
}

/// As many of the most frequent values as fit on a line.
std::string frequent_text(const Structure& s, std::size_t width) {
  std::string text;
  for (const encoder::ValueCount& v : s.values->most_frequent()) {
    const std::string value =
        dispatch_any(s.value_type, [&]<class T>(T) { return value_text(encoder::value_of_bits<T>(v.bits)); });
    const std::string item = fmt::format("{}{} ({})", text.empty() ? "" : ", ", value, percent(v.count, s.nnz));
    if (text.size() + item.size() > width) break;
    text += item;
  }
  return text.empty() ? "-" : text;
}

std::string structure_text(const Report& report) {
  const Structure& s = report.structure;
  const Provenance& p = report.provenance;
  std::vector<Row> rows;
  const auto add = [&](const char* label, std::string text) { rows.push_back({label, std::move(text)}); };
  add("entries per row",
      fmt::format("{} to {}, mean {:.2f}", grouped(s.row_lengths.min), grouped(s.row_lengths.max), s.row_lengths.mean));
  add("density", s.density ? fmt::format("{:.3g} %", *s.density * 100) : "-");
  add("symmetry", symmetry_text(s));
  add("bandwidth",
      fmt::format("{} below, {} above the diagonal", grouped(s.lower_bandwidth), grouped(s.upper_bandwidth)));
  add("diagonal",
      fmt::format("{} of {} entries present", grouped(s.diagonal_entries), grouped(std::min(s.rows, s.cols))));
  add("empty", counted(s.empty_rows, "row") + ", " + counted(s.empty_cols, "column"));
  add("distinct values", distinct_text(s));
  add("most frequent", frequent_text(s, 60));
  add("stored zeros", grouped(s.explicit_zeros));
  if (s.not_finite != 0) add("not finite", fmt::format("{} infinities or NaNs", grouped(s.not_finite)));
  if (!p.source.empty() && !report.name.ends_with(p.source)) add("source", escape(p.source, 56));
  add("source entries", fmt::format("{}, {} summed", grouped(p.entries), counted(p.duplicates, "duplicate")));
  if (p.rounded != 0)
    add("rounded", fmt::format("{}, relative error up to {:.1e}", counted(p.rounded, "value"), p.max_relative_error));
  return "Structure\n" + table(rows, 2);
}

std::string bar(std::uint64_t count, std::uint64_t most) {
  const std::uint64_t columns = most == 0 ? 0 : (2 * bar_columns * count + most) / (2 * most);  // rounded
  return std::string(columns, '#') + std::string(bar_columns - columns, ' ');
}

std::string row_lengths_text(const Structure& s) {
  const RowLengths& lengths = s.row_lengths;
  std::vector<Row> percentiles(2);
  for (std::size_t i = 0; i < RowLengths::ranks.size(); ++i) {
    percentiles[0].push_back(fmt::format("{} %", RowLengths::ranks.at(i)));
    percentiles[1].push_back(grouped(lengths.percentiles.at(i)));
  }
  const std::string text = fmt::format("Entries per row: {} to {}, mean {:.2f}, percentiles\n{}\n",
                                       grouped(lengths.min), grouped(lengths.max), lengths.mean, table(percentiles, 0));

  const std::uint64_t most =
      lengths.histogram.empty() ? 0 : *std::max_element(lengths.histogram.begin(), lengths.histogram.end());
  std::vector<Row> rows{{"entries", "rows", "share"}};
  for (std::size_t bin = 0; bin < lengths.histogram.size(); ++bin) {
    const std::uint64_t count = lengths.histogram[bin];
    if (count == 0 && rows.size() == 1) continue;  // the table starts with the shortest rows
    const std::uint64_t from = bin == 0 ? 0 : std::uint64_t{1} << (bin - 1), to = bin == 0 ? 0 : 2 * from - 1;
    rows.push_back({from == to ? grouped(from) : fmt::format("{} - {}", grouped(from), grouped(to)), grouped(count),
                    percent(count, s.rows), bar(count, most)});
  }
  return text + table(rows, 0);
}

/// Figure 3 of Kreutzer et al.; empty if all rows have as many entries.
std::string relative_lengths_text(const Structure& s) {
  const RowLengths& lengths = s.row_lengths;
  if (lengths.min == lengths.max) return "";
  const std::uint64_t most = *std::max_element(lengths.relative.begin(), lengths.relative.end());
  std::vector<Row> rows{{"up to", "rows", "share"}};
  for (std::size_t bin = 0; bin < lengths.relative.size(); ++bin)
    rows.push_back({fmt::format("{}/{}", bin + 1, lengths.relative.size()), grouped(lengths.relative.at(bin)),
                    percent(lengths.relative.at(bin), s.rows), bar(lengths.relative.at(bin), most)});
  return fmt::format("\nEntries per row, relative to the longest\n{}", table(rows, 0));
}

}  // namespace

std::string to_text(const Report& report, Detail detail) {
  const MatrixFacts& f = report.facts;
  std::string name = escape(report.name, longest_name);
  if (!name.empty()) name += '\n';
  std::string updatable = updatable_text(report);
  if (!updatable.empty()) updatable.insert(0, 1, '\n');
  std::string text =
      fmt::format("{}{} x {}, {}, {} ({}, {})\n\n{}\n{}{}{}{}{}\n{}", name, grouped(f.rows), grouped(f.cols),
                  counted(f.nnz, "nonzero"), to_string(f.value_type), to_string(f.field), to_string(f.symmetry),
                  recommendation_text(report), layouts_text(report, detail), updatable, scaled_text(report),
                  transpose_text(report), balance_text(report.balance, report.aim.columns), structure_text(report));
  if (detail == Detail::summary) return text;
  return text + fmt::format("\n{}{}{}{}\n{}\n{}", row_lengths_text(report.structure),
                            relative_lengths_text(report.structure), bounds_text(report.balance), parts_text(report),
                            shares_text(report), details_text(report));
}

}  // namespace spmvpack::analyzer
