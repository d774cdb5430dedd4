#pragma once
/// The kinds of matrices that `spmvpack generate` makes, as the command line names them.

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "commands/command.hpp"
#include "generators/matrix_generator.hpp"

namespace spmvpack::tools {

struct Kind {
  std::string_view name;                 ///< "hpcg"
  std::string_view usage;                ///< its options
  std::string_view help;                 ///< what it stands for, its sizes: lines of at most 74 columns
  std::array<const char*, 5> options{};  ///< those that it takes, beside --seed; the rest null
  /// Error(errc::usage) where options are missing or make no sense.
  std::unique_ptr<MatrixGenerator> (*make)(const Invocation& invocation) = nullptr;
};

std::span<const Kind> generator_kinds();
/// Error(errc::usage) where there is no such kind.
const Kind& find_kind(std::string_view name);

/// Adds the options of all kinds but --seed.
void add_kind_options(boost::program_options::options_description& options);
/// Error(errc::usage) where an option is given that is for other kinds.
void check_kind_options(const Kind& kind, const Invocation& invocation);
/// The command that makes this matrix, by the options that were given: "spmvpack generate hpcg --grid 3x3x3".
std::string command_line(const Kind& kind, const Invocation& invocation);

}  // namespace spmvpack::tools
