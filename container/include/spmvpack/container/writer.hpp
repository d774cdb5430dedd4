#pragma once
/// Writing .spmvc files.

#include <functional>
#include <string>
#include <vector>

#include "spmvpack/container/contents.hpp"
#include "spmvpack/container/export.hpp"
#include "spmvpack/container/progress.hpp"

namespace spmvpack {

/// A section to be written. Nothing is held in memory: the writer asks for the bytes, block by block.
struct SectionSource {
  std::string name;
  format::ElementType element_type = format::ElementType::u8;
  std::uint64_t count = 0;
  std::uint8_t flags = format::section_required | format::section_device;
  std::uint32_t alignment = 1;
  /// Element width that a byte filter may assume (u8 sections that hold packed wider data), 0: the element's size.
  std::uint8_t filter_width = 0;
  /// Writes raw bytes [begin, begin + out.size()) to `out`. Called from several threads at once.
  std::function<void(std::uint64_t begin, std::span<std::byte> out)> fill;

  [[nodiscard]] std::uint64_t raw_bytes() const { return checked_mul(count, size_of(element_type), "section bytes"); }
};

struct PartSource {
  PartInfo info;
  std::vector<SectionSource> sections;
};

struct ContainerSource {
  MatrixFacts facts;
  std::vector<PartSource> parts;
  std::vector<SectionSource> file_sections;  ///< sections of no part, such as provenance
};

/// The provenance section of a file.
SPMVPACK_EXPORT SectionSource provenance_section(const Provenance& provenance);

struct WriteOptions {
  format::Codec codec = format::Codec::none;
  int level = 3;  ///< of zstd, 1 to 19
  int threads = 0;
  bool overwrite = false;
  ProgressCallback progress = {};
};

/// The exact size of the file that write_container() makes with codec none.
SPMVPACK_EXPORT std::uint64_t file_bytes_uncompressed(const ContainerSource& source);

/// Writes `source` to `path`, through a temporary sibling that takes the name only when it is complete and on disk.
/// The bytes depend on the source, the codec, the level and zstd's version, not on the number of threads.
/// Returns the file's size. Errors: errc::io, errc::exists, errc::interrupted.
SPMVPACK_EXPORT std::uint64_t write_container(const std::string& path, const ContainerSource& source,
                                              const WriteOptions& options = {});

}  // namespace spmvpack
