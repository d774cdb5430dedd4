#include "spmvpack/container/file/file_io.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <random>
#include <system_error>
#include <utility>

#include "spmvpack/container/base/memory.hpp"
#include "spmvpack/container/base/types.hpp"

namespace spmvpack {
namespace {

std::atomic<int> outputs{0}, finished{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler reads it");

[[noreturn]] void fail(const std::string& path, const char* doing, int code) {
  const std::string remedy = code == ENOENT   ? "check the path"
                             : code == EACCES ? "check the permissions"
                             : code == EISDIR ? "use a file in it"
                             : code == ENOSPC ? "free some space or write elsewhere"
                             : code == EDQUOT ? "free some of your quota or write elsewhere"
                             : code == EMFILE ? "raise the limit on open files (ulimit -n)"
                             : code == EFBIG  ? "raise the limit on the size of files (ulimit -f) or write elsewhere"
                                              : "";
  throw Error(errc::io, fmt::format("cannot {}: {}", doing, std::generic_category().message(code)), path, remedy);
}

[[noreturn]] void fail_exists(const std::string& path) {
  throw Error(errc::exists, "the output already exists", path, "use another name, or force overwriting");
}

class File final : public ByteSource {
 public:
  explicit File(const std::string& path) : path_(path), fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (fd_ < 0) fail(path, "open", errno);
    struct stat info {};
    const bool known = ::fstat(fd_, &info) == 0;
    if (!known || !S_ISREG(info.st_mode)) {
      const int code = errno;
      ::close(fd_);
      if (!known) fail(path, "look at", code);
      if (S_ISDIR(info.st_mode)) fail(path, "open", EISDIR);
      throw Error(errc::io, "not a regular file", path, "give a file");
    }
    size_ = static_cast<std::uint64_t>(info.st_size);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() override { ::close(fd_); }

  [[nodiscard]] std::uint64_t size() const noexcept override { return size_; }

  void read(std::uint64_t offset, std::span<std::byte> out) const override {
    while (!out.empty()) {
      const ssize_t n = ::pread(fd_, out.data(), out.size(), static_cast<off_t>(offset));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) fail(path_, "read", errno);
      if (n == 0)
        throw Error(errc::io, fmt::format("the file ended at byte {} while it was read", offset), path_,
                    "do not change a file that is being read");
      offset += static_cast<std::uint64_t>(n);
      out = out.subspan(static_cast<std::size_t>(n));
    }
  }

 private:
  std::string path_;
  int fd_;
  std::uint64_t size_ = 0;
};

class Memory final : public ByteSource {
 public:
  explicit Memory(Array<std::byte> bytes) : bytes_(std::move(bytes)) {}
  [[nodiscard]] std::uint64_t size() const noexcept override { return bytes_.size(); }
  [[nodiscard]] std::span<const std::byte> in_memory() const noexcept override {
    return {bytes_.data(), bytes_.size()};
  }
  void read(std::uint64_t offset, std::span<std::byte> out) const override {
    if (offset > bytes_.size() || out.size() > bytes_.size() - offset)
      throw Error(errc::io, fmt::format("{} bytes at {} of {} bytes of memory", out.size(), offset, bytes_.size()));
    if (!out.empty()) std::memcpy(out.data(), bytes_.data() + offset, out.size());
  }

