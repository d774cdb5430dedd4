#pragma once
/// The kinds of matrices that `spmvpack generate` makes, as the command line names them.

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "generators/matrix_generator.hpp"

namespace spmvpack::tools {

/// What a matrix of some kind is to be: the options that were given, by name ("grid"), "" for a flag.
struct KindOptions {
  std::map<std::string, std::string, std::less<>> values;
  Resources resources;

  [[nodiscard]] bool given(std::string_view option) const { return values.find(option) != values.end(); }
  /// Of an option that was given.
  [[nodiscard]] const std::string& text(std::string_view option) const { return values.find(option)->second; }
};

/// An option of one kind or another.
struct KindOption {
  const char* name;
  bool is_flag = false;  ///< takes no value
};

struct Kind {
  std::string_view name;                 ///< "hpcg"
  std::string_view usage;                ///< its options
  std::string_view help;                 ///< what it stands for, its sizes: lines of at most 74 columns
  std::array<const char*, 5> options{};  ///< those that it takes, beside --seed; the rest null
  /// Error(errc::usage) where options are missing or make no sense.
  std::unique_ptr<MatrixGenerator> (*make)(const KindOptions& options) = nullptr;
};

std::span<const Kind> generator_kinds();
/// Error(errc::usage) where there is no such kind.
const Kind& find_kind(std::string_view name);

/// The options of all kinds but --seed, which every kind takes.
std::span<const KindOption> kind_options();
/// Error(errc::usage) where an option is given that is for other kinds.
void check_kind_options(const Kind& kind, const KindOptions& options);
/// The command that makes this matrix, by the options that were given: "spmvpack generate hpcg --grid 3x3x3".
std::string command_line(const Kind& kind, const KindOptions& options);

}  // namespace spmvpack::tools
