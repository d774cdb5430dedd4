#pragma once
// The golden files, for the tests of all loaders.

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "catch.hpp"
#include "containers.hpp"

namespace spmvpack::test {

struct GoldenFile {
  std::filesystem::path path;
  int exit_code = 0;  ///< of the command, 0 for those to accept
  std::string stage;  ///< of docs/FORMAT.md, section 9, at which it is refused
  std::string name() const { return path.stem(); }
  bool named(std::string_view part) const { return name().find(part) != std::string::npos; }

  /// Whether loading leaves alone what is wrong: it is in sections that no multiply reads.
  [[nodiscard]] bool is_of_whole_files() const {
    return (stage == "structure" && name().starts_with("provenance_")) || named("block_bit_of_unknown_section");
  }
  /// Whether only check_contents() finds what is wrong: LoadOptions::check_contents.
  [[nodiscard]] bool is_of_contents() const {
    return stage == "digest" || stage == "field and symmetry" || named("parts_share_") ||
           (stage == "structure" && name().starts_with("share_"));
  }
};

/// Where the build has made them; SPMVPACK_TEST_GOLDEN_DIR names another directory.
inline std::filesystem::path golden_directory() {
  const char* const elsewhere = std::getenv("SPMVPACK_TEST_GOLDEN_DIR");  // NOLINT(concurrency-mt-unsafe)
  return elsewhere != nullptr ? elsewhere : SPMVPACK_TEST_GOLDEN;
}

/// All of a kind, "accept" or "reject", sorted.
inline std::vector<GoldenFile> all_golden_files(const std::string& kind) {
  std::vector<GoldenFile> files;
  for (const auto& entry : std::filesystem::directory_iterator(golden_directory() / kind)) {
    if (entry.path().extension() != ".spmvc") continue;
    GoldenFile file{.path = entry.path(), .stage = {}};
    if (kind == "reject") {
      std::ifstream text(std::filesystem::path(file.path).replace_extension(".txt"));
      text >> file.exit_code >> std::ws;
      std::getline(text, file.stage);
      REQUIRE(!file.stage.empty());
    }
    files.push_back(std::move(file));
  }
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  REQUIRE(files.size() > 40);
  return files;
}

/// Those of real values, which all layouts and loaders take.
inline std::vector<GoldenFile> golden_files(const std::string& kind) {
  std::vector<GoldenFile> files = all_golden_files(kind);
  std::erase_if(files, [](const GoldenFile& file) { return file.named("complex"); });
  return files;
}

/// The command's exit code for an error of a container; -1 for other errors.
inline int exit_code_of(errc code) {
  switch (code) {
    case errc::bad_input:
      return 3;
    case errc::corrupt:
      return 4;
    case errc::unsupported:
      return 5;
    case errc::too_large:
      return 8;
    default:
      return -1;
  }
}

/// What work() ends with: 0, or the exit code of its error.
template <class Work>
int verdict_of(Work&& work) {
  try {
    work();
  } catch (const Error& e) {
    INFO(e.what());
    const int code = exit_code_of(e.code());
    CHECK(code > 0);
    return code;
  }
  return 0;
}

/// Bytes in memory that begin `shift` bytes past a boundary of 64 and end where their allocation does, so that a
/// sanitizer sees who reads past them.
class ShiftedSource final : public ByteSource {
 public:
  ShiftedSource(std::span<const std::byte> bytes, std::size_t shift)
      : memory_(static_cast<std::byte*>(::operator new(shift + bytes.size(), boundary))),
        bytes_(memory_.get() + shift, bytes.size()) {
    std::copy(bytes.begin(), bytes.end(), memory_.get() + shift);
  }
  [[nodiscard]] std::uint64_t size() const noexcept override { return bytes_.size(); }
  void read(std::uint64_t offset, std::span<std::byte> out) const override {
    if (offset > bytes_.size() || out.size() > bytes_.size() - offset) throw Error(errc::io, "past the end");
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), out.size(), out.begin());
  }
  [[nodiscard]] std::span<const std::byte> in_memory() const noexcept override { return bytes_; }

 private:
  static constexpr std::align_val_t boundary{64};
  struct Free {
    void operator()(std::byte* memory) const noexcept { ::operator delete(memory, boundary); }
  };
  std::unique_ptr<std::byte, Free> memory_;
  std::span<const std::byte> bytes_;
};

}  // namespace spmvpack::test