 private:
  Array<std::byte> bytes_;
};

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

constexpr std::string_view temporary_ending = ".tmp";
constexpr std::size_t random_digits = 8;

/// Whether a file may have that name: it is not too long.
bool name_fits(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 || errno != ENAMETOOLONG;
}

/// `path` without as many bytes as a temporary name adds to it, and without a part of a UTF-8 character.
std::string shortened(const std::string& path) {
  const std::size_t begin = path.rfind('/') + 1, added = 1 + random_digits + temporary_ending.size();
  std::size_t end = std::max(path.size(), begin + added) - added;
  while (end > begin && (static_cast<unsigned char>(path[end]) & 0xC0U) == 0x80U) --end;
  return path.substr(0, end);
}

/// Removes STEM.xxxxxxxx.tmp that nobody has locked. What cannot be opened, locked or removed stays.
void remove_left_behind(const std::string& stem) noexcept {
  try {
    const std::string directory = directory_of(stem), base = stem.substr(stem.rfind('/') + 1) + '.';
    const std::unique_ptr<DIR, int (*)(DIR*)> names(::opendir(directory.c_str()), &::closedir);
    if (!names) return;
    while (const dirent* const entry = ::readdir(names.get())) {
      const std::string_view name = entry->d_name;
      if (name.size() != base.size() + random_digits + temporary_ending.size() || !name.starts_with(base) ||
          !name.ends_with(temporary_ending) ||
          name.substr(base.size(), random_digits).find_first_not_of("0123456789abcdef") != std::string_view::npos)
        continue;
      const int at = ::dirfd(names.get());
      const int fd = ::openat(at, entry->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
      if (fd < 0) continue;
      struct stat info {};
      if (::fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && ::flock(fd, LOCK_EX | LOCK_NB) == 0)
        ::unlinkat(at, entry->d_name, 0);
      ::close(fd);
    }
  } catch (const std::bad_alloc&) {  // they stay
  }
}

/// `path`, or the file that it points to if it is a symbolic link.
std::string follow_link(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0 || !S_ISLNK(info.st_mode)) return path;
  const std::unique_ptr<char, decltype(&std::free)> target(::realpath(path.c_str(), nullptr), &std::free);
  if (!target) fail(path, "follow the link", errno);
  return target.get();
}

/// The permissions of the file `target`, if it exists. Anything but a regular file is an error at `path`: the rename
/// would replace a device, a pipe or a socket with a file.
std::optional<mode_t> replaced_mode(const std::string& path, const std::string& target) {
  struct stat info {};
  if (::lstat(target.c_str(), &info) != 0) return std::nullopt;
  if (S_ISDIR(info.st_mode)) fail(path, "write", EISDIR);
  if (!S_ISREG(info.st_mode))
    throw Error(errc::io, "not a regular file, so it is not replaced", path, "use another name, or standard output");
  return info.st_mode & (S_IRWXU | S_IRWXG | S_IRWXO);
}

}  // namespace

std::shared_ptr<const ByteSource> open_file(const std::string& path) { return std::make_shared<File>(path); }
std::shared_ptr<const ByteSource> memory_source(std::span<const std::byte> bytes) {
  Array<std::byte> copy(bytes.size());
  if (!bytes.empty()) std::memcpy(copy.data(), bytes.data(), bytes.size());
  return memory_source(std::move(copy));
}
std::shared_ptr<const ByteSource> memory_source(Array<std::byte> bytes) {
  return std::make_shared<Memory>(std::move(bytes));
}

void ByteSink::expect(std::uint64_t /*bytes*/) {}

void MemorySink::grow(std::uint64_t capacity) {
  require_memory(capacity, memory_limit_, "a container in memory");
  Array<std::byte> larger(capacity);
  if (size_ != 0) std::memcpy(larger.data(), bytes_.data(), size_);
  bytes_ = std::move(larger);
}

void MemorySink::expect(std::uint64_t bytes) {
  if (bytes > bytes_.size()) grow(bytes);
}

void MemorySink::write(std::span<const std::byte> bytes) {
  const std::uint64_t end = checked_add(size_, bytes.size(), "bytes in memory");
  if (end > bytes_.size()) grow(std::max(end, 2 * bytes_.size()));
  size_ = end;
  write_at(end - bytes.size(), bytes);
}

void MemorySink::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  if (offset > size_ || bytes.size() > size_ - offset)
    throw Error(errc::internal, fmt::format("{} bytes at {} of {} that are written", bytes.size(), offset, size_));
  if (!bytes.empty()) std::memcpy(bytes_.data() + offset, bytes.data(), bytes.size());
}

Array<std::byte> MemorySink::take() {
  bytes_.truncate(std::exchange(size_, 0));
  return std::exchange(bytes_, {});
}

int unfinished_outputs() noexcept { return outputs.load(); }
int finished_outputs() noexcept { return finished.load(); }

namespace {

/// Writes all of `text`; waits while that is a full pipe, even a non-blocking one.
void write_stream(int fd, const std::string& name, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n >= 0) {
      text.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      pollfd out{fd, POLLOUT, 0};
      ::poll(&out, 1, -1);  // however it ends, the next write reports errors
    } else if (errno != EINTR) {
      fail(name, "write", errno);
    }
  }
}

bool is_stream(const struct stat& info) noexcept { return S_ISCHR(info.st_mode) || S_ISFIFO(info.st_mode); }

}  // namespace

void write_standard_output(std::string_view text) { write_stream(STDOUT_FILENO, "standard output", text); }

TextOutput::TextOutput(const std::string& path, bool overwrite) : name_(path) {
  if (path == "-") {
    name_ = "standard output";
    fd_ = STDOUT_FILENO;
    return;
  }
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || !is_stream(info)) {
    file_.emplace(path, overwrite);
    return;
  }
  do fd_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
  while (fd_ < 0 && errno == EINTR);
  if (fd_ < 0) fail(path, "open", errno);
  // What has taken its place in between may be somebody's file.
  if (::fstat(fd_, &info) == 0 && is_stream(info)) return;
  ::close(fd_);
  throw Error(errc::io, "became another file while it was opened", path, "try again");
}

TextOutput::~TextOutput() {
  if (fd_ >= 0 && fd_ != STDOUT_FILENO) ::close(fd_);
}

void TextOutput::write(std::string_view text) {
  if (file_) return file_->write(std::as_bytes(std::span(text)));
  write_stream(fd_, name_, text);
}

void TextOutput::commit() {
  if (file_) file_->commit();
}

OutputFile::Counted::Counted() noexcept { ++outputs; }
OutputFile::Counted::~Counted() { --outputs; }

