#pragma once
/// Writing .spmvc files.

#include <functional>
#include <string>
#include <vector>

#include "spmvpack/container/base/export.hpp"
#include "spmvpack/container/base/progress.hpp"
#include "spmvpack/container/file/contents.hpp"
#include "spmvpack/container/file/file_io.hpp"

namespace spmvpack {

/// What the directory says of a section, whose bytes are elsewhere.
struct SectionShape {
  std::string name;
  format::ElementType element_type = format::ElementType::u8;
  std::uint64_t count = 0;
  std::uint8_t flags = format::section_required | format::section_device;
  std::uint32_t alignment = 1;
  /// The element width for byte filters, for u8 sections that pack wider data; 0: the element's size.
  std::uint8_t filter_width = 0;

  [[nodiscard]] std::uint64_t raw_bytes() const { return checked_mul(count, size_of(element_type), "section bytes"); }
};

/// A section to be written. It is not held in memory; the writer requests its bytes block by block.
struct SectionSource : SectionShape {
  /// Writes the raw bytes [begin, begin + out.size()) to `out`. Called from several threads at once.
  std::function<void(std::uint64_t begin, std::span<std::byte> out)> fill;
};

struct PartSource {
  PartInfo info;
  std::vector<SectionSource> sections;
};

struct ContainerSource {
  MatrixFacts facts;
  std::vector<PartSource> parts;
  std::vector<SectionSource> file_sections;  ///< sections that belong to no part, such as provenance
};

/// The provenance section of a file. Error(errc::too_large) if its text takes more than format::max_provenance_bytes,
/// which fit_comments() prevents but for other lines that are as long.
SPMVPACK_EXPORT SectionSource provenance_section(const Provenance& provenance);

/// The sections of a share's lists, which go with MatrixFacts::share; none if it is null.
SPMVPACK_EXPORT std::vector<SectionSource> share_sections(const std::shared_ptr<const Share>& share);

struct WriteOptions {
  format::Codec codec = format::Codec::none;
  int level = 3;  ///< of zstd, 1 to 19
  int threads = 0;
  bool overwrite = false;
  ProgressCallback progress = {};
};

/// The exact size of the file that write_container() writes with codec none.
SPMVPACK_EXPORT std::uint64_t file_bytes_uncompressed(const ContainerSource& source);

/// Writes `source` to `path`, by way of a temporary file beside it that takes the name once it is complete and on disk.
/// The bytes depend on the source, the codec, the level and the version of zstd, not on the number of threads. Returns
/// the file's size. Errors: errc::io, errc::exists, errc::interrupted; errc::too_large beyond a limit of the format;
/// errc::bad_input or errc::usage if no reader would take what the source says of the matrix and its parts.
SPMVPACK_EXPORT std::uint64_t write_container(const std::string& path, const ContainerSource& source,
                                              const WriteOptions& options = {});
/// The same bytes, to memory or wherever `sink` leads; `overwrite` has no meaning.
SPMVPACK_EXPORT std::uint64_t write_container(ByteSink& sink, const ContainerSource& source,
                                              const WriteOptions& options = {});

}  // namespace spmvpack
