#include "source/source_name.hpp"

#include <array>

#include "spmvpack/container/base/error.hpp"
#include "spmvpack/sources/read_matrix.hpp"
#include "text/number_text.hpp"

namespace spmvpack::sources {
namespace {

using namespace std::string_view_literals;

constexpr std::array compressed{".gz"sv, ".zst"sv, ".bz2"sv, ".xz"sv};
constexpr std::array archives{".zip"sv, ".tar"sv, ".tgz"sv, ".tzst"sv, ".tbz2"sv, ".tbz"sv, ".txz"sv};

template <class Endings>
std::string_view without_ending(std::string_view path, const Endings& endings) noexcept {
  for (const std::string_view ending : endings)
    if (path.size() > ending.size() && path.ends_with(ending)) return path.substr(0, path.size() - ending.size());
  return {};
}

std::string_view without_compression(std::string_view path) noexcept {
  const std::string_view plain = without_ending(path, compressed);
  return plain.empty() ? path : plain;
}

/// `path` without the ending of a source; empty if it has none.
std::string_view without_source_ending(std::string_view path) noexcept {
  const std::string_view archive = without_archive_ending(path);
  const std::string_view stem = archive.empty() ? without_matrix_ending(without_compression(path)) : archive;
  return stem.ends_with('/') ? std::string_view() : stem;
}

}  // namespace

std::string_view base_name(std::string_view path) noexcept { return path.substr(path.rfind('/') + 1); }

std::string_view without_matrix_ending(std::string_view path) noexcept {
  const std::size_t dot = path.rfind('.');
  if (dot == std::string_view::npos || dot == 0 || path[dot - 1] == '/') return {};
  const std::string_view ending = path.substr(dot + 1);
  // The type codes of Harwell-Boeing files: values, symmetry, assembled or not.
  const auto is_one_of = [&](std::size_t i, std::string_view letters) {
    return letters.find(ending[i]) != std::string_view::npos;
  };
  const bool is_type =
      ending.size() == 3 && is_one_of(0, "rcipqRCIPQ") && is_one_of(1, "suhzrSUHZR") && is_one_of(2, "aeAE");
  const bool known = is_type || equal_words(ending, "mtx") || equal_words(ending, "rb") || equal_words(ending, "hb") ||
                     equal_words(ending, "npz");
  return known ? path.substr(0, dot) : std::string_view();
}

std::string_view without_archive_ending(std::string_view path) noexcept {
  return without_ending(without_compression(path), archives);
}

bool is_source_name(const std::string& path) noexcept { return !without_source_ending(path).empty(); }

std::string container_name(const std::string& path) {
  const std::string_view stem = without_source_ending(path);
  if (stem.empty())
    throw Error(errc::usage,
                "no name for the output: the input's name does not end in .mtx, .rua, .mtx.gz, .tar.gz or the like",
                path, "name the output");
  return std::string(stem) + ".spmvc";
}

}  // namespace spmvpack::sources