OutputFile::OutputFile(std::string path, bool overwrite)
    : path_(std::move(path)), target_(path_), overwrite_(overwrite) {
  // Only an early check, so that a long job fails before it starts; commit() makes sure.
  struct stat info {};
  if (!overwrite_ && ::lstat(path_.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode)) fail(path_, "write", EISDIR);
    fail_exists(path_);
  }
  std::optional<mode_t> mode;
  if (overwrite_) {
    target_ = follow_link(path_);
    mode = replaced_mode(path_, target_);
  }
  create(mode.value_or(0666));
  // open() applied the umask to the mode.
  if (mode && ::fchmod(fd_, *mode) != 0) {
    const int code = errno;
    discard();
    fail(path_, "set the permissions", code);
  }
}

/// Creates the temporary file and locks it, so that others can tell it from one that a killed process left.
void OutputFile::create(std::uint32_t mode) {
  std::random_device random;
  std::string stem = target_;
  for (;;) {
    temporary_ = fmt::format("{}.{:08x}{}", stem, random(), temporary_ending);
    fd_ = ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd_ < 0 && errno == EEXIST) continue;
    if (fd_ < 0 && errno == ENAMETOOLONG && stem == target_ && name_fits(target_)) {
      stem = shortened(target_);
      continue;
    }
    if (fd_ < 0) {
      const int code = errno;
      temporary_.clear();
      fail(path_, "create", code);
    }
    // Without locks (some network file systems), nothing is ever taken for left behind.
    int locked = 0;
    do locked = ::flock(fd_, LOCK_EX);
    while (locked != 0 && errno == EINTR);
    struct stat info {};
    if (locked != 0 || ::fstat(fd_, &info) != 0 || info.st_nlink != 0) break;
    ::close(fd_);  // another process found it before it was locked, and removed it
  }
  lock_ = ::fcntl(fd_, F_DUPFD_CLOEXEC, 0);  // if that fails, the lock ends a moment before the file has its name
  remove_left_behind(stem);
}

OutputFile::~OutputFile() { discard(); }

void OutputFile::discard() noexcept {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  if (lock_ >= 0) ::close(lock_);
}

void OutputFile::write(std::span<const std::byte> bytes) {
  write_at(end_, bytes);
  end_ += bytes.size();
}

void OutputFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(path_, "write", errno);
    offset += static_cast<std::uint64_t>(n);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
}

void OutputFile::flush() {
  if (::fsync(fd_) != 0) fail(path_, "flush", errno);
  const int fd = fd_;
  fd_ = -1;
  if (::close(fd) != 0) fail(path_, "close", errno);
}

void OutputFile::take_name() {
  // link() is the portable rename that never replaces; renameat2(RENAME_NOREPLACE) is for file systems without links.
  int result = 0;
  if (overwrite_) {
    replaced_ = replaced_mode(path_, target_).has_value();
    result = ::rename(temporary_.c_str(), target_.c_str());
    if (result == 0) temporary_.clear();
  } else {
    result = ::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE);
    if (result == 0)
      temporary_.clear();
    else if (errno == EINVAL || errno == ENOSYS)
      result = ::link(temporary_.c_str(), path_.c_str());  // the destructor removes the temporary name
    if (result != 0 && errno == EEXIST) fail_exists(path_);
  }
  if (result != 0) fail(path_, "rename the finished file", errno);
  ++finished;
}

/// The name must survive a power cut, too. A directory that may not be read cannot be opened, and some network file
/// systems cannot flush one: that is left to the file system.
void OutputFile::flush_directory() {
  const auto tell = [this](int code) {
    throw Error(errc::io, fmt::format("cannot flush its directory: {}", std::generic_category().message(code)), path_,
                "the file is complete and has its name, but may not survive a power cut: copy it elsewhere, or look "
                "after the disk and write it again");
  };
  int directory = -1;
  do directory = ::open(directory_of(target_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  while (directory < 0 && errno == EINTR);
  if (directory < 0 && errno == EACCES) return;
  if (directory < 0) tell(errno);
  int flushed = 0;
  do flushed = ::fsync(directory);
  while (flushed != 0 && errno == EINTR);
  const int code = flushed == 0 ? 0 : errno;
  ::close(directory);
  if (code != 0 && code != EINVAL && code != ENOSYS && code != ENOTSUP) tell(code);
}

void OutputFile::commit() {
  flush();
  take_name();
  flush_directory();
}

void commit_all(std::span<const std::unique_ptr<OutputFile>> files) {
  for (const auto& file : files) file->flush();
  std::size_t named = 0;
  try {
    for (; named < files.size(); ++named) files[named]->take_name();
  } catch (...) {
    for (const auto& file : files.first(named))
      if (!file->replaced_) ::unlink(file->target_.c_str());
    throw;
  }
  std::exception_ptr failed;
  for (const auto& file : files) {
    try {
      file->flush_directory();
    } catch (const Error&) {
      if (!failed) failed = std::current_exception();
    }
  }
  if (failed) std::rethrow_exception(failed);
}

}  // namespace spmvpack
