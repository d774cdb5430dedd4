#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "sentences.hpp"
#include "spmvpack/analyzer/report.hpp"
#include "spmvpack/container/base/text.hpp"
#include "spmvpack/container/layouts/csr.hpp"
#include "spmvpack/encoder/encode.hpp"
#include "spmvpack/encoder/payback.hpp"

namespace spmvpack::analyzer {
namespace {

/// Everything that a browser needs. Names begin with the class of the whole, as a notebook has styles of its own.
constexpr std::string_view style = R"(<style>
.spmvpack{--paper:#fff;--ink:#1f2328;--quiet:#59636e;--line:#d1d9e0;--bar:#4a7ab5;--best:#b3541e;
font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:60rem;margin:auto;padding:1rem;
overflow-wrap:anywhere}
@media(prefers-color-scheme:dark){.spmvpack{--paper:#15191e;--ink:#e6edf3;--quiet:#9198a1;--line:#3d444d;--bar:#5b8fd0;
--best:#e0823d}}
@media print{.spmvpack{--paper:#fff;--ink:#000;--quiet:#444;--line:#999;--bar:#4a7ab5;--best:#b3541e;padding:0;
print-color-adjust:exact;-webkit-print-color-adjust:exact}.spmvpack section{break-inside:avoid}}
.spmvpack h1{font-size:1.4rem;margin:0}.spmvpack h2{font-size:1.1rem;margin:1.5rem 0 .3rem}
.spmvpack p{margin:.3rem 0}.spmvpack .use{font-size:1.1rem;border-left:.3rem solid var(--best);padding-left:.7rem;margin:.8rem 0}
.spmvpack .quiet,.spmvpack figcaption,.spmvpack caption{color:var(--quiet);font-size:.85rem;text-align:left}
.spmvpack caption{caption-side:bottom;padding-top:.3rem}.spmvpack figure{margin:0}
.spmvpack table{border-collapse:collapse;width:100%;table-layout:auto}
.spmvpack th,.spmvpack td{padding:.15rem .5rem .15rem 0;text-align:right;font-weight:normal;border:0;background:none;
white-space:nowrap}.spmvpack thead th{color:var(--quiet);font-size:.85rem;border-bottom:1px solid var(--line)}
.spmvpack th:first-child,.spmvpack .facts td{text-align:left}.spmvpack .facts td{white-space:normal;width:75%}
.spmvpack td.bar,.spmvpack th.bar{width:50%;padding-right:0}
.spmvpack td.bar svg{display:block;width:100%;height:1rem}.spmvpack tr.best th{font-weight:bold;color:var(--best)}
.spmvpack .bar rect{fill:var(--bar)}.spmvpack .best .bar rect{fill:var(--best)}
.spmvpack .range,.spmvpack .axis{stroke:var(--ink);fill:none;stroke-width:1.5;vector-effect:non-scaling-stroke}
.spmvpack .axis{stroke:var(--line)}.spmvpack .cut{stroke:var(--paper);stroke-width:3;vector-effect:non-scaling-stroke}
.spmvpack .picture{display:block;width:100%;max-width:32rem;border:1px solid var(--line);background:var(--paper)}
.spmvpack .picture path{stroke:var(--ink);fill:none}.spmvpack .key{width:8rem;height:.8rem;vertical-align:middle}
.spmvpack .key rect{fill:var(--ink)}.spmvpack .lines{display:block;width:100%;max-width:32rem;height:10rem}
.spmvpack .lines .a{stroke:var(--bar)}.spmvpack .lines .b{stroke:var(--best)}
.spmvpack .lines .a,.spmvpack .lines .b{fill:none;stroke-width:2.5;vector-effect:non-scaling-stroke}
.spmvpack .name-a{color:var(--bar)}.spmvpack .name-b{color:var(--best)}
@media(max-width:30rem){.spmvpack{padding:.6rem;font-size:14px}.spmvpack td.bar,.spmvpack th.bar{width:30%}}
</style>
)";

std::string html(std::string_view text) {
  std::string safe;
  for (const char c : escape(text, 4096)) switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        safe += c;
    }
  return safe;
}

/// The lines of `text` as paragraphs.
std::string paragraphs(std::string_view text) {
  std::string all;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    all += fmt::format("<p>{}</p>\n", html(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all;
}

/// All of `text` as one paragraph; empty if it is.
std::string paragraph(std::string text) {
  if (text.ends_with('\n')) text.pop_back();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return paragraphs(text);
}

/// How opaque a shade is, from 1 on.
std::string opacity(unsigned level) { return fmt::format("{:.2f}", (1.0 + level) / (1.0 + Density::shades)); }

/// The cells of each shade as one path, of a piece for each run of cells.
std::string cells(const Density& density, const Shades& shades) {
  std::array<std::string, Density::shades + 1> paths;
  for (std::uint32_t row = 0; row < density.height; ++row) {
    const std::uint8_t* const levels = shades.levels.data() + std::uint64_t{row} * density.width;
    for (std::uint32_t first = 0, end = 0; first < density.width; first = end) {
      for (end = first + 1; end < density.width && levels[end] == levels[first];) ++end;
      if (levels[first] != 0) paths.at(levels[first]) += fmt::format("M{} {}h{}", first, row, end - first);
    }
  }
  std::string all;
  for (unsigned level = 1; level < paths.size(); ++level)
    if (!paths.at(level).empty())
      all += fmt::format("<path stroke-opacity='{}' d='{}'/>", opacity(level), paths.at(level));
  return all;
}

std::string picture(const Density& density) {
  const Shades shades = shades_of(density);
  if (shades.most == 0) return "";
  const std::string meaning =
      fmt::format("{} by {} cells; the fullest is {} full, each fainter shade {:.3g} times less", density.height,
                  density.width, share_text(shades.most), shades.factor);
  // As high as the matrix has rows, within bounds: a matrix of one row is still to be seen.
  const double form = std::clamp(static_cast<double>(density.cols) / static_cast<double>(density.rows), 0.5, 8.0);
  std::string key;
  for (unsigned level = 1; level <= Density::shades; ++level)
    key += fmt::format("<rect x='{}' width='1' height='1' fill-opacity='{}'/>", level - 1, opacity(level));
  return fmt::format(
      "<section><h2>Where the entries are</h2><figure>\n"
      "<svg class='picture' role='img' aria-label='Density of the matrix: {0}' viewBox='0 0 {1} {2}' "
      "preserveAspectRatio='none' style='aspect-ratio:{3:.4f}' shape-rendering='crispEdges'>"
      "<g transform='translate(0,.5)'>{4}</g></svg>\n"
      "<figcaption>{0} <svg class='key' aria-hidden='true' viewBox='0 0 {5} 1' "
      "preserveAspectRatio='none'>{6}</svg></figcaption>\n</figure></section>\n",
      meaning, density.width, density.height, form, cells(density, shades), Density::shades, key);
}

/// A bar, of a `scale` that is all of the width; with a range if `low` and `high` are given. What is longer is cut.
std::string html_bar(double length, double scale, std::optional<double> low = {}, std::optional<double> high = {}) {
  const auto at = [&](double value) { return scale <= 0 ? 0 : std::min(100.0, 100 * value / scale); };
  std::string drawn = fmt::format("<rect y='1' width='{:.1f}' height='8'/>", at(length));
  if (length > scale) drawn += "<path class='cut' d='M92 10l3-10M95 10l3-10'/>";
  if (low && high && length <= scale)
    drawn += fmt::format("<path class='range' d='M{0:.1f} 5H{1:.1f}M{0:.1f} 2V8M{1:.1f} 2V8'/>", at(*low), at(*high));
  return fmt::format(
      "<td class='bar'><svg aria-hidden='true' viewBox='0 0 100 10' preserveAspectRatio='none'>{}</svg></td>", drawn);
}

std::string row_lengths(const Structure& s) {
  const std::vector<std::uint64_t>& rows = s.row_lengths.histogram;
  if (rows.empty()) return "";
  const auto most = static_cast<double>(*std::max_element(rows.begin(), rows.end()));
  std::string lines;
  for (std::size_t bin = 0; bin < rows.size(); ++bin) {
    if (rows[bin] == 0 && lines.empty()) continue;
    const std::uint64_t from = bin == 0 ? 0 : std::uint64_t{1} << (bin - 1), to = bin == 0 ? 0 : 2 * from - 1;
    lines +=
        fmt::format("<tr><th scope='row'>{}</th><td>{}</td><td>{}</td>{}</tr>\n",
                    from == to ? grouped(from) : fmt::format("{} - {}", grouped(from), grouped(to)), grouped(rows[bin]),
                    html(percent(rows[bin], s.rows)), html_bar(static_cast<double>(rows[bin]), most));
  }
  return fmt::format(
      "<section><h2>Row lengths</h2><table><caption>{} to {} entries per row, mean {:.2f}</caption><thead><tr>"
      "<th scope='col'>entries</th><th scope='col'>rows</th><th scope='col'>share</th>"
      "<th class='bar' aria-hidden='true'></th></tr></thead><tbody>\n{}</tbody></table></section>\n",
      grouped(s.row_lengths.min), grouped(s.row_lengths.max), s.row_lengths.mean, lines);
}

const LayoutCost* csr_of(const Report& report) {
  const auto csr = std::find_if(report.layouts.begin(), report.layouts.end(),
                                [](const LayoutCost& c) { return c.name == layouts::csr::layout.name; });
  return csr == report.layouts.end() ? nullptr : &*csr;
}

/// Bars are as long as the longest, but not more than three times csr's, which are to be told apart.
template <class Value>
double scale_of(const std::vector<const LayoutCost*>& layouts, const Report& report, Value&& value) {
  double scale = 0;
  for (const LayoutCost* cost : layouts) scale = std::max(scale, value(*cost));
  const LayoutCost* const csr = csr_of(report);
  constexpr double most = 3;
  return csr == nullptr ? scale : std::min(scale, most * value(*csr));
}

/// A footnote's sign, as in the text.
std::string marks(const Report& report, const LayoutCost& cost) {
  return std::string(cost.too_large ? "*" : "") +
         (cost.fill_reads_x   ? "~"
          : cost.by_name_only ? "^"
                              : "") +
         (may_refuse_zeros(report, cost) ? "=" : "");
}

std::string footnotes(const Report& report, const std::vector<const LayoutCost*>& layouts) {
  const auto any = [&](bool LayoutCost::*member) {
    return std::any_of(layouts.begin(), layouts.end(), [&](const LayoutCost* c) { return c->*member; });
  };
  std::string text;
  if (any(&LayoutCost::too_large))
    text +=
        fmt::format("<br>* too large: over {} times the bytes of csr; encode needs --force-size", encoder::max_growth);
  if (any(&LayoutCost::fill_reads_x))
    text += "<br>~ multiplies its padding, too, and is taken only if asked for (--layout)";
  if (any(&LayoutCost::by_name_only)) text += "<br>^ taken only if asked for (--layout)";
  if (std::any_of(layouts.begin(), layouts.end(), [&](const LayoutCost* c) { return may_refuse_zeros(report, *c); }))
    text += "<br>= refuses an update that makes a value +0, or a +0 another value; taken only if asked for (--layout)";
  return text;
}

std::string html_line(const Report& report, const LayoutCost& cost, const std::string& cells) {
  const bool best = &cost == &report.layouts[report.recommended];
  return fmt::format("<tr{}><th scope='row'>{}{}</th>{}</tr>\n", best ? " class='best'" : "", html(cost.name),
                     marks(report, cost), cells);
}

std::string html_table(std::string_view title, std::string_view what, const std::string& caption,
                       const std::string& lines) {
  return fmt::format(
      "<section><h2>{}</h2><table><caption>{}</caption><thead><tr><th scope='col'>layout</th>"
      "<th scope='col'>{}</th><th scope='col'>of csr's</th><th class='bar' "
      "aria-hidden='true'></th></tr></thead>"
      "<tbody>\n{}</tbody></table></section>\n",
      title, caption, what, lines);
}

std::string bytes_table(const Report& report, std::vector<const LayoutCost*> layouts) {
  const auto bytes = [](const LayoutCost& c) { return static_cast<double>(c.device_bytes); };
  std::stable_sort(layouts.begin(), layouts.end(),
                   [](const LayoutCost* a, const LayoutCost* b) { return a->device_bytes < b->device_bytes; });
  const double scale = scale_of(layouts, report, bytes);
  std::string lines;
  for (const LayoutCost* cost : layouts)
    lines += html_line(report, *cost,
                       fmt::format("<td>{}</td><td>{}</td>{}", grouped(cost->device_bytes),
                                   html(percent_text(cost->bytes_of_csr)), html_bar(bytes(*cost), scale)));
  return html_table("Bytes", "bytes", "Of the matrix; all are read by each multiply." + footnotes(report, layouts),
                    lines);
}

/// Nine of ten predictions near the best are off by at most so much, for kinds of matrices to which no price was fitted
/// (docs/PREDICTIONS.md, "Kinds that prices were not fitted to"); unset for a profile of the user's.
std::optional<double> error_of(const encoder::Aim& aim) {
  const encoder::Profile& profile = encoder::profile_of(aim);
  const auto built_in = encoder::profiles();
  if (std::none_of(built_in.begin(), built_in.end(), [&](const encoder::Profile& p) { return &p == &profile; }))
    return {};
  return profile.target == encoder::Target::gpu ? 0.2 : 0.6;
}

std::string times_table(const Report& report, const std::vector<const LayoutCost*>& layouts) {
  const std::optional<double> error = error_of(report.aim);
  const double reach = 1 + error.value_or(0);
  const auto seconds = [](const LayoutCost& c) { return c.predicted_seconds; };
  const double scale = reach * scale_of(layouts, report, seconds);
  std::string lines;
  for (const LayoutCost* cost : layouts) {
    const double time = cost->predicted_seconds;
    lines += html_line(report, *cost,
                       fmt::format("<td>{}</td><td>{}</td>{}", time_text(time),
                                   cost->time_of_csr ? html(percent_text(*cost->time_of_csr)) : "-",
                                   error ? html_bar(time, scale, time / reach, time * reach) : html_bar(time, scale)));
  }
  std::string caption = fmt::format("Predicted for {}{}, not measured.", html(encoder::profile_of(report.aim).machine),
                                    report.aim.columns == 1 ? "" : fmt::format(", {} columns", report.aim.columns));
  if (error)
    caption += fmt::format(" The lines show the range of about nine in ten measured times: {:.0f} % either way.",
                           100 * *error);
  return html_table("Predicted time of a multiply", "time", caption, lines);
}

/// Total times of csr and of the recommended layout, by the number of multiplies; empty where encoding never pays.
std::string break_even(const Report& report) {
  const LayoutCost* const csr = csr_of(report);
  const LayoutCost& best = report.layouts[report.recommended];
  if (csr == nullptr || &best == csr || !report.recommended_encode_seconds || !report.recommended_pays_after ||
      *report.recommended_pays_after == 0)
    return "";
  const std::uint64_t last = 2 * *report.recommended_pays_after;
  const double most = static_cast<double>(last) * csr->predicted_seconds, encode = *report.recommended_encode_seconds;
  const auto height = [&](double seconds) { return 100 - 100 * std::min(1.0, seconds / most); };
  return fmt::format(
      "<section><h2>When encoding pays</h2><figure><svg class='lines' role='img' aria-label='Total time by the "
      "number of multiplies: {0} takes less than csr {1}' viewBox='0 0 100 100' preserveAspectRatio='none'>"
      "<path class='axis' d='M0 0V100H100M50 0V100'/><path class='a' d='M0 100L100 0'/>"
      "<path class='b' d='M0 {2:.1f}L100 {3:.1f}'/></svg>\n"
      "<figcaption>Total time of up to {4} multiplies: <b class='name-a'>csr</b>, {5} each, and <b class='name-b'>"
      "{0}</b>, {6} to encode on one core and {7} each. The two meet {1} "
      "(predicted).</figcaption></figure></section>\n",
      html(best.name), encoder::pays_text(report.recommended_pays_after), height(encode),
      height(encode + static_cast<double>(last) * best.predicted_seconds), grouped(last),
      time_text(csr->predicted_seconds), time_text(encode), time_text(best.predicted_seconds));
}

std::string structure(const Structure& s) {
  std::string lines;
  const auto add = [&](std::string_view name, const std::string& value) {
    lines += fmt::format("<tr><th scope='row'>{}</th><td>{}</td></tr>\n", name, html(value));
  };
  if (s.density) add("density", share_text(*s.density));
  add("symmetry", symmetry_text(s));
  add("bandwidth",
      fmt::format("{} below, {} above the diagonal", grouped(s.lower_bandwidth), grouped(s.upper_bandwidth)));
  add("empty", counted(s.empty_rows, "row") + ", " + counted(s.empty_cols, "column"));
  add("distinct values", distinct_text(s));
  if (s.not_finite != 0) add("not finite", fmt::format("{} infinities or NaNs", grouped(s.not_finite)));
  return fmt::format("<section><h2>Structure</h2><table class='facts'><tbody>\n{}</tbody></table></section>\n", lines);
}

std::string title_of(const Report& report) { return report.name.empty() ? "Matrix" : html(report.name); }

}  // namespace

std::string to_html_fragment(const Report& report) {
  const MatrixFacts& f = report.facts;
  const std::vector<const LayoutCost*> layouts = shown_layouts(report, Detail::summary);
  return fmt::format(
      "<div class='spmvpack'>\n{}<h1>{}</h1>\n<p>{} x {}, {}, {} ({}, {})</p>\n"
      "<div class='use'><p>Use <b>{}</b>: {}</p>\n{}{}</div>\n{}{}{}{}{}{}{}</div>\n",
      style, title_of(report), grouped(f.rows), grouped(f.cols), counted(f.nnz, "nonzero"), to_string(f.value_type),
      to_string(f.field), to_string(f.symmetry), html(report.layouts[report.recommended].name), html(report.reason),
      paragraphs(payback_text(report)), paragraph(updatable_text(report)) + paragraph(complex_text(report)),
      paragraphs(sparing_text(report)), report.density ? picture(*report.density) : "", bytes_table(report, layouts),
      times_table(report, layouts), break_even(report), row_lengths(report.structure), structure(report.structure));
}

std::string to_html(const Report& report) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang='en'>\n<head>\n<meta charset='utf-8'>\n"
      "<meta name='viewport' content='width=device-width,initial-scale=1'>\n"
      "<meta name='color-scheme' content='light dark'>\n<title>{}: spmvpack report</title>\n"
      "<style>body{{margin:0}}@media(prefers-color-scheme:dark){{body{{background:#15191e}}}}"
      "@media print{{body{{background:#fff}}}}</style>\n</head>\n<body>\n<main>\n{}</main>\n</body>\n</html>\n",
      title_of(report), to_html_fragment(report));
}

}  // namespace spmvpack::analyzer
