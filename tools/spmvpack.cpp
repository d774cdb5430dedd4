/// The `spmvpack` program: finds the command, reads its options, turns errors into messages and exit codes.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/program_options/errors.hpp>
#include <boost/program_options/parsers.hpp>
#include <boost/program_options/positional_options.hpp>
#include <new>
#include <span>
#include <string_view>
#include <vector>

#include "commands/command.hpp"
#include "exit_code.hpp"
#include "help.hpp"
#include "options.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "spmvpack/container/base/memory.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/container/base/text.hpp"
#include "suggestion.hpp"
#include "version.hpp"

namespace spmvpack::tools {
namespace {

namespace po = boost::program_options;

constexpr std::array commands{&encode_command,   &report_command, &inspect_command,
                              &verify_command,   &decode_command, &multiply_command,
                              &generate_command, &bench_command,  &calibrate_command};

constexpr std::array<std::string_view, 2> help_topics{"layouts", "targets"};
constexpr std::array<std::string_view, 2> other_words{"help", "version"};

po::options_description options_of(const Command& command) {
  po::options_description all;
  command.add_options(all);
  all.add(common_options());
  if (command.add_special_options != nullptr) command.add_special_options(all);
  return all;
}

/// "--layout" and so on.
std::vector<std::string> long_names(const po::options_description& options) {
  std::vector<std::string> names;
  for (const auto& option : options.options())
    if (!option->long_name().empty() && !option->long_name().starts_with('-'))
      names.push_back("--" + option->long_name());
  return names;
}

/// The options on the command line; positional arguments are under "argument".
po::variables_map parse(const po::options_description& named, const std::vector<std::string>& words) {
  po::options_description all;
  all.add(named).add_options()("argument", po::value<std::vector<std::string>>());
  po::positional_options_description positional;
  positional.add("argument", -1);
  po::variables_map options;
  po::store(po::command_line_parser(words)
                .options(all)
                .positional(positional)
                .style(po::command_line_style::unix_style & ~po::command_line_style::allow_guessing)
                .run(),
            options);
  po::notify(options);
  return options;
}

void run_command(const Command& command, const std::vector<std::string>& words) {
  const std::string hint = fmt::format("'spmvpack {} -h' lists the options", command.name);
  const po::options_description description = options_of(command);
  Invocation invocation;
  po::variables_map& options = invocation.options;
  try {
    options = parse(description, words);
  } catch (const po::unknown_option& e) {
    throw Error(errc::usage, e.what(), {}, did_you_mean(e.get_option_name(), long_names(description)) + hint);
  } catch (const po::error& e) {
    throw Error(errc::usage, e.what(), {}, hint);
  }
  const bool full = invocation.flag("help");
  if (full || invocation.flag("-h")) return print(command_help(command, full));

  const std::vector<std::string> arguments =
      options.count("argument") != 0 ? options["argument"].as<std::vector<std::string>>() : std::vector<std::string>{};
  const bool none = command.argument.empty() ||
                    std::any_of(command.instead_of_argument.begin(), command.instead_of_argument.end(),
                                [&](const char* flag) { return flag != nullptr && invocation.flag(flag); });
  if (!none && (arguments.empty() || std::find(arguments.begin(), arguments.end(), "") != arguments.end()))
    throw Error(errc::usage, fmt::format("{} is missing", command.argument), {},
                fmt::format("usage: spmvpack {} {}", command.name, command.synopsis));
  const std::size_t wanted = none ? 0 : command.takes_several ? arguments.size() : 1;
  if (arguments.size() > wanted)
    throw Error(errc::usage, fmt::format("unexpected argument '{}'", arguments[wanted]), {},
                fmt::format("usage: spmvpack {} {}", command.name, command.synopsis));
  if (std::count(arguments.begin(), arguments.end(), "-") > 1)
    throw Error(errc::usage, "standard input can only be read once", {}, "use files for the other inputs");
  if (!none) invocation.argument = arguments[0];
  invocation.arguments = arguments;
  const std::string version = version_text();
  invocation.version = version.substr(0, version.find('\n'));
  if (options.count("output") != 0 && invocation.text("output").empty())
    throw Error(errc::usage, "the output name is empty", {}, "name it with -o");
  if (options.count("threads") != 0)
    invocation.threads = static_cast<int>(parse_number("--threads", invocation.text("threads"), 1, max_threads));
  if (options.count("memory-limit") != 0)
    invocation.memory_limit = parse_bytes("--memory-limit", invocation.text("memory-limit"));
  invocation.quiet = invocation.flag("quiet");
  if (!invocation.quiet) enable_progress();
  invocation.progress = show_progress;
  const MemoryScope memory(invocation.memory_limit, std::string(command.name));
  command.run(invocation);
  clear_progress();
}

/// The command with that name, or Error(errc::usage). `topics` are what else may stand in its place.
const Command& find_command(const std::string& name, std::span<const std::string_view> topics) {
  const auto command = std::find_if(commands.begin(), commands.end(), [&](auto c) { return c->name == name; });
  if (command != commands.end()) return **command;
  const std::string hint = "'spmvpack -h' lists the commands";
  if (name.starts_with('-'))
    throw Error(errc::usage, fmt::format("unknown option '{}'", name), {}, "options come after the command; " + hint);
  std::vector<std::string> names;
  names.reserve(commands.size() + topics.size());
  for (const Command* c : commands) names.emplace_back(c->name);
  names.insert(names.end(), topics.begin(), topics.end());
  throw Error(errc::usage, fmt::format("unknown command '{}'", name), {}, did_you_mean(name, names) + hint);
}

void run(const std::vector<std::string>& words) {
  if (words[0] == "-h") return print(overview(commands, false));
  if (words[0] == "--help") return print(overview(commands, true));
  if (words[0] == "--version" || words[0] == "version") return print(version_text());
  if (words[0] == "help") {
    if (words.size() > 2)
      throw Error(errc::usage, fmt::format("unexpected argument '{}'", words[2]), {},
                  "usage: spmvpack help COMMAND, or spmvpack help layouts or targets");
    if (words.size() == 1) return print(overview(commands, true));
    if (words[1] == "layouts") return print(layouts_help());
    if (words[1] == "targets") return print(targets_help());
    return print(command_help(find_command(words[1], help_topics), true));
  }
  run_command(find_command(words[0], other_words), {words.begin() + 1, words.end()});
}

/// Prints an error to standard error and returns its exit code. `name` is "spmvpack encode" or the like.
int tell(const std::string& name, const Error& error) {
  clear_progress();
  if (error.code() == errc::io && error.where() == standard_output && standard_output_is_broken()) return 0;
  print_error(name, error);
  return exit_code(error.code(), caught_signal());
}

}  // namespace
}  // namespace spmvpack::tools

int main(int argc, char** argv) {
  using namespace spmvpack;
  tools::catch_signals();
  const std::vector<std::string> words(argv + 1, argv + argc);
  std::string name = "spmvpack";
  if (!words.empty() && !words[0].empty() && words[0][0] != '-') name = fmt::format("spmvpack {}", escape(words[0]));
  if (words.empty()) {
    // Like git: the help, but not as the output of a script that has lost its words.
    std::fputs(tools::overview(tools::commands, false).c_str(), stderr);
    return tools::exit_code(errc::usage, 0);
  }
  try {
    tools::run(words);
    return 0;
  } catch (const Error& e) {
    return tools::tell(name, e);
  } catch (const std::bad_alloc&) {
    return tools::tell(name, Error(errc::out_of_memory, "out of memory", {}, "use a machine with more memory"));
  } catch (const std::exception& e) {
    return tools::tell(name, Error(errc::internal, e.what(), {}, "this is a bug in spmvpack; please report it"));
  }
}
