#pragma once
/// Standard output: data and summaries, written at once and checked.

#include <cstdint>
#include <string>
#include <string_view>

namespace spmvpack::tools {

/// The place that errors of standard output name.
inline constexpr std::string_view standard_output = "standard output";

/// Writes `text` to standard output. Errors: errc::io at "standard output", errc::interrupted.
void print(std::string_view text);

/// True where standard output is a pipe that nobody reads any more.
bool standard_output_is_broken() noexcept;

/// Throws Error(errc::exists) where `path` exists and may not be overwritten: said before the work, not after it.
/// Whoever writes the file sees to it again.
void refuse_existing(const std::string& path, bool overwrite);

/// 1234567 as "1,234,567".
std::string grouped(std::uint64_t number);

}  // namespace spmvpack::tools
