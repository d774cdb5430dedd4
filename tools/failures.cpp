#include "failures.hpp"

#include <fmt/format.h>

#include "exit_code.hpp"
#include "output.hpp"

namespace spmvpack::tools {

std::string input_name(const std::string& path) { return path == "-" ? "standard input" : path; }

bool Failures::ends_all(const Error& error) {
  return error.code() == errc::interrupted || (error.code() == errc::io && error.where() == standard_output);
}

void Failures::note(const std::string& path, const Error& error) {
  // Not every error names the file that was asked for: memory, or a GPU, has no name.
  const std::string name = input_name(path);
  const std::string& at = error.where();
  const std::string where = at.starts_with(name) ? at : at.empty() ? name : name + ": " + at;
  print_error(command_, Error(error.code(), error.message(), where, error.remedy()));
  ++failed_;
  if (!worst_ || exit_code(error.code()) > exit_code(*worst_)) worst_ = error.code();
}

void Failures::finish() const {
  if (worst_) throw Error(*worst_, fmt::format("{} of {} files failed", failed_, files_));
}

}  // namespace spmvpack::tools
