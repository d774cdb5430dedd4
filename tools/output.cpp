#include "output.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "progress.hpp"
#include "spmvpack/container/error.hpp"

namespace spmvpack::tools {

void print(std::string_view text) {
  clear_progress();
  while (!text.empty()) {
    const ssize_t n = ::write(STDOUT_FILENO, text.data(), text.size());
    if (n < 0 && errno != EINTR)
      throw Error(errc::io, fmt::format("cannot write: {}", std::generic_category().message(errno)),
                  std::string(standard_output), errno == ENOSPC ? "free some space or write elsewhere" : "");
    if (n > 0) text.remove_prefix(static_cast<std::size_t>(n));
    // A signal ends a write that waits for its reader, with an error or with what was written so far.
    if (!text.empty() && interrupted()) throw Error(errc::interrupted, "interrupted");
  }
}

bool standard_output_is_broken() noexcept {
  pollfd out{STDOUT_FILENO, POLLOUT, 0};
  return ::poll(&out, 1, 0) > 0 && (out.revents & POLLERR) != 0;
}

void refuse_existing(const std::string& path, bool overwrite) {
  std::error_code ignored;  // what cannot be looked at cannot be written either, and that error is told then
  if (!overwrite && path != "-" && std::filesystem::exists(std::filesystem::symlink_status(path, ignored)))
    throw Error(errc::exists, "the output exists already", path, "use another name, or -f to overwrite it");
}

std::string grouped(std::uint64_t number) {
  std::string digits = fmt::to_string(number);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, 1, ',');
  return digits;
}

}  // namespace spmvpack::tools
