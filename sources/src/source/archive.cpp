#include "source/archive.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <locale.h>  // NOLINT(modernize-deprecated-headers): uselocale() is of POSIX

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <string_view>
#include <utility>
#include <vector>

#include "source/source_name.hpp"
#include "spmvpack/container/base/array.hpp"
#include "spmvpack/container/base/memory.hpp"
#include "spmvpack/container/base/text.hpp"
#include "text/number_text.hpp"

namespace spmvpack::sources {
namespace {

/// libarchive over a stream.
class Archive {
 public:
  Archive(std::shared_ptr<ByteStream> bytes, int format, int filter, const char* kind)
      : bytes_(std::move(bytes)), kind_(kind), buffer_(std::uint64_t{1} << 18), archive_(archive_read_new()) {
    if (!archive_) throw Error(errc::out_of_memory, "cannot allocate an archive reader");
    archive_read_set_format(get(), format);
    if (filter != ARCHIVE_FILTER_NONE) archive_read_append_filter(get(), filter);
    if (archive_read_open(get(), this, nullptr, read_more, nullptr) != ARCHIVE_OK) fail();
  }
  Archive(const Archive&) = delete;
  Archive& operator=(const Archive&) = delete;
  ~Archive() = default;

  /// Moves on to the next member; false at the end.
  bool next() {
    const Utf8Names names;
    const int result = archive_read_next_header(get(), &entry_);
    if (result != ARCHIVE_OK && result != ARCHIVE_WARN && result != ARCHIVE_EOF) fail();
    at_ = 0;
    return at_member_ = result != ARCHIVE_EOF;
  }
  /// The next bytes of the member; empty at its end. Valid until the next call.
  std::string_view next_block() {
    const void* data = nullptr;
    std::size_t size = 0;
    la_int64_t offset = 0;
    if (!at_member_) return {};
    do {
      const int result = archive_read_data_block(get(), &data, &size, &offset);
      if (result == ARCHIVE_EOF) return {};
      if (result != ARCHIVE_OK) fail();  // a wrong checksum of a zip archive is a warning
      if (offset != at_) throw Error(errc::unsupported, "a sparse file in the archive", name(), "extract it first");
      at_ += static_cast<la_int64_t>(size);
    } while (size == 0);
    return {static_cast<const char*>(data), size};
  }
  [[nodiscard]] bool is_file() const noexcept { return archive_entry_filetype(entry_) == AE_IFREG; }
  /// Error(errc::unsupported): a name that cannot be read, so that nothing can be said about the member.
  [[nodiscard]] std::string path() const {
    const Utf8Names names;
    const char* path = archive_entry_pathname(entry_);
    if (path == nullptr) path = archive_entry_pathname_utf8(entry_);
    if (path == nullptr)
      throw Error(errc::unsupported, "the archive has a member whose name cannot be read", name(),
                  "extract the matrix, and give that");
    return path;
  }
  /// Error(errc::unsupported) with `remedy` if the current member is of a zip archive and encrypted, or compressed by a
  /// method whose decoder allocates what the member's header says, without a limit.
  void require_readable(const char* remedy) const {
    const std::string_view format = this->format();
    if (!format.starts_with("ZIP")) return;
    const auto refuse = [&](const std::string& what) {
      throw Error(errc::unsupported, what, fmt::format("{}({})", name(), escape(path())), remedy);
    };
    if (archive_entry_is_encrypted(entry_) != 0) refuse("the member is encrypted");
    if (!format.ends_with("(uncompressed)") && !format.ends_with("(deflation)"))
      refuse(fmt::format("the member is neither stored nor deflated, but {}", escape(format)));
  }
  /// Reads the bytes after the archive's end, so that damage there is found, too.
  void drain() {
    while (bytes_->read({buffer_.data(), buffer_.size()}) != 0) continue;
  }
  /// The format of the current member, as libarchive calls it: "ZIP 2.0 (deflation)".
  [[nodiscard]] std::string_view format() const {
    const char* const format = archive_format_name(get());
    return format != nullptr ? format : "";
  }
  [[nodiscard]] const std::string& name() const noexcept { return bytes_->name(); }

 private:
  static la_ssize_t read_more(archive* /*unused*/, void* self, const void** data) {
    auto& a = *static_cast<Archive*>(self);
    *data = a.buffer_.data();
    try {
      return static_cast<la_ssize_t>(a.bytes_->read({a.buffer_.data(), a.buffer_.size()}));
    } catch (...) {
      a.error_ = std::current_exception();
      archive_set_error(a.get(), EIO, "read error");
      return -1;
    }
  }

  [[noreturn]] void fail() const {
    if (error_) std::rethrow_exception(error_);
    const char* const what = archive_error_string(archive_.get());
    throw Error(errc::bad_input,
                fmt::format("the {} is damaged or truncated ({})", kind_, what != nullptr ? what : "?"), name(),
                remedy_damaged);
  }

