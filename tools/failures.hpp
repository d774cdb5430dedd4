#pragma once
/// Several files, one after the other: an error ends the work on its file, and the others go on.

#include <cstddef>
#include <new>
#include <optional>
#include <string>

#include "spmvpack/container/base/error.hpp"

namespace spmvpack::tools {

/// What --help says about the exit code of a command that takes several files.
inline constexpr const char* several_files_help =
    "A file that fails is reported on standard error and the others go on; the exit\n"
    "code is then the highest of all files.\n";

/// How messages and output name an input: its path, or "standard input" for -.
std::string input_name(const std::string& path);

class Failures {
 public:
  /// `command` is "spmvpack report" or the like; `files` is how many there are.
  Failures(std::string command, std::size_t files) : command_(std::move(command)), files_(files) {}

  /// Does work(). With several files its Error is printed and counted, unless it would stop the others, too: an
  /// interrupt, or a standard output that cannot be written.
  template <class Work>
  void attempt(const std::string& path, Work&& work) {
    if (files_ == 1) return work();
    try {
      work();
    } catch (const Error& e) {
      if (ends_all(e)) throw;
      note(path, e);
    } catch (const std::bad_alloc&) {
      note(path, Error(errc::out_of_memory, "out of memory", {}, "use a machine with more memory"));
    }
  }
  /// Throws an Error with the highest exit code if any file failed.
  void finish() const;

 private:
  static bool ends_all(const Error& error);
  void note(const std::string& path, const Error& error);

  std::string command_;
  std::size_t files_, failed_ = 0;
  std::optional<errc> worst_;
};

}  // namespace spmvpack::tools
