#pragma once
/// What a container says about itself (facts of the matrix, provenance, parts, sections), and a loaded part.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spmvpack/container/base/export.hpp"
#include "spmvpack/container/file/format.hpp"
#include "spmvpack/container/matrix/csr_matrix.hpp"

namespace spmvpack {

/// Where a matrix that is one rank's share lies in the *whole* that it is a share of (share.hpp). Ranks hold rows and
/// own columns in the order of their numbers. The whole's numbering may differ from its source's.
struct ShareFacts {
  std::uint64_t global_rows = 0, global_cols = 0, global_nnz = 0;  ///< of the whole
  std::uint64_t first_row = 0;                                     ///< the share's, in the whole
  std::uint64_t first_col = 0, own_cols = 0;                       ///< local columns 0, 1, ...; the others are ghosts
  std::uint32_t rank = 0, ranks = 1;
  std::uint64_t partition = 0;  ///< the same number in all shares of one partition, and most likely not in another's
  Digest global_digest;         ///< of the whole, as its source numbers it
  bool operator==(const ShareFacts&) const = default;
};

/// A share's facts and lists.
struct Share {
  ShareFacts facts;
  Array<std::uint32_t> ghosts;  ///< the whole's columns that local columns own_cols, own_cols + 1, ... are; they rise
  Array<std::uint32_t> original_rows;  ///< the source's number of each row; they rise. Empty: those of the whole
};

/// Facts about the matrix itself, the same in every layout.
struct MatrixFacts {
  std::uint64_t rows = 0, cols = 0, nnz = 0;
  ValueType value_type = ValueType::f64;
  Field field = Field::real;
  Symmetry symmetry = Symmetry::general;  ///< of the source
  Digest digest;
  /// If the source says that the matrix is general: what its entries are, bit for bit, as far as the writer looked.
  Symmetry found = Symmetry::general;
  std::optional<ShareFacts> share = {};  ///< unset: the matrix is a whole one

