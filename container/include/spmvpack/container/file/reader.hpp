#pragma once
/// Opening, checking and unpacking .spmvc files.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "spmvpack/container/base/export.hpp"
#include "spmvpack/container/base/memory.hpp"
#include "spmvpack/container/base/progress.hpp"
#include "spmvpack/container/file/contents.hpp"
#include "spmvpack/container/file/file_io.hpp"
#include "spmvpack/container/layouts/entries.hpp"

namespace spmvpack {

struct LoadOptions {
  int threads = 0;                 ///< 0: all; else up to max_threads (parallel.hpp), as everywhere
  bool verify_checksums = true;    ///< of every block that is read
  bool check_structure = true;     ///< indices in range, chunks valid, ...; disable only for trusted files
  std::uint64_t memory_limit = 0;  ///< bytes, 0: available_memory()
  ProgressCallback progress = {};
  /// Call check_contents() first when a whole matrix is loaded. Without it, the matrix may differ from the header's
  /// digest, field and symmetry, and A^T may be any matrix of its size: no multiply leaves its buffers, but it computes
  /// whatever the file says.
  bool check_contents = false;
  /// Load a matrix whose values can change: a HostMatrix then takes update_values(). The bytes of a container in memory
  /// are copied.
  bool updatable = false;
};

/// A part in memory with its sections' raw bytes, which are its own, or those of a container in memory.
class SPMVPACK_EXPORT LoadedPart {
 public:
  struct SectionBytes {
    Array<std::byte> own;
    std::span<const std::byte> raw;  ///< of `own` or of the container
  };
  /// `container` is what the sections may point to.
  LoadedPart(PartInfo info, std::vector<SectionInfo> sections, std::vector<SectionBytes> bytes, std::string where,
             std::shared_ptr<const ByteSource> container);
  [[nodiscard]] const PartInfo& info() const noexcept { return *info_; }
  [[nodiscard]] const PartView& view() const noexcept { return view_; }
  [[nodiscard]] std::span<const SectionInfo> sections() const noexcept { return *sections_; }
  /// The same bytes as view(), to be changed. Error(errc::usage) unless the part was loaded as updatable.
  [[nodiscard]] layouts::SectionBytes<std::byte> writable_bytes();

 private:
  MemoryReservation counted_;  ///< of what follows but `own` bytes, as there may be many parts
  // On the heap, so that the view's pointers survive a move of the LoadedPart.
  std::unique_ptr<PartInfo> info_;
  std::unique_ptr<std::vector<SectionInfo>> sections_;
  std::vector<SectionBytes> bytes_;
  std::shared_ptr<const ByteSource> container_;
  PartView view_;
};

/// An open .spmvc file. Opening reads and checks the header and the tables; sections are read on demand. Errors:
/// errc::bad_input (not a container), errc::corrupt (wrong bytes or structure), errc::unsupported (version, feature,
/// layout or codec), errc::too_large (beyond a limit of the format), errc::out_of_memory, errc::io.
class SPMVPACK_EXPORT Container {
 public:
  /// The tables may take `memory_limit` bytes (0: available_memory()).
  static Container open(const std::string& path, std::uint64_t memory_limit = 0);
  /// The same for any byte source; messages call it `name`.
  static Container open(std::shared_ptr<const ByteSource> bytes, const std::string& name,
                        std::uint64_t memory_limit = 0);

  [[nodiscard]] const MatrixFacts& facts() const noexcept { return facts_; }
  /// All parts: those of A, then those of A^T, if the container has any.
  [[nodiscard]] const std::vector<PartInfo>& parts() const noexcept { return parts_; }
  [[nodiscard]] std::span<const PartInfo> parts(format::Role role) const noexcept { return parts_of(parts_, role); }
  [[nodiscard]] const std::vector<SectionInfo>& sections() const noexcept { return sections_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] std::uint64_t file_bytes() const noexcept { return file_bytes_; }
  /// The raw bytes of all sections that a multiply with A reads, or one with the container's parts of A^T.
  [[nodiscard]] std::uint64_t device_bytes(format::Role role = format::Role::a) const noexcept;

  /// Verifies the checksum of every block, including sections unknown to this version. Together with the checks of
  /// open(), this covers every byte of the file.
  void check_blocks(const LoadOptions& options = {}) const;
  /// The raw bytes of section `index`: read, verified, decompressed and unfiltered.
  [[nodiscard]] Array<std::byte> read_section(std::size_t index, const LoadOptions& options = {}) const;
  /// Block `block` of section `index`, the unit in which loaders stream: raw bytes [block, block + 1) *
  /// format::block_bytes, fewer for the last one; raw.size() must match exactly. The block is read, verified if
  /// `verify` is set, decompressed and unfiltered. May be called from several threads at once.
  void read_block(std::size_t index, std::uint64_t block, std::span<std::byte> raw, bool verify = true) const;
  /// Part `index` with the sections known to this version. Its structure is checked if options.check_structure is set.
  /// What a container in memory holds without a codec is not copied, unless options.updatable is set.
  [[nodiscard]] LoadedPart load_part(std::size_t index, const LoadOptions& options = {}) const;
  /// Writes the file, byte for byte, once all of its checksums have been verified, if the options say so.
  void copy_to(ByteSink& sink, const LoadOptions& options = {}) const;
  /// The provenance section; empty if there is none. Error(errc::corrupt) if it does not follow docs/FORMAT.md.
  [[nodiscard]] Provenance provenance(const LoadOptions& options = {}) const;

 private:
  Container() = default;
  struct Scratch {
    std::vector<std::byte> stored, inflated;
  };
  void read_block(const SectionInfo& section, std::uint64_t block, std::span<std::byte> raw, bool verify,
                  Scratch& scratch) const;
  void read_stored(const SectionInfo& section, std::uint64_t block, std::vector<std::byte>& stored) const;
  [[nodiscard]] LoadedPart::SectionBytes load_section(std::size_t index, const LoadOptions& options) const;
  void verify_in_memory(const SectionInfo& section, std::span<const std::byte> raw, const LoadOptions& options) const;
  [[noreturn]] void fail_block(const SectionInfo& section, std::uint64_t block, const char* what) const;

  std::shared_ptr<const ByteSource> bytes_;
  std::string name_;
  MatrixFacts facts_;
  std::vector<PartInfo> parts_;
  std::vector<SectionInfo> sections_;
  std::vector<format::Block> blocks_;
  std::vector<std::uint64_t> block_offsets_;
  std::uint64_t file_bytes_ = 0;
  std::shared_ptr<const MemoryReservation> counted_;  ///< of the tables
};

/// The matrix of a container, assembled from all its parts of A; or the same matrix from those of A^T, which it
/// transposes back. Checksums are verified if the options say so. The structure is always checked, and so is that the
/// matrix has the header's content digest, field and symmetry, and that no two parts hold the same entry:
/// Error(errc::corrupt) otherwise. Error(errc::usage) if a matrix with nonzeros has no parts of the role.
SPMVPACK_EXPORT CsrMatrix unpack(const Container& container, const LoadOptions& options = {},
                                 format::Role role = format::Role::a);

/// Unpacks A, and A^T if the container has it, for what unpack() checks: that A has the header's digest, field and
/// symmetry, and that A^T is A's transpose; checks the lists of a share (share.hpp). Takes the time and memory of
/// unpack(). Errors: those of unpack().
SPMVPACK_EXPORT void check_contents(const Container& container, const LoadOptions& options = {});

}  // namespace spmvpack
