#pragma once
/// Standard output, written at once and checked for errors, and checks of output names.

#include <cstdint>
#include <string>
#include <string_view>

#include "spmvpack/container/base/error.hpp"
#include "spmvpack/container/file/contents.hpp"

namespace spmvpack::tools {

/// How errors refer to standard output.
inline constexpr std::string_view standard_output = "standard output";

/// Writes `text` to standard output. Errors: errc::io at "standard output".
void print(std::string_view text);

/// Prints an error and its hint to standard error; `name` is "spmvpack encode" or the like.
void print_error(std::string_view name, const Error& error);

/// Prints to standard error what the user should know about work that was done all the same.
void print_warning(std::string_view text);

/// Prints to standard error what the user may want to know, though nothing is amiss.
void print_note(std::string_view text);
/// The same for what is wrong with a source that could be read.
void print_warnings(const SourceMatrix& source);

/// True if standard output is a pipe that nobody reads any more.
bool standard_output_is_broken() noexcept;

/// Error(errc::io) if the input `path` is a directory.
void refuse_directory(const std::string& path);

/// Error(errc::usage) if both inputs are standard input, which can only be read once.
void refuse_same_input(const std::string& first, const std::string& second);

enum class OutputForm { text, container };

/// Throws if `path` may not become the output, before any work is done; `input` is the command's input, if any. Errors:
/// errc::exists (without `overwrite`); errc::io if it is a directory, device, pipe or socket; errc::usage if it is the
/// input itself, or has the wrong ending: text as .gz or .spmvc, a container as .mtx or another name of a source.
/// Writing the file checks for existing outputs and special files again.
void check_output(const std::string& path, OutputForm form, bool overwrite, const std::string& input = {});

}  // namespace spmvpack::tools
