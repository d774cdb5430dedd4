#pragma once
/// Parsing of file names. They only determine the names of outputs and archive members; file types are detected from
/// the content.

#include <string>
#include <string_view>

namespace spmvpack::sources {

/// The name without its directories.
std::string_view base_name(std::string_view path) noexcept;

/// `path` without the ending of a matrix file (.mtx, .rb, .rua, ...), in any case; empty if it has none.
std::string_view without_matrix_ending(std::string_view path) noexcept;

/// `path` without the ending of an archive (.zip, .tar, .tgz, .tar.gz, ...); empty if it has none.
std::string_view without_archive_ending(std::string_view path) noexcept;

}  // namespace spmvpack::sources
