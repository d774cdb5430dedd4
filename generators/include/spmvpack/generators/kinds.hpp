#pragma once
/// The kinds of matrices that `spmvpack generate` makes, under their command-line names.

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "spmvpack/generators/matrix_generator.hpp"

namespace spmvpack::generators {

/// The options given for a matrix, by name ("grid"); the value of a flag is "".
struct KindOptions {
  std::map<std::string, std::string, std::less<>> values;
  Resources resources;

  [[nodiscard]] bool given(std::string_view option) const { return values.find(option) != values.end(); }
  /// The value of an option that was given.
  [[nodiscard]] const std::string& text(std::string_view option) const { return values.find(option)->second; }
};

/// An option that some kinds take.
struct KindOption {
  const char* name;
  bool is_flag = false;  ///< takes no value
};

struct Kind {
  std::string_view name;                 ///< "hpcg"
  std::string_view usage;                ///< its options
  std::string_view help;                 ///< what it models, its sizes: lines of at most 74 columns
  std::array<const char*, 5> options{};  ///< those that it takes besides --seed; the rest null
  /// Error(errc::usage) if options are missing or invalid.
  std::unique_ptr<MatrixGenerator> (*make)(const KindOptions& options) = nullptr;
};

std::span<const Kind> generator_kinds();
/// Error(errc::usage) if there is no such kind.
const Kind& find_kind(std::string_view name);

/// The options of all kinds except --seed, which every kind takes.
std::span<const KindOption> kind_options();
/// The kind and the options of the words after `spmvpack generate`: "hpcg --grid 3x3x3". Error(errc::usage).
std::pair<const Kind&, KindOptions> parse_kind(std::string_view words);
/// Error(errc::usage) if an option is given that only other kinds take.
void check_kind_options(const Kind& kind, const KindOptions& options);
/// The command that makes this matrix from the given options: "spmvpack generate hpcg --grid 3x3x3".
std::string command_line(const Kind& kind, const KindOptions& options);

}  // namespace spmvpack::generators
