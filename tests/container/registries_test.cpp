// Every room has the same layouts, and the documents have them as the code does: a layout or a section that one of them
// forgets fails here.

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "catch.hpp"
#include "spmvpack/container/layouts/registry.hpp"
#include "spmvpack/encoder/layout.hpp"
#include "spmvpack/encoder/time_model.hpp"
#include "spmvpack/gpu_loader/kernels.hpp"
#include "spmvpack/host_loader/host_matrix.hpp"

namespace spmvpack::test {
namespace {

using Names = std::vector<std::string>;
using Lines = std::vector<std::string>;

/// What docs/FORMAT.md calls a section's element type.
std::string_view element_name(Element element) {
  switch (element) {
    case Element::u8:
      return "u8";
    case Element::u16:
      return "u16";
    case Element::u32:
      return "u32";
    case Element::u64:
      return "u64";
    case Element::value:
      return "V";
    case Element::row_pointer:
      return "P";
  }
  return "";
}

Names layouts() {
  Names names;
  for (const Layout* const layout : layouts_known()) names.emplace_back(layout->name);
  return names;
}

std::string backquoted(std::string_view text) { return fmt::format("`{}`", text); }

Lines document(const std::string& name) {
  std::ifstream file(std::string(SPMVPACK_TEST_DOCS) + '/' + name);
  REQUIRE(file.is_open());
  Lines lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

/// The lines below this heading, up to the next one of its rank or above.
Lines below(const Lines& lines, const std::string& heading) {
  const std::size_t rank = heading.find(' ');
  const auto start = std::find(lines.begin(), lines.end(), heading);
  INFO(heading);
  REQUIRE(start != lines.end());
  const auto end = std::find_if(start + 1, lines.end(), [&](const std::string& line) {
    const std::size_t hashes = line.find_first_not_of('#');
    return hashes != std::string::npos && hashes != 0 && hashes <= rank && line[hashes] == ' ';
  });
  return {start + 1, end};
}

/// The texts of all headings of that rank: "###".
Names headings(const Lines& lines, const std::string& rank) {
  Names all;
  for (const std::string& line : lines)
    if (line.starts_with(rank + ' ')) all.push_back(line.substr(rank.size() + 1));
  return all;
}

bool mentions(const Lines& lines, std::string_view text) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const std::string& line) { return line.find(text) != std::string::npos; });
}

/// The cells of a table's row, without the blanks around them.
std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> all;
  std::istringstream text(line.substr(1));
  for (std::string cell; std::getline(text, cell, '|');) {
    const std::size_t first = cell.find_first_not_of(' ');
    all.push_back(first == std::string::npos ? "" : cell.substr(first, cell.find_last_not_of(' ') - first + 1));
  }
  return all;
}

/// The rows of the table of sections, the one headed "section"; its own heading and rule left out.
std::vector<std::vector<std::string>> section_rows(const Lines& lines) {
  auto line =
      std::find_if(lines.begin(), lines.end(), [](const std::string& text) { return text.starts_with("| section |"); });
  REQUIRE(lines.end() - line > 2);
  std::vector<std::vector<std::string>> rows;
  for (line += 2; line != lines.end() && line->starts_with('|'); ++line) rows.push_back(cells(*line));
  return rows;
}

void check_kind(const SectionDescription& section, const std::string& kind) {
  const std::string place = section.device() ? "device" : "host";
  if (section.required()) {
    CHECK(kind == place);
  } else {
    CHECK(kind.find(place) != std::string::npos);
    CHECK(kind.find("optional") != std::string::npos);
  }
}

/// The rows that explain a unit of work: its own, or one of `NAME.what` that lists the layout.
std::size_t explanations(const Lines& lines, const std::string& unit) {
  const std::size_t dot = std::min(unit.find('.'), unit.size());
  const std::string family = backquoted("NAME" + unit.substr(dot)), layout = unit.substr(0, dot);
  return static_cast<std::size_t>(std::count_if(lines.begin(), lines.end(), [&](const std::string& line) {
    if (!line.starts_with('|')) return false;
    const std::vector<std::string> row = cells(line);
    if (row.size() < 3 || row[0] != family) return !row.empty() && row[0] == backquoted(unit);
    return fmt::format(", {},", row[1]).find(fmt::format(", {},", layout)) != std::string::npos;
  }));
}

}  // namespace

