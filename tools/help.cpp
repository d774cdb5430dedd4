#include "help.hpp"

#include <fmt/format.h>

#include <boost/program_options/cmdline.hpp>
#include <boost/program_options/value_semantic.hpp>

#include "exit_code.hpp"
#include "spmvpack/encoder/layout.hpp"
#include "spmvpack/encoder/time_model.hpp"

namespace spmvpack::tools {
namespace {

namespace po = boost::program_options;

constexpr std::size_t columns = 80, text_column = 30;

constexpr std::string_view examples =
    "Examples:\n"
    "  spmvpack report A.mtx               what each layout would cost\n"
    "  spmvpack encode A.mtx               writes A.spmvc\n"
    "  spmvpack verify A.spmvc --against A.mtx\n"
    "  spmvpack multiply A.spmvc           y = A x for x = ones, to standard output\n";

/// Wraps `text` into lines that start at `text_column`; the first is already indented.
std::string wrap(std::string_view text) {
  std::string lines;
  constexpr std::size_t width = columns - text_column;
  while (text.size() > width) {
    const std::size_t space = text.rfind(' ', width);
    if (space == std::string_view::npos) break;
    lines += fmt::format("{}\n{:{}}", text.substr(0, space), "", text_column);
    text.remove_prefix(space + 1);
  }
  return lines.append(text) + '\n';
}

/// "  -o, --output A.mtx      the file to write"
std::string describe(const po::option_description& option) {
  // A flag's default is not shown; any other is part of the parameter: "NAME (=ccoo)".
  std::string parameter = option.format_parameter(), text = option.description();
  if (const std::size_t at = parameter.find(" (="); at != std::string::npos) {
    text += fmt::format(" (default: {})", parameter.substr(at + 3, parameter.size() - at - 4));
    parameter.resize(at);
  }
  const std::string shortest = option.canonical_display_name(po::command_line_style::allow_dash_for_short);
  const bool has_short = shortest.size() == 2, has_long = !option.long_name().empty() && option.long_name()[0] != '-';
  const std::string names = fmt::format("  {}{}{}", has_short ? shortest : "  ", has_short && has_long ? ", " : "  ",
                                        has_long ? "--" + option.long_name() : "");
  std::string line = names;
  if (!parameter.empty()) line += " " + parameter;
  line.erase(line.find_last_not_of(' ') + 1);
  if (line.size() + 2 > text_column) return fmt::format("{}\n{:{}}{}", line, "", text_column, wrap(text));
  return fmt::format("{:{}}{}", line, text_column, wrap(text));
}

std::string describe(std::string_view title, const po::options_description& options) {
  std::string text = options.options().empty() ? "" : fmt::format("{}:\n", title);
  for (const auto& option : options.options()) text += describe(*option);
  return text;
}

}  // namespace

std::string overview(std::span<const Command* const> commands, bool full) {
  std::string text =
      "spmvpack: compressed sparse matrices that SpMV reads without unpacking.\n\n"
      "usage: spmvpack COMMAND ... [options]\n\n";
  for (const Command* c : commands) text += fmt::format("  {:<9}  {}\n", c->name, c->summary);
  text +=
      "\n"
      "  spmvpack COMMAND -h         a command's options, on one screen\n"
      "  spmvpack COMMAND --help     its full help; same as spmvpack help COMMAND\n"
      "  spmvpack help layouts       the layouts, and which matrices each suits\n"
      "  spmvpack help targets       the machines that 'auto' can choose for\n"
      "  spmvpack --help, --version\n";
  return full ? fmt::format("{}\n{}\n{}", text, examples, exit_codes_help) : text;
}

std::string layouts_help() {
  std::string text = "Layouts (--layout NAME), and the matrices that each suits:\n\n";
  const auto add = [&](bool reproductions) {
    for (const encoder::Strategy& s : encoder::strategies())
      if (s.traits.reproduction == reproductions) text += fmt::format("  {:<14}  {}\n", s.name, s.suits);
  };
  add(false);
  text += "\nLayouts reproduced from papers, for comparison:\n\n";
  add(true);
  return text +
         "\n"
         "auto, the default, considers all of them but pkt. 'spmvpack report A.mtx' shows\n"
         "what each costs, with --details also those of papers. pkt, hyb, segmented_sell,\n"
         "nus_sell and split cut the matrix into parts, in other layouts. 'spmvpack help\n"
         "encode' describes them all and lists their settings; docs/LAYOUTS.md has\n"
         "examples.\n";
}

std::string targets_help() {
  std::string text = "Targets (--target NAME), and the machine on which each was measured:\n\n";
  for (const std::string_view name : encoder::target_names()) {
    encoder::Aim aim;
    encoder::set_target(aim, std::string(name));
    const encoder::Profile& profile = encoder::profile_of(aim);
    text += fmt::format("  {:<6}  {}{}\n", name, profile.machine,
                        profile.id == name ? "" : fmt::format(", the same as {}", profile.id));
  }
  return text +
         "\n"
         "gpu is the default, whatever machine this is. --target also takes the file of a\n"
         "profile: 'spmvpack calibrate' measures one, and 'calibrate --print NAME' writes\n"
         "one of those above.\n";
}

po::options_description common_options() {
  po::options_description common;
  common.add_options()                                                                                  //
      ("threads", po::value<std::string>()->value_name("N"), "threads to use (default: one per core)")  //
      ("memory-limit", po::value<std::string>()->value_name("SIZE"),                                    //
       "fail if more than SIZE is needed, such as 8G")                                                  //
      ("quiet,q", po::bool_switch(), "no progress, no summary")                                         //
      (",h", po::bool_switch(), "this help")                                                            //
      ("help", po::bool_switch(), "full help");
  return common;
}

std::string command_help(const Command& command, bool full) {
  po::options_description own;
  command.add_options(own);
  std::string text = fmt::format("spmvpack {}: {}\n\nusage: spmvpack {} {}\n{}\n{}\n{}", command.name, command.summary,
                                 command.name, command.synopsis, command.note != nullptr ? command.note() : "",
                                 describe("Options", own), describe("Common options", common_options()));
  return full ? fmt::format("{}\n{}\n{}", text, command.details(), exit_codes_help) : text;
}

}  // namespace spmvpack::tools
