/// The `spmvpack` command: finds the command, reads the options, turns errors into messages and exit codes.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/program_options/errors.hpp>
#include <boost/program_options/parsers.hpp>
#include <boost/program_options/positional_options.hpp>
#include <cstdio>
#include <new>
#include <sstream>
#include <vector>

#include "commands/command.hpp"
#include "exit_code.hpp"
#include "options.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "spmvpack/container/format.hpp"
#include "spmvpack/gpu_loader/device.hpp"

namespace spmvpack::tools {
namespace {

namespace po = boost::program_options;

constexpr std::array commands{&encode_command, &report_command,   &inspect_command, &verify_command,
                              &decode_command, &multiply_command, &generate_command};

constexpr std::string_view examples =
    "Examples:\n"
    "  spmvpack report A.mtx               what each layout would cost\n"
    "  spmvpack encode A.mtx               writes A.spmvc\n"
    "  spmvpack verify A.spmvc --against A.mtx\n"
    "  spmvpack multiply A.spmvc           y = A x with x = ones, on standard output\n";

std::string overview() {
  std::string text =
      "spmvpack: sparse matrices compressed for the multiply that reads them.\n\n"
      "usage: spmvpack COMMAND ... [options]\n\n";
  for (const Command* c : commands) text += fmt::format("  {:<9}  {}\n", c->name, c->summary);
  return text +
         "\n"
         "  spmvpack COMMAND -h         the options of a command, on one screen\n"
         "  spmvpack COMMAND --help     everything about it\n"
         "  spmvpack --help, --version\n";
}

std::string version() {
  return fmt::format("spmvpack {} (container format {}.{}, {} CUDA)\n", SPMVPACK_VERSION, format::version_major,
                     format::version_minor, gpu_loader::built_with_cuda() ? "with" : "without");
}

po::options_description options_of(const Command& command) {
  po::options_description own("Options", 80, 48);
  command.add_options(own);
  po::options_description common("Common options", 80, 48);
  common.add_options()                                                                                  //
      ("threads", po::value<std::string>()->value_name("N"), "threads to use (default: one per core)")  //
      ("memory-limit", po::value<std::string>()->value_name("SIZE"),                                    //
       "give up above SIZE, such as 8G")                                                                //
      ("quiet,q", po::bool_switch(), "no summary, no progress")                                         //
      (",h", po::bool_switch(), "this help")                                                            //
      ("help", po::bool_switch(), "everything about the command");
  po::options_description all(80, 48);
  if (!own.options().empty()) all.add(own);
  return all.add(common);
}

std::string help(const Command& command, const po::options_description& options, bool full) {
  std::ostringstream text;
  text << "spmvpack " << command.name << ": " << command.summary << "\n\n"
       << "usage: spmvpack " << command.name << ' ' << command.synopsis << '\n'
       << command.note << options;
  if (full) text << '\n' << command.details() << '\n' << exit_codes_help;
  return std::move(text).str();
}

/// The options as the command line gives them; positional arguments are under "argument".
po::variables_map parse(const Command& command, const po::options_description& visible,
                        const std::vector<std::string>& words) {
  po::options_description all;
  all.add(visible).add_options()("argument", po::value<std::vector<std::string>>());
  if (command.add_special_options != nullptr) command.add_special_options(all);
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
    options = parse(command, description, words);
  } catch (const po::error& e) {
    throw Error(errc::usage, e.what(), {}, hint);
  }
  const bool full = invocation.flag("help");
  if (full || invocation.flag("-h")) return print(help(command, description, full));

  const std::vector<std::string> arguments =
      options.count("argument") != 0 ? options["argument"].as<std::vector<std::string>>() : std::vector<std::string>{};
  if (arguments.empty() || arguments[0].empty())
    throw Error(errc::usage, fmt::format("{} is missing", command.argument), {},
                fmt::format("usage: spmvpack {} {}", command.name, command.synopsis));
  if (arguments.size() > 1)
    throw Error(errc::usage, fmt::format("unexpected argument '{}'", arguments[1]), {},
                fmt::format("usage: spmvpack {} {}", command.name, command.synopsis));
  invocation.argument = arguments[0];
  if (options.count("threads") != 0)
    invocation.threads = static_cast<int>(parse_number("--threads", invocation.text("threads"), 1, 1024));
  if (options.count("memory-limit") != 0)
    invocation.memory_limit = parse_bytes("--memory-limit", invocation.text("memory-limit"));
  invocation.quiet = invocation.flag("quiet");
  if (!invocation.quiet) enable_progress();
  invocation.progress = show_progress;
  command.run(invocation);
  clear_progress();
}

void run(const std::vector<std::string>& words) {
  if (words.empty()) throw Error(errc::usage, "no command", {}, "'spmvpack -h' lists the commands");
  if (words[0] == "-h") return print(overview());
  if (words[0] == "--help") return print(fmt::format("{}\n{}\n{}", overview(), examples, exit_codes_help));
  if (words[0] == "--version") return print(version());
  const auto command = std::find_if(commands.begin(), commands.end(), [&](auto c) { return c->name == words[0]; });
  if (command == commands.end())
    throw Error(errc::usage, fmt::format("unknown command '{}'", words[0]), {}, "'spmvpack -h' lists the commands");
  run_command(**command, {words.begin() + 1, words.end()});
}

/// Tells an error on standard error and returns its exit code. `name` is "spmvpack encode".
int tell(const std::string& name, const Error& error) {
  clear_progress();
  if (error.code() == errc::io && error.where() == standard_output && standard_output_is_broken()) return 0;
  constexpr std::size_t longest = 4096;
  const std::string where = error.where().empty() ? "" : escape(error.where(), longest) + ": ";
  std::string text = fmt::format("{}: {}{}\n", name, where, escape(error.message(), longest));
  if (!error.remedy().empty()) text += fmt::format("hint: {}\n", escape(error.remedy(), longest));
  std::fputs(text.c_str(), stderr);
  return exit_code(error.code());
}

}  // namespace
}  // namespace spmvpack::tools

int main(int argc, char** argv) {
  using namespace spmvpack;
  tools::catch_signals();
  const std::vector<std::string> words(argv + 1, argv + argc);
  std::string name = "spmvpack";
  if (!words.empty() && !words[0].empty() && words[0][0] != '-') name = fmt::format("spmvpack {}", escape(words[0]));
  try {
    tools::run(words);
    return 0;
  } catch (const Error& e) {
    return tools::tell(name, e);
  } catch (const std::bad_alloc&) {
    return tools::tell(name, Error(errc::out_of_memory, "out of memory", {}, "use a machine with more memory"));
  } catch (const std::exception& e) {
    return tools::tell(name, Error(errc::internal, e.what(), {}, "this is a bug of spmvpack: please report it"));
  }
}
