#pragma once
/// What names of files say. Only names of outputs and of archive members are made from them: what a file is, its
/// content tells.

#include <string>
#include <string_view>

namespace spmvpack::encoder {

/// The name without its directories.
std::string_view base_name(std::string_view path) noexcept;

/// `path` without the ending of a matrix file (.mtx, .rb, .rua, ...), in any case; empty where it has none.
std::string_view without_matrix_ending(std::string_view path) noexcept;

/// `path` without the ending of an archive (.tar, .tgz, .tar.gz, ...); empty where it has none.
std::string_view without_archive_ending(std::string_view path) noexcept;

}  // namespace spmvpack::encoder