  /// Whether A^T is A (symmetric), -A (skew-symmetric) or A's conjugate (Hermitian, but for the signs of the diagonal's
  /// zero imaginary parts), bit for bit, as the source says or the writer has found.
  [[nodiscard]] constexpr Symmetry bitwise_symmetry() const noexcept {
    return symmetry != Symmetry::general ? symmetry : found;
  }
};

/// A layout or strategy whose multiply was measured when a matrix was encoded.
struct MeasuredLayout {
  std::string layout;
  double predicted_seconds = 0, seconds = 0;
};

/// Where a matrix came from. Kept in the optional section "provenance", one `key=value` line each.
struct Provenance {
  std::string version;               ///< the version of spmvpack that wrote the container
  std::string options;               ///< the encoder's options, as on the command line
  std::string source;                ///< base name of the source file
  std::uint64_t entries = 0;         ///< entries that the source listed, before expansion and summing
  std::uint64_t duplicates = 0;      ///< entries of the expanded matrix that were summed into an earlier one
  std::uint64_t explicit_zeros = 0;  ///< stored entries whose value is +0 or -0
  /// Values of the expanded matrix that rounding from the source's f64 to f32 changed. Each duplicate counts, as it is
  /// rounded before it is summed; rounding by the sums themselves is not counted.
  std::uint64_t rounded = 0;
  double max_relative_error = 0;        ///< the largest |f32 - f64| / |f64| among them
  std::vector<std::string> comments;    ///< the source's comment lines, without their %
  std::uint64_t comments_left_out = 0;  ///< comment lines that the section has no room for; they come after `comments`
  std::string parts;                    ///< layouts of the parts, if there are several: "ell+coo"
  /// The GPU or processor on which layouts were measured to choose one, and the layouts measured; empty if there were
  /// none. The chosen one comes first, then the others, the fastest first. The text always takes the same number of
  /// bytes: it holds a fixed number of bytes of the name and a fixed number of layouts.
  std::string measured_on = {};
  std::vector<MeasuredLayout> measured = {};
  /// The machine that plans were made for: gpu, host or the id of a profile. Empty if it made no difference, or was not
  /// recorded.
  std::string target = {};
  static constexpr std::size_t measured_on_bytes = 64, most_measured = 8;
};
/// Converts a provenance to the text of its section and back. The text is lines of UTF-8; parsing anything else throws
/// Error(errc::corrupt).
SPMVPACK_EXPORT std::string to_text(const Provenance& provenance);
SPMVPACK_EXPORT Provenance parse_provenance(std::string_view text);
/// Leaves out the last comments that the text has no room for, and counts them.
SPMVPACK_EXPORT void fit_comments(Provenance& provenance);

/// A matrix and what is known about its source, as every reader returns it.
struct SourceMatrix {
  CsrMatrix matrix;
  Field field = Field::real;
  Symmetry symmetry = Symmetry::general;
  Provenance provenance;
  std::shared_ptr<const Share> share = {};  ///< null: the matrix is a whole one
  /// What is wrong with the source though the matrix could be read: a sentence each, after its place
  /// "name:line:column".
  std::vector<std::string> warnings = {};
};

/// Which rows or columns of the matrix a part's local indices 0, 1, ... stand for.
struct IndexMap {
  format::MapKind kind = format::MapKind::all;
  std::uint64_t begin = 0;  ///< first index (range), else 0
  std::uint64_t count = 0;  ///< local indices
};

/// The most sections that a layout describes.
inline constexpr std::size_t max_layout_sections = 16;

/// One part: a set of entries in one layout.
struct PartInfo {
  std::string layout;
  ValueType value_type = ValueType::f64;
  format::Role role = format::Role::a;
  IndexMap rows, cols;  ///< of the matrix, or of its transpose
  std::uint64_t nnz = 0;
  /// By the places of their names in Layout::parameters; the further ones are 0.
  std::array<std::uint64_t, format::max_parameters> params{};
  /// Elements of the part's sections, by their places in Layout::sections; 0 if a section is missing.
  std::array<std::uint64_t, max_layout_sections> counts{};
  std::uint32_t first_section = 0, section_count = 0;
};

/// The parts of a container that have this role. The parts of A come first.
SPMVPACK_EXPORT std::span<const PartInfo> parts_of(std::span<const PartInfo> parts, format::Role role) noexcept;

/// What the header and the part table of a file must say of a matrix and its parts: sizes, places, roles, sums. Reads
/// no element. Error(errc::corrupt) at `where`; errc::unsupported (an unknown layout); errc::too_large (docs/FORMAT.md,
/// limits).
SPMVPACK_EXPORT void check_parts(const MatrixFacts& facts, std::span<const PartInfo> parts, const std::string& where);

/// One named array of a part (or of the file).
struct SectionInfo {
  std::string name;
  std::uint32_t part = format::no_part;
  format::ElementType element_type = format::ElementType::u8;
  format::Codec codec = format::Codec::none;
  format::Filter filter = format::Filter::none;
  std::uint8_t filter_width = 0;  ///< bytes per element of the filter, 0 without a filter
  std::uint8_t flags = 0;         ///< format::section_required, format::section_device
  std::uint32_t alignment = 1;    ///< of its start in memory, bytes
  bool known = false;             ///< whether this version knows the section; if not, it is optional
  std::uint64_t count = 0, raw_bytes = 0, stored_bytes = 0, offset = 0, first_block = 0, block_count = 0;
};

template <class T>
constexpr format::ElementType element_type_of() {
  if constexpr (is_value_type<T>) {
    return format::element_type(value_type_of<T>);
  } else {
    static_assert(std::is_integral_v<T> || std::is_same_v<T, std::byte>);
    if constexpr (sizeof(T) == 1)
      return format::ElementType::u8;
    else if constexpr (sizeof(T) == 2)
      return format::ElementType::u16;
    else if constexpr (sizeof(T) == 4)
      return format::ElementType::u32;
    else
      return format::ElementType::u64;
  }
}

/// A view of a part in memory: its facts and its raw sections. Layouts check, unpack and multiply with it.
class SPMVPACK_EXPORT PartView {
 public:
  struct Section {
    std::string_view name;
    format::ElementType type;
    std::span<const std::byte> bytes;
  };
  PartView(const PartInfo& info, std::vector<Section> sections, std::string where)
      : info_(&info), sections_(std::move(sections)), where_(std::move(where)) {}

  [[nodiscard]] const PartInfo& info() const noexcept { return *info_; }
  [[nodiscard]] std::uint64_t rows() const noexcept { return info_->rows.count; }
  [[nodiscard]] std::uint64_t cols() const noexcept { return info_->cols.count; }
  /// The file and the part, for messages.
  [[nodiscard]] const std::string& where() const noexcept { return where_; }
  /// The section's elements. Error(errc::corrupt) if it is missing or has another type.
  template <class T>
  [[nodiscard]] std::span<const T> get(std::string_view name) const {
    const std::span<const std::byte> bytes = require_section(name, element_type_of<T>()).bytes;
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  /// The section's element type, for sections that can have more than one.
  [[nodiscard]] format::ElementType type_of(std::string_view name) const;
  /// The section, or null if an optional section is missing.
  [[nodiscard]] const Section* find(std::string_view name) const noexcept;
  /// Throws Error(errc::corrupt) located at this part (and section, if named).
  [[noreturn]] void fail(const std::string& what, std::string_view section = {}) const;
  /// Calls fail() unless `ok`; the text is built only then.
  template <class Text>
  void require(bool ok, std::string_view section, Text&& text) const {
    if (!ok) fail(text(), section);
  }

 private:
  [[nodiscard]] const Section& require_section(std::string_view name, format::ElementType type) const;

  const PartInfo* info_;
  std::vector<Section> sections_;
  std::string where_;
};

}  // namespace spmvpack
