#pragma once
/// Standard output: data and summaries, written at once and checked.

#include <cstdint>
#include <string>
#include <string_view>

namespace spmvpack::tools {

/// The place that errors of standard output name.
inline constexpr std::string_view standard_output = "standard output";

/// Writes `text` to standard output. Errors: errc::io at "standard output".
void print(std::string_view text);

/// True where standard output is a pipe that nobody reads any more.
bool standard_output_is_broken() noexcept;

/// Error(errc::io) if the input `path` is a directory.
void refuse_directory(const std::string& path);

/// Error(errc::usage) if both inputs are standard input, which is read once.
void refuse_same_input(const std::string& first, const std::string& second);

enum class OutputForm { text, container };

/// Throws where `path` may not become the output, of what is read from `input` if that is given: said before the work,
/// not after it. Errors: errc::exists (and not `overwrite`); errc::io if it is a directory, a device, a pipe or a
/// socket; errc::usage if it is the input itself, if text would be called .gz or .spmvc, or a container .mtx (or
/// another name of sources). Whoever writes the file checks the first two again.
void check_output(const std::string& path, OutputForm form, bool overwrite, const std::string& input = {});

}  // namespace spmvpack::tools