  /// While there is one, this thread's names of members are UTF-8: libarchive converts them to the locale's characters,
  /// which without one are those of ASCII alone.
  class Utf8Names {
   public:
    Utf8Names() : before_(utf8() != locale_t{} ? uselocale(utf8()) : locale_t{}) {}
    Utf8Names(const Utf8Names&) = delete;
    Utf8Names& operator=(const Utf8Names&) = delete;
    ~Utf8Names() {
      if (before_ != locale_t{}) uselocale(before_);
    }

   private:
    static locale_t utf8() {
      static const locale_t it = newlocale(LC_CTYPE_MASK, "C.UTF-8", locale_t{});
      return it;
    }
    locale_t before_;
  };
  struct Free {
    void operator()(archive* a) const noexcept { archive_read_free(a); }
  };
  [[nodiscard]] archive* get() const noexcept { return archive_.get(); }

  std::shared_ptr<ByteStream> bytes_;
  const char* kind_;
  Array<char> buffer_;
  std::exception_ptr error_;  ///< what bytes_ threw
  std::unique_ptr<archive, Free> archive_;
  archive_entry* entry_ = nullptr;
  bool at_member_ = false;
  la_int64_t at_ = 0;  ///< bytes of the member returned so far
};

/// The bytes of the blocks that libarchive hands out.
class BlockStream : public FilterStream {
 public:
  BlockStream(std::shared_ptr<ByteStream> bytes, std::string name, std::unique_ptr<Archive> archive)
      : FilterStream(std::move(bytes), std::move(name)), archive_(std::move(archive)) {}

 protected:
  /// The next block; empty at the end.
  virtual std::string_view next_block() { return archive_->next_block(); }
  [[nodiscard]] Archive& archive() const noexcept { return *archive_; }

 private:
  std::size_t produce(std::span<char> out) override {
    if (block_.empty()) block_ = next_block();
    const std::size_t n = std::min(out.size(), block_.size());
    std::copy_n(block_.begin(), n, out.begin());
    block_.remove_prefix(n);
    return n;
  }

  std::unique_ptr<Archive> archive_;
  std::string_view block_;
};

/// How strongly a member claims to be the matrix that is meant.
enum class Claim { none, holds_matrix, has_name };

/// The claim of the current member of `archive`, and its first block if that was examined.
Claim claim_of(Archive& archive, const std::string& name, std::string_view& block) {
  const std::string path = archive.path();
  const std::string_view base = base_name(path), stem = without_matrix_ending(base);
  if (!archive.is_file() || stem.empty() || base.starts_with("._")) return Claim::none;  // ._A.mtx: macOS metadata
  constexpr const char* remedy = "extract it, and give that";
  if (!name.empty() && stem == name) {
    archive.require_readable(remedy);
    return Claim::has_name;
  }
  if (base.size() < path.size()) {
    const std::string_view directory = base_name(std::string_view(path).substr(0, path.size() - base.size() - 1));
    if (stem.size() > directory.size() && stem.starts_with(directory) && stem[directory.size()] == '_')
      return Claim::none;
  }
  archive.require_readable(remedy);
  block = archive.next_block();
  constexpr std::string_view banner = "%%MatrixMarket matrix coordinate";
  const bool other_text = block.starts_with('%') && !equal_words(block.substr(0, banner.size()), banner);
  return block.empty() || other_text ? Claim::none : Claim::holds_matrix;
}

[[noreturn]] void refuse(const std::string& archive, const std::string& what, const std::vector<std::string>& members) {
  constexpr std::size_t shown = 8;
  std::string list;
  for (std::size_t i = 0; i < std::min(members.size(), shown); ++i) list += (i == 0 ? " " : ", ") + escape(members[i]);
  if (members.size() > shown) list += fmt::format(" and {} more", members.size() - shown);
  throw Error(errc::bad_input, what + list, archive, "extract the one you mean, and give that");
}

[[noreturn]] void refuse_without_matrix(const std::string& archive, const std::vector<std::string>& members) {
  refuse(archive,
         fmt::format("no member of the archive is a matrix (.mtx, .rb, .rua, ...); it holds{}",
                     members.empty() ? " nothing" : ""),
         members);
}

class MemberStream final : public BlockStream {
 public:
  MemberStream(const std::shared_ptr<ByteStream>& bytes, std::unique_ptr<Archive> archive, std::string choice,
               Claim claim, std::string_view block, const std::string& path)
      : BlockStream(bytes, fmt::format("{}({})", bytes->name(), escape(path)), std::move(archive)),
        choice_(std::move(choice)),
        claim_(claim),
        first_block_(block),
        path_(path) {}

