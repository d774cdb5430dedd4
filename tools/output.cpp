#include "output.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "progress.hpp"
#include "spmvpack/container/base/text.hpp"
#include "spmvpack/container/file/file_io.hpp"
#include "spmvpack/sources/read_matrix.hpp"

namespace spmvpack::tools {

void print(std::string_view text) {
  clear_progress();
  write_standard_output(text);
}

void print_error(std::string_view name, const Error& error) {
  clear_progress();
  constexpr std::size_t longest = 4096;
  const std::string where = error.where().empty() ? "" : escape(error.where(), longest) + ": ";
  std::string text = fmt::format("{}: {}{}\n", name, where, escape(error.message(), longest));
  if (!error.remedy().empty()) text += fmt::format("hint: {}\n", escape(error.remedy(), longest));
  std::fputs(text.c_str(), stderr);
}

void print_warning(std::string_view text) {
  clear_progress();
  std::fputs(fmt::format("spmvpack: warning: {}\n", text).c_str(), stderr);
}

void print_note(std::string_view text) {
  clear_progress();
  std::fputs(fmt::format("spmvpack: note: {}\n", text).c_str(), stderr);
}

void print_warnings(const SourceMatrix& source) {
  constexpr std::size_t longest = 4096;
  for (const std::string& warning : source.warnings) print_warning(escape(warning, longest));
}

bool standard_output_is_broken() noexcept {
  pollfd out{STDOUT_FILENO, POLLOUT, 0};
  return ::poll(&out, 1, 0) > 0 && (out.revents & POLLERR) != 0;
}

namespace {

constexpr std::array<std::string_view, 4> compressed{".gz", ".zst", ".bz2", ".xz"};

/// A container is not written under the name of something else, such as A.mtx.
void check_container_name(const std::string& path) {
  const bool is_compressed = std::any_of(compressed.begin(), compressed.end(),
                                         [&](std::string_view ending) { return path.ends_with(ending); });
  if (is_compressed || sources::is_source_name(path))
    throw Error(errc::usage, "the output is a container, but this is the name of a source", path,
                "use a name that ends in .spmvc; 'spmvpack decode' writes .mtx");
}

/// Text is not written under the name of something else, such as A.spmvc.
void check_text_name(const std::string& path) {
  for (const std::string_view ending : compressed)
    if (path.ends_with(ending))
      throw Error(errc::usage, fmt::format("the output is plain text, not {}", ending), path,
                  "use -o - and pipe the output through a compressor");
  if (path.ends_with(".spmvc"))
    throw Error(errc::usage, "the output is text, not a container", path,
                "use a name that ends in .mtx; cp copies a container, 'spmvpack encode' converts one");
  if (path.ends_with(".npz"))
    throw Error(errc::usage, "the output is text, not arrays of NumPy", path, "use a name that ends in .mtx");
}

/// True if `input` (- for standard input) is the file `output`.
bool same_file(const std::string& input, const std::string& output) {
  struct stat in {
  }, out{};
  const int found = input == "-" ? ::fstat(STDIN_FILENO, &in) : ::stat(input.c_str(), &in);
  return found == 0 && ::stat(output.c_str(), &out) == 0 && in.st_dev == out.st_dev && in.st_ino == out.st_ino;
}

}  // namespace

void refuse_directory(const std::string& path) {
  std::error_code ignored;  // what cannot be examined cannot be opened either
  if (std::filesystem::is_directory(path, ignored)) throw Error(errc::io, "is a directory", path, "use a file in it");
}

void refuse_same_input(const std::string& first, const std::string& second) {
  if (first == "-" && second == "-")
    throw Error(errc::usage, "both inputs are standard input, which can only be read once", {},
                "use a file for one of them");
}

void check_output(const std::string& path, OutputForm form, bool overwrite, const std::string& input) {
  if (path == "-") return;
  const bool text = form == OutputForm::text;
  if (text)
    check_text_name(path);
  else
    check_container_name(path);
  // What cannot be examined cannot be written either; that error is reported later.
  std::error_code ignored;
  namespace fs = std::filesystem;
  const fs::file_status there = fs::status(path, ignored);
  if (path.ends_with('/') || fs::is_directory(there))
    throw Error(errc::io, "the output is a directory", path, "use a file in it");
  const bool stream = text && (fs::is_character_file(there) || fs::is_fifo(there));  // written as it is
  if (fs::exists(there) && !fs::is_regular_file(there) && !stream)
    throw Error(errc::io, "not a regular file, so it is not replaced", path,
                text
                    ? "use another name, or -o - and redirect it"
                    : "a container needs a file: use another name ('spmvpack report' tells sizes without writing one)");
  if (!overwrite && !stream && fs::exists(fs::symlink_status(path, ignored)))
    throw Error(errc::exists, "the output already exists", path, "use another name, or -f to overwrite it");
  if (!input.empty() && same_file(input, path))
    throw Error(errc::usage, "the output is also the input", path, "use another name");
}

}  // namespace spmvpack::tools
