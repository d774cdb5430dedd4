#include "source/byte_stream.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace spmvpack::sources {
namespace {

class FileStream final : public ByteStream {
 public:
  explicit FileStream(const std::string& path)
      : ByteStream(path == "-" ? "standard input" : path),
        fd_(path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (fd_ < 0) fail("open", errno == ENOENT ? "check the path" : errno == EACCES ? "check the permissions" : "");
    struct stat info {};
    const bool known = ::fstat(fd_, &info) == 0;
    if (!known || S_ISDIR(info.st_mode)) {
      const int code = errno;
      close();
      errno = code;
      if (!known) fail("look at", "");
      throw Error(errc::io, "is a directory", path, "use a file in it");
    }
    start_ = ::lseek(fd_, 0, SEEK_CUR);  // standard input need not start at its beginning
    if (S_ISREG(info.st_mode)) size_ = static_cast<std::uint64_t>(std::max<off_t>(info.st_size - start_, 0));
  }
  FileStream(const FileStream&) = delete;
  FileStream& operator=(const FileStream&) = delete;
  ~FileStream() override { close(); }

  [[nodiscard]] std::uint64_t file_position() const noexcept override { return position_; }
  [[nodiscard]] std::uint64_t file_size() const noexcept override { return size_; }

 private:
  std::size_t produce(std::span<char> out) override {
    for (;;) {
      const ssize_t n = ::read(fd_, out.data(), out.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {  // a non-blocking pipe with nothing in it yet
        pollfd in{fd_, POLLIN, 0};
        ::poll(&in, 1, -1);
        continue;
      }
      if (n < 0) fail("read", "");
      position_ += static_cast<std::uint64_t>(n);
      return static_cast<std::size_t>(n);
    }
  }

  bool restart() override {
    if (start_ < 0 || ::lseek(fd_, start_, SEEK_SET) != start_) return false;
    position_ = 0;
    return true;
  }

  [[noreturn]] void fail(const char* doing, const char* remedy) const {
    throw Error(errc::io, fmt::format("cannot {}: {}", doing, std::generic_category().message(errno)), name(), remedy);
  }
  void close() const noexcept {
    if (fd_ != STDIN_FILENO) ::close(fd_);
  }

  int fd_;
  off_t start_ = -1;  ///< negative if the stream cannot go back to it
  std::uint64_t size_ = 0, position_ = 0;
};

}  // namespace

std::size_t ByteStream::read(std::span<char> out) {
  std::size_t done = std::min(out.size(), ahead_.size());
  std::copy_n(ahead_.begin(), done, out.begin());
  ahead_.erase(0, done);
  while (done < out.size() && !postponed_) {
    try {
      const std::size_t n = produce(out.subspan(done));
      if (n == 0) return done;
      done += n;
    } catch (const Error&) {
      postponed_ = std::current_exception();
    }
  }
  if (done == 0 && postponed_) std::rethrow_exception(postponed_);
  return done;
}

std::string_view ByteStream::peek(std::size_t n) {
  std::string begun = std::exchange(ahead_, {});
  const std::size_t had = begun.size();
  if (had < n) {
    begun.resize(n);
    try {
      begun.resize(had + read(std::span(begun).subspan(had)));
    } catch (const Error&) {  // postponed: read() throws it again
      begun.resize(had);
    }
  }
  ahead_ = std::move(begun);
  return std::string_view(ahead_).substr(0, n);
}

bool ByteStream::rewind() {
  if (!restart()) return false;
  ahead_.clear();
  postponed_ = nullptr;
  return true;
}

std::shared_ptr<ByteStream> open_stream(const std::string& path) { return std::make_shared<FileStream>(path); }

}  // namespace spmvpack::sources