 private:
  std::string_view next_block() override {
    if (!first_block_.empty()) return std::exchange(first_block_, {});
    if (ended_) return {};
    const std::string_view block = BlockStream::next_block();
    if (!block.empty()) return block;
    ended_ = true;
    while (archive().next()) {
      std::string_view unused;
      if (claim_of(archive(), choice_, unused) >= claim_)
        refuse(archive().name(), "the archive holds more than one matrix:", {path_, archive().path()});
    }
    archive().drain();
    return {};
  }

  std::string choice_;
  Claim claim_;
  std::string_view first_block_;
  std::string path_;
  bool ended_ = false;
};

std::unique_ptr<Archive> open_archive(std::shared_ptr<ByteStream> bytes) {
  const bool zip = is_zip(*bytes);
  return std::make_unique<Archive>(std::move(bytes), zip ? ARCHIVE_FORMAT_ZIP : ARCHIVE_FORMAT_TAR, ARCHIVE_FILTER_NONE,
                                   zip ? "zip archive" : "tar archive");
}

}  // namespace

std::shared_ptr<ByteStream> inflate_bzip2(std::shared_ptr<ByteStream> bytes) {
  auto archive = std::make_unique<Archive>(bytes, ARCHIVE_FORMAT_RAW, ARCHIVE_FILTER_BZIP2, "bzip2 data");
  const std::string name = bytes->name();
  archive->next();  // the only member of the raw format; without one, there are no blocks either
  return std::make_shared<BlockStream>(std::move(bytes), name, std::move(archive));
}

bool is_zip(ByteStream& bytes) {
  using namespace std::string_view_literals;
  const std::string_view start = bytes.peek(4);
  return start == "PK\x03\x04"sv || start == "PK\x05\x06"sv;
}

bool is_tar(ByteStream& bytes) {
  constexpr std::size_t header_bytes = 512, checksum_begin = 148, checksum_end = 156;
  const std::string_view header = bytes.peek(header_bytes);
  if (header.size() != header_bytes) return false;
  // The checksum, in octal, is computed with blanks in its own place.
  std::uint64_t sum = 0, expected = 0;
  for (std::size_t i = 0; i < header.size(); ++i)
    sum += i >= checksum_begin && i < checksum_end ? ' ' : static_cast<unsigned char>(header[i]);
  std::size_t i = checksum_begin;
  while (i < checksum_end && header[i] == ' ') ++i;
  for (; i < checksum_end && header[i] >= '0' && header[i] <= '7'; ++i)
    expected = expected * 8 + static_cast<std::uint64_t>(header[i] - '0');
  return sum == expected;
}

MemberChoice find_member(std::shared_ptr<ByteStream> bytes, const std::string& name) {
  const std::string where = bytes->name();
  const auto archive = open_archive(std::move(bytes));
  std::vector<std::string> members, matrices;
  MemoryReservation counted;
  MemberChoice choice;
  for (std::uint64_t i = 0; archive->next(); ++i) {
    if (!archive->is_file()) continue;
    members.push_back(archive->path());
    counted.grow(3 * (sizeof(std::string) + members.back().size()), "the list of the archive's members");
    std::string_view unused;
    const Claim claim = claim_of(*archive, name, unused);
    if (claim == Claim::has_name) return {i, name};  // reading it shows whether it is the only one
    if (claim == Claim::none) continue;
    matrices.push_back(members.back());
    choice = {i, name};
  }
  if (matrices.empty()) refuse_without_matrix(where, members);
  if (matrices.size() > 1) refuse(where, "the archive holds more than one matrix:", matrices);
  return choice;
}

std::shared_ptr<ByteStream> open_member(const std::shared_ptr<ByteStream>& bytes, const MemberChoice& choice) {
  auto archive = open_archive(bytes);
  std::vector<std::string> members;
  MemoryReservation counted;
  for (std::uint64_t i = 0; archive->next(); ++i) {
    const std::string path = archive->path();
    if (archive->is_file()) {
      members.push_back(path);
      counted.grow(2 * (sizeof(std::string) + path.size()), "the list of the archive's members");
    }
    if (choice.index != MemberChoice::first_matrix && i != choice.index) continue;
    std::string_view block;
    const Claim claim = claim_of(*archive, choice.name, block);
    if (claim != Claim::none)
      return std::make_shared<MemberStream>(bytes, std::move(archive), choice.name, claim, block, path);
  }
  refuse_without_matrix(bytes->name(), members);
}

void read_zip(
    const std::shared_ptr<ByteStream>& bytes,
    const std::function<void(const std::string& path, const std::function<std::string_view()>& next_block)>& member) {
  Archive archive(bytes, ARCHIVE_FORMAT_ZIP, ARCHIVE_FILTER_NONE, "zip archive");
  while (archive.next()) {
    if (!archive.is_file()) continue;
    bool begun = false;
    member(archive.path(), [&] {
      if (!std::exchange(begun, true))
        archive.require_readable("compress it as numpy.savez_compressed() and scipy.sparse.save_npz() do");
      return archive.next_block();
    });
  }
  archive.drain();
}

}  // namespace spmvpack::sources
