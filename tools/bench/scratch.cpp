#include "bench/scratch.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "spmvpack/container/base/memory.hpp"

namespace spmvpack::bench {
namespace {

namespace fs = std::filesystem;

/// A directory of our own that goes with everything in it.
class ScratchDirectory {
 public:
  explicit ScratchDirectory(std::uint64_t bytes) {
    std::string name = (parent(bytes) / "spmvpack-bench-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr)
      throw Error(errc::io, std::string("cannot make a directory: ") + std::strerror(errno), name, "set TMPDIR");
    path_ = name;
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  ~ScratchDirectory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string file() const { return (path_ / "A.spmvc").string(); }

 private:
  static fs::path parent(std::uint64_t bytes) {
    if (const char* const set = std::getenv("TMPDIR"); set != nullptr && *set != '\0') return set;
    fs::path memory = "/dev/shm";
    std::error_code error;
    const fs::space_info space = fs::space(memory, error);
    if (!error && space.available > bytes && ::access(memory.c_str(), W_OK) == 0 && available_memory() / 2 > bytes)
      return memory;
    return "/tmp";
  }

  fs::path path_;
};

}  // namespace

Container encode_to_scratch(const SourceMatrix& source, const encoder::EncodeRequest& request) {
  // A layout that takes more than this is not one to measure.
  const std::uint64_t room = 2 * source.matrix.view().bytes();
  const ScratchDirectory directory(room);
  encoder::encode(source, request, directory.file());
  return Container::open(directory.file());
}

}  // namespace spmvpack::bench