TEST_CASE("container, encoder and both loaders have the same layouts, in the same order") {
  const Names known = layouts();
  REQUIRE_FALSE(known.empty());
  Names encoded;
  for (const encoder::LayoutEncoder& layout : encoder::layout_encoders()) encoded.emplace_back(layout.name);
  CHECK(encoded == known);
  const auto multiplied = host_loader::layout_names();
  CHECK(Names(multiplied.begin(), multiplied.end()) == known);
  for (const std::string& name : known) {
    INFO(name);
    CHECK_FALSE(gpu_loader::kernels(name).empty());
  }
}

TEST_CASE("what a part keeps of its layout has room, and a file can name it") {
  for (const Layout* const layout : layouts_known()) {
    INFO(layout->name);
    CHECK(layout->sections.size() <= PartInfo{}.counts.size());
    CHECK(layout->parameters.size() <= PartInfo{}.params.size());
    for (const std::string_view name : layout->parameters)
      CHECK(format::name_view(format::make_name(name)) == name);  // not cut short
  }
}

TEST_CASE("every layout alone is a strategy, after auto") {
  const Names known = layouts();
  Names strategies;
  for (const encoder::Strategy& strategy : encoder::strategies()) strategies.push_back(strategy.name);
  REQUIRE(strategies.size() > known.size());
  CHECK(strategies[0] == "auto");
  strategies.erase(strategies.begin());
  strategies.resize(known.size());
  CHECK(strategies == known);
}

TEST_CASE("docs/FORMAT.md describes every layout as the code does") {
  const Lines section_7 = below(document("docs/FORMAT.md"), "## 7. Layouts");
  CHECK(headings(section_7, "###") == layouts());
  for (const Layout* const layout : layouts_known()) {
    INFO(layout->name);
    const Lines text = below(section_7, fmt::format("### {}", layout->name));
    const auto rows = section_rows(text);
    REQUIRE(rows.size() == layout->sections.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const SectionDescription& section = layout->sections[i];
      INFO(section.name);
      REQUIRE(rows[i].size() >= 5);  // section, element, count, alignment, kind
      CHECK(rows[i][0] == backquoted(section.name));
      CHECK(rows[i][1] == element_name(section.element));
      CHECK(rows[i][3] == fmt::to_string(section.alignment));
      check_kind(section, rows[i][4]);
    }
    for (const std::string_view parameter : layout->parameters) {
      INFO(parameter);
      CHECK(mentions(text, backquoted(parameter)));
    }
  }
}

TEST_CASE("docs/LAYOUTS.md has every layout and every kernel") {
  const Lines text = document("docs/LAYOUTS.md");
  const Names found = headings(text, "##");
  for (const std::string& name : layouts()) {
    INFO(name);
    CHECK(std::count(found.begin(), found.end(), name) == 1);
    for (const gpu_loader::KernelInfo& kernel : gpu_loader::kernels(name)) {
      INFO(kernel.name);
      CHECK(mentions(text, backquoted(kernel.name)));
    }
  }
}

TEST_CASE("docs/TIME_MODEL.md explains every unit of work once") {
  const Lines text = below(document("docs/TIME_MODEL.md"), "## Units of work");
  for (const std::string_view unit : encoder::units()) {
    INFO(unit);
    CHECK(explanations(text, std::string(unit)) == 1);
  }
}

TEST_CASE("README.md names every strategy but those of papers, which docs/LAYOUTS.md lists") {
  const Lines readme = document("README.md"), all = document("docs/LAYOUTS.md");
  for (const encoder::Strategy& strategy : encoder::strategies()) {
    INFO(strategy.name);
    CHECK(mentions(strategy.traits.reproduction ? all : readme, backquoted(strategy.name)));
  }
}

}  // namespace spmvpack::test
