/// spmvpack inspect: shows a container's metadata.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/program_options/value_semantic.hpp>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "commands/command.hpp"
#include "json.hpp"
#include "output.hpp"
#include "spmvpack/container/base/text.hpp"
#include "spmvpack/container/file/reader.hpp"
#include "spmvpack/container/file/share.hpp"
#include "spmvpack/container/layouts/registry.hpp"
#include "spmvpack/encoder/time_model.hpp"
#include "spmvpack/gpu_loader/kernels.hpp"
#include "spmvpack/sources/read_matrix.hpp"

namespace spmvpack::tools {
namespace inspect_parts {
namespace {

namespace po = boost::program_options;

void add_options(po::options_description& options) { options.add_options()("json", po::bool_switch(), "print JSON"); }

std::string details() {
  return "Shows facts about the matrix, its provenance, its parts and its sections. Only\n"
         "the header, the tables and the provenance are read and checked; 'spmvpack\n"
         "verify' checks the rest. Parts are what each layout encodes: one is the whole\n"
         "matrix. Sections are the arrays in the file.\n"
         "A.spmvc may be -, for standard input.\n"
         "'chosen for' is the machine that the layout was chosen for. On another machine,\n"
         "another layout may be faster; 'report A.spmvc' for that machine predicts by how\n"
         "much.\n\n"
         "Example:\n"
         "  spmvpack inspect A.spmvc --json | jq .sections\n";
}

// Indexed by the enumerators; opening the container rejects all other numbers.
constexpr std::array<std::string_view, 2> codec_names{"none", "zstd"};
constexpr std::array<std::string_view, 3> filter_names{"none", "shuffle", "delta"};
constexpr std::array<std::string_view, 3> map_names{"all", "range", "list"};

template <std::size_t N, class E>
std::string_view name_of(const std::array<std::string_view, N>& names, E value) {
  return names.at(static_cast<std::size_t>(value));
}

bool is_required(const SectionInfo& s) { return (s.flags & format::section_required) != 0; }
bool is_device(const SectionInfo& s) { return (s.flags & format::section_device) != 0; }

/// The part's parameters with their names, such as "slots" and 8.
std::vector<std::pair<std::string_view, std::uint64_t>> parameters(const PartInfo& part) {
  std::vector<std::pair<std::string_view, std::uint64_t>> named;
  const auto names = find_layout(part.layout).parameters;
  for (std::size_t i = 0; i < names.size(); ++i) named.emplace_back(names[i], part.params.at(i));
  return named;
}

Json parameters_json(const PartInfo& part) {
  Json json = Json::object();
  for (const auto& [name, value] : parameters(part)) json[std::string(name)] = value;
  return json;
}

/// The parameters, such as "slots 8", with what stands for a number in words: in lines of at most 80 columns.
std::string parameters_text(const PartInfo& part) {
  constexpr std::size_t width = 66, indent = 14;
  std::string text, line;
  for (const auto& [name, value] : parameters(part)) {
    std::string item = fmt::format("{} {}", name, grouped(value));
    const auto names = find_layout(part.layout).source_names;
    if (name == "source" && value < names.size()) item += fmt::format(" ({})", names[value]);
    if (!line.empty() && line.size() + 3 + item.size() > width) {
      text += line + fmt::format(",\n{:{}}", "", indent);
      line.clear();
    }
    line += line.empty() ? item : ", " + item;
  }
  return text + line;
}

/// "all 40 rows", "rows 1 - 20", "20 listed rows".
std::string map_text(const IndexMap& map, std::string_view noun) {
  if (map.kind == format::MapKind::all) return "all " + counted(map.count, noun);
  if (map.kind == format::MapKind::list) return fmt::format("{} listed {}s", grouped(map.count), noun);
  return map.count == 0 ? fmt::format("no {}s", noun)
                        : fmt::format("{}s {} - {}", noun, grouped(map.begin + 1), grouped(map.begin + map.count));
}

Json map_json(const IndexMap& map) {
  return {{"map", name_of(map_names, map.kind)}, {"begin", map.begin}, {"count", map.count}};
}

/// What is said of a share; null for a whole matrix.
Json share_json(const Container& c) {
  const auto& share = c.facts().share;
  if (!share) return {};
  const std::span<const SectionInfo> sections = c.sections();
  const bool renumbered = std::any_of(sections.begin(), sections.end(), [](const SectionInfo& s) {
    return s.part == format::no_part && s.name == format::original_rows_section;
  });
  return {{"rank", share->rank},
          {"ranks", share->ranks},
          {"global_rows", share->global_rows},
          {"global_columns", share->global_cols},
          {"global_nonzeros", share->global_nnz},
          {"first_row", share->first_row},
          {"first_column", share->first_col},
          {"own_columns", share->own_cols},
          {"ghosts", c.facts().cols - share->own_cols},
          {"renumbered", renumbered},
          {"partition", fmt::format("{:016x}", share->partition)},
          {"global_digest", share->global_digest.to_string()}};
}

Json measured_json(const Provenance& p) {
  Json json = Json::array();
  for (const MeasuredLayout& m : p.measured)
    json.push_back({{"layout", m.layout}, {"predicted_seconds", m.predicted_seconds}, {"seconds", m.seconds}});
  return json;
}

std::string to_json(const Container& c) {
  const Provenance p = c.provenance();
  Json json{{"file_bytes", c.file_bytes()},
            {"format_version", fmt::format("{}.{}", format::version_major, format::version_minor)},
            {"matrix", facts_json(c.facts())},
            {"share", share_json(c)},
            {"device_bytes", c.device_bytes()},
            {"transpose_device_bytes", c.device_bytes(format::Role::transpose)},
            {"provenance",
             {{"version", p.version},
              {"options", p.options},
              {"target", p.target.empty() ? Json() : Json(p.target)},
              {"parts", p.parts},
              {"measured_on", p.measured_on},
              {"measured", measured_json(p)},
              {"source", p.source},
              {"entries", p.entries},
              {"duplicates", p.duplicates},
              {"explicit_zeros", p.explicit_zeros},
              {"rounded", p.rounded},
              {"max_relative_error", p.max_relative_error},
              {"comments", p.comments},
              {"comments_left_out", p.comments_left_out}}},
            {"parts", Json::array()},
            {"sections", Json::array()}};
  for (const PartInfo& part : c.parts())
    json["parts"].push_back({{"layout", part.layout},
                             {"role", part.role == format::Role::a ? "a" : "transpose"},
                             {"value_type", to_string(part.value_type)},
                             {"rows", map_json(part.rows)},
                             {"columns", map_json(part.cols)},
                             {"nonzeros", part.nnz},
                             {"workspace_bytes", gpu_loader::workspace_bytes(part, {}, part.value_type)},
                             {"parameters", parameters_json(part)},
                             {"first_section", part.first_section},
                             {"sections", part.section_count}});
  for (const SectionInfo& s : c.sections()) {
    json["sections"].push_back({{"name", s.name},
                                {"part", s.part == format::no_part ? Json() : Json(s.part)},
                                {"element_type", to_string(s.element_type)},
                                {"count", s.count},
                                {"raw_bytes", s.raw_bytes},
                                {"stored_bytes", s.stored_bytes},
                                {"offset", s.offset},
                                {"alignment", s.alignment},
                                {"codec", name_of(codec_names, s.codec)},
                                {"filter", name_of(filter_names, s.filter)},
                                {"filter_width", s.filter_width},
                                {"required", is_required(s)},
                                {"device", is_device(s)},
                                {"blocks", s.block_count}});
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// For which machine the layout was chosen, and who tells what another would take elsewhere.
std::string target_text(const Provenance& p) {
  if (p.target.empty()) return "";
  const std::span<const std::string_view> names = encoder::target_names();
  std::string other;  // of a profile from a file, nobody here knows which kind of machine it is
  if (std::find(names.begin(), names.end(), p.target) != names.end()) {
    encoder::Aim aim;
    encoder::set_target(aim, p.target);
    other = aim.target == encoder::Target::gpu ? "CPU, see 'report --target host'" : "GPU, see 'report --target gpu'";
  }
  return fmt::format("  chosen for  {}{}\n", escape(p.target, 30), other.empty() ? "" : "; for a " + other);
}

std::string provenance_text(const Provenance& p) {
  constexpr std::size_t width = 63, shown_comments = 3;
  std::string text = fmt::format(
      "  written by  spmvpack {}\n"
      "  options     {}\n"
      "  source      {}: {}, {}, {}\n",
      escape(p.version), escape(p.options, width), escape(p.source, width), counted(p.entries, "entry", "entries"),
      counted(p.duplicates, "duplicate"), counted(p.explicit_zeros, "explicit zero"));
  text += target_text(p);
  if (!p.measured_on.empty()) text += fmt::format("  measured    on {}\n", escape(p.measured_on, width));
  for (const MeasuredLayout& m : p.measured)
    text += fmt::format("              {}: {}, predicted {}\n", escape(m.layout, width / 2), time_text(m.seconds),
                        time_text(m.predicted_seconds));
  if (p.rounded != 0)
    text += fmt::format("  rounded     {}, largest relative error {:.3g}\n", counted(p.rounded, "value"),
                        p.max_relative_error);
  for (std::size_t i = 0; i < std::min(p.comments.size(), shown_comments); ++i)
    text += fmt::format("  {:<10}  {}\n", i == 0 ? "comments" : "", escape(p.comments[i], width));
  if (p.comments.size() > shown_comments)
    text += fmt::format("              ... and {} more\n", p.comments.size() - shown_comments);
  if (p.comments_left_out != 0)
    text += fmt::format("              {} left out\n", counted(p.comments_left_out, "more line"));
  return text;
}

/// Field and symmetry of the source, and what was found besides.
std::string kind_text(const MatrixFacts& f) {
  return fmt::format("{} {}{}", to_string(f.field), to_string(f.symmetry),
                     f.found == Symmetry::general ? "" : fmt::format("; A^T is {}", transpose_text(f.found)));
}

std::string to_text(const Container& c) {
  const MatrixFacts& f = c.facts();
  std::string text = fmt::format(
      "{}: {} bytes, format {}.{}\n"
      "  matrix      {} x {}, {}, {} ({})\n"
      "  digest      {}\n"
      "  memory      {} bytes that a multiply reads{}\n",
      escape(c.name(), 4096), grouped(c.file_bytes()), format::version_major, format::version_minor, grouped(f.rows),
      grouped(f.cols), counted(f.nnz, "nonzero"), to_string(f.value_type), kind_text(f), f.digest.to_string(),
      grouped(c.device_bytes()),
      c.parts(format::Role::transpose).empty()
          ? ""
          : fmt::format(", {} with A^T", grouped(c.device_bytes(format::Role::transpose))));
  if (f.share)
    text += fmt::format("  share       {}, {}\n              {}\n              {}, then {}\n", to_text(*f.share),
                        counted(f.share->global_nnz, "nonzero"),
                        map_text({format::MapKind::range, f.share->first_row, f.rows}, "row"),
                        map_text({format::MapKind::range, f.share->first_col, f.share->own_cols}, "column"),
                        counted(f.cols - f.share->own_cols, "ghost"));
  // A container without provenance yields an empty one; every writer states its version.
  if (const Provenance p = c.provenance(); !p.version.empty()) text += provenance_text(p);

  for (std::size_t i = 0; i < c.parts().size(); ++i) {
    const PartInfo& part = c.parts()[i];
    text += fmt::format("part {}: {}{}, {}, {}, {}\n", i, part.role == format::Role::a ? "" : "A^T, ", part.layout,
                        map_text(part.rows, "row"), map_text(part.cols, "column"), counted(part.nnz, "nonzero"));
    if (const std::string text_of = parameters_text(part); !text_of.empty())
      text += fmt::format("  parameters  {}\n", text_of);
    text += fmt::format("  workspace   {} bytes\n", grouped(gpu_loader::workspace_bytes(part, {}, part.value_type)));
  }
  text += fmt::format("{:<12} {:>4} {:>4} {:>15} {:>15} {:<12} {}\n", "section", "part", "type", "raw bytes",
                      "stored bytes", "codec", "flags");
  for (const SectionInfo& s : c.sections()) {
    const std::string codec = s.filter == format::Filter::none ? std::string(name_of(codec_names, s.codec))
                                                               : fmt::format("{}+{}", name_of(codec_names, s.codec),
                                                                             name_of(filter_names, s.filter));
    text += fmt::format("{:<12} {:>4} {:>4} {:>15} {:>15} {:<12} {}{}\n", s.name,
                        s.part == format::no_part ? "-" : fmt::to_string(s.part), to_string(s.element_type),
                        grouped(s.raw_bytes), grouped(s.stored_bytes), codec, is_required(s) ? "r" : "-",
                        is_device(s) ? "d" : "-");
  }
  return text +
         "workspace: GPU memory that a multiply needs besides; parameters: docs/FORMAT.md,\n"
         "section 7; flags: r = a reader must know the section, d = a multiply reads it\n";
}

void run(const Invocation& invocation) {
  const Container container = sources::open_container(invocation.argument, invocation.memory_limit);
  print(invocation.flag("json") ? to_json(container) : to_text(container));
}

}  // namespace
}  // namespace inspect_parts

const Command inspect_command{"inspect",         "A.spmvc [--json] [options]", "show a container's metadata",
                              "A.spmvc",         inspect_parts::add_options,   inspect_parts::details,
                              inspect_parts::run};

}  // namespace spmvpack::tools
