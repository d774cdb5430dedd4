#pragma once
/// The commands of `spmvpack`. Each is defined in commands/<name>.cpp and listed in spmvpack.cpp.

#include <array>
#include <boost/program_options/options_description.hpp>
#include <boost/program_options/variables_map.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "spmvpack/container/base/progress.hpp"

namespace spmvpack::tools {

/// What a command runs with: its own options in `options`; the common ones are already parsed.
struct Invocation {
  std::string argument;                ///< the positional argument; empty without one
  std::vector<std::string> arguments;  ///< all of them: more than one only with Command::takes_several
  std::string version;                 ///< of this program, on one line
  boost::program_options::variables_map options;
  int threads = 0;                 ///< 0: all
  std::uint64_t memory_limit = 0;  ///< bytes, 0: what is available
  bool quiet = false;              ///< no summary on standard output; errors are printed all the same
  ProgressCallback progress;       ///< always set; it also makes an interrupt stop the work

  [[nodiscard]] bool flag(const char* name) const { return options[name].as<bool>(); }
  [[nodiscard]] const std::string& text(const char* name) const { return options[name].as<std::string>(); }
  /// A library's options (LoadOptions, SourceOptions, ...) with this invocation's threads, memory limit and progress.
  template <class Options>
  [[nodiscard]] Options common() const {
    Options common_options;
    common_options.threads = threads;
    common_options.memory_limit = memory_limit;
    common_options.progress = progress;
    return common_options;
  }
};

/// A command. run() writes data and summaries with print() (tools/output.hpp) and reports failure by throwing an Error,
/// whose errc becomes the exit code.
struct Command {
  std::string_view name;      ///< "encode"
  std::string_view synopsis;  ///< "A.mtx [-o A.spmvc] [options]"
  std::string_view summary;   ///< one line, no full stop
  std::string_view argument;  ///< what the positional argument is called in messages: "A.mtx"; empty: there is none
  /// Adds the command's own options. Flags are bool_switch(), others value<std::string>().
  void (*add_options)(boost::program_options::options_description& options);
  /// What --help shows below the options: details and examples, in lines of at most 80 columns.
  std::string (*details)();
  void (*run)(const Invocation& invocation);
  /// Adds options that only some arguments take: parsed like the others, but described only by details().
  void (*add_special_options)(boost::program_options::options_description& options) = nullptr;
  std::string (*note)() = nullptr;                   ///< what -h shows between usage and options, in whole lines
  std::array<const char*, 2> instead_of_argument{};  ///< flags that replace the positional argument; the rest null
  bool takes_several = false;                        ///< positional arguments
};

extern const Command encode_command, report_command, inspect_command, verify_command, decode_command, multiply_command,
    generate_command, bench_command, calibrate_command;

}  // namespace spmvpack::tools
