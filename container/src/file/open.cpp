#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <unordered_set>
#include <utility>

#include "file/checksum.hpp"
#include "file/part_rules.hpp"
#include "file/section_rules.hpp"
#include "spmvpack/container/base/text.hpp"
#include "spmvpack/container/file/reader.hpp"
#include "spmvpack/container/file/share.hpp"
#include "spmvpack/container/layouts/registry.hpp"

namespace spmvpack {
namespace {

constexpr const char* remedy_newer = "use the version that wrote the file";
constexpr const char* remedy_older =
    "decode it with the release that wrote it, or go back to its source, and encode the matrix with this one";

/// True for a name without spaces, which a shell takes as one word; false for "standard input".
bool is_one_word(const std::string& name) { return !name.empty() && name.find(' ') == std::string::npos; }

/// The features that say what the writer has found of a matrix whose source says that it is general.
std::uint64_t found_features(const format::Header& h) noexcept {
  const bool complex = h.field == static_cast<std::uint8_t>(Field::complex);
  return h.optional_features & (format::feature_symmetric | format::feature_skew_symmetric |
                                (complex ? format::feature_hermitian : std::uint64_t{0}));
}
Symmetry found_symmetry(const format::Header& h) noexcept {
  const std::uint64_t found = found_features(h);
  return (found & format::feature_symmetric) != 0        ? Symmetry::symmetric
         : (found & format::feature_skew_symmetric) != 0 ? Symmetry::skew_symmetric
         : (found & format::feature_hermitian) != 0      ? Symmetry::hermitian
                                                         : Symmetry::general;
}

/// What the header says of a share; none if it is none.
std::optional<ShareFacts> share_of(const format::Header& h) noexcept {
  if (h.global_rows == 0) return {};
  return ShareFacts{
      h.global_rows, h.global_cols, h.global_nnz, h.first_row, h.first_col,
      h.own_cols,    h.rank,        h.ranks,      h.partition, {h.global_digest_low, h.global_digest_high}};
}

/// A short name on the heap, with what a set of them adds.
constexpr std::uint64_t name_bytes = 96;

/// What a container keeps of its tables, whose size open() has checked. A PartInfo has its parameters.
std::uint64_t kept_bytes(const format::Header& h) {
  return h.part_count * (sizeof(PartInfo) + name_bytes) + h.section_count * (sizeof(SectionInfo) + name_bytes) +
         h.block_count * (sizeof(format::Block) + sizeof(std::uint64_t));
}

struct Tables {
  std::vector<format::Part> parts;
  std::vector<format::Parameter> parameters;
  std::vector<format::Section> sections;
  std::vector<format::Block> blocks;
};

/// Checks the header and the tables of one file, and keeps track of the place for errors.
class Opener {
 public:
  Opener(const ByteSource& bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  format::Header header() {
    format::Header h{};
    const std::uint64_t size = bytes_.size();
    bytes_.read(0, std::as_writable_bytes(std::span(&h, 1)).first(std::min(size, sizeof h)));
    // A short file that starts like a container, even with part of the magic, is a truncated container.
    const std::uint64_t begun = std::min<std::uint64_t>(size, h.magic.size());
    if (!std::equal(h.magic.begin(), h.magic.begin() + begun, format::magic.begin()))
      throw Error(errc::bad_input, "not a container: it does not start like an .spmvc file", name_,
                  is_one_word(name_) ? fmt::format("make one with `spmvpack encode {}`", name_)
                                     : "make one with `spmvpack encode`");
    if (size < sizeof h) fail(fmt::format("truncated: {} bytes, less than the header's {}", size, sizeof h), "length");
    if (h.version_major != format::version_major || h.version_minor != format::version_minor)
      throw Error(errc::unsupported,
                  fmt::format("container version {}.{}, this program reads {}.{}", h.version_major, h.version_minor,
                              format::version_major, format::version_minor),
                  name_,
                  std::pair(h.version_major, h.version_minor) < std::pair(format::version_major, format::version_minor)
                      ? remedy_older
                      : remedy_newer);
    const auto covered = std::as_bytes(std::span(&h, 1)).first(offsetof(format::Header, header_checksum));
    if (xxh3_64(covered) != h.header_checksum) fail("the header's checksum is wrong", "header");
    if (h.file_bytes != size)
      fail(fmt::format("{} bytes long, the header says {}: the file is {}", size, h.file_bytes,
                       size < h.file_bytes ? "truncated" : "longer than it should be"),
           "length");
    require(h.header_bytes == format::header_bytes, "header bytes");
    if (h.required_features != 0) refuse(fmt::format("required features {:#x} are not known", h.required_features));
    require(zero(h.reserved0) && zero(h.reserved1) && zero(h.reserved2), "reserved bytes");
    enumerator(h.value_type, static_cast<unsigned>(*std::max_element(all_value_types.begin(), all_value_types.end())),
               7, "value type");
    enumerator(h.field, 4, 4, "field");
    enumerator(h.symmetry, 4, 4, "symmetry");
    require((static_cast<Field>(h.field) == Field::complex) == holds_complex(static_cast<ValueType>(h.value_type)),
            fmt::format("field {} of {} values", to_string(static_cast<Field>(h.field)),
                        to_string(static_cast<ValueType>(h.value_type))));
    require(static_cast<Symmetry>(h.symmetry) != Symmetry::hermitian || static_cast<Field>(h.field) == Field::complex,
            "symmetry hermitian of real values");
    enumerator(h.digest_algorithm, static_cast<unsigned>(format::DigestAlgorithm::xxh3_128), 255, "digest algorithm");
    // A is then multiplied for A^T, with vectors of A^T's sizes.
    require(h.symmetry == static_cast<std::uint8_t>(Symmetry::general) || h.rows == h.cols,
            fmt::format("{} rows and {} columns of a matrix that the header says is {}", h.rows, h.cols,
                        to_string(static_cast<Symmetry>(h.symmetry))));
    check_found(h);
    if (h.rows >= max_dimension || h.cols >= max_dimension)
      throw Error(errc::unsupported,
                  fmt::format("{} x {}: rows and columns must stay below {}", h.rows, h.cols, max_dimension), name_);
    check_header_share(h);
    require(check_part_count(h.part_count));
    const std::uint64_t fixed = std::uint64_t{h.part_count} * sizeof(format::Part) +
                                std::uint64_t{h.parameter_count} * sizeof(format::Parameter) +
                                std::uint64_t{h.section_count} * sizeof(format::Section);
    require(h.tables_offset >= format::header_bytes && h.tables_offset <= size &&
                h.tables_bytes == size - h.tables_offset && fixed <= h.tables_bytes &&
                h.block_count == (h.tables_bytes - fixed) / sizeof(format::Block) &&
                (h.tables_bytes - fixed) % sizeof(format::Block) == 0,
            "place and size of the tables");
    return h;
  }

  Tables tables(const format::Header& h) {
    std::vector<std::byte> raw(h.tables_bytes);
    bytes_.read(h.tables_offset, raw);
    if (xxh3_64(raw) != h.tables_checksum) fail("the tables' checksum is wrong", "tables");
    const std::byte* from = raw.data();
    const auto take = [&](auto& table, std::uint64_t count) {
      table.resize(count);
      const std::uint64_t bytes = count * sizeof(table[0]);
      if (bytes != 0) std::memcpy(table.data(), from, bytes);
      from += bytes;
    };
    Tables all;
    take(all.parts, h.part_count);
    take(all.parameters, h.parameter_count);
    take(all.sections, h.section_count);
    take(all.blocks, h.block_count);
    return all;
  }

  /// Part `index`, whose sections and parameters begin where those of the part before it end.
  PartInfo part(const Tables& tables, std::uint64_t index, std::uint32_t first_section, std::uint32_t first_parameter,
                const format::Header& h, const MatrixFacts& facts) {
    const format::Part& p = tables.parts[index];
    where_ = fmt::format("part {}", index);
    PartInfo info;
    info.layout = name(p.layout);
    require(p.value_type == h.value_type, "value type differs from the header's");
    enumerator(p.role, 2, 3, "role");
    info.role = static_cast<format::Role>(p.role);
    const bool transpose = info.role == format::Role::transpose;
    require(p.reserved0 == 0 && zero(p.reserved1), "reserved bytes");
    info.value_type = static_cast<ValueType>(p.value_type);
    info.rows = map(p.row_map, p.row_begin, p.row_count, transpose ? h.cols : h.rows, "row map");
    info.cols = map(p.col_map, p.col_begin, p.col_count, transpose ? h.rows : h.cols, "column map");
    info.nnz = p.nnz;
    require(p.first_section == first_section && p.section_count <= h.section_count - first_section,
            "its sections do not follow those of the part before it");
    info.first_section = p.first_section;
    info.section_count = p.section_count;
    require(p.first_parameter == first_parameter && p.parameter_count <= h.parameter_count - first_parameter,
            "its parameters do not follow those of the part before it");
    if (p.parameter_count > format::max_parameters)
      refuse_size(fmt::format("{} parameters, more than the {} that a part may have", p.parameter_count,
                              format::max_parameters),
                  remedy_newer);
    set_parameters(info, std::span(tables.parameters).subspan(first_parameter, p.parameter_count));
    const std::string wrong = check_part(info, facts);
    require(wrong.empty(), wrong);
    return info;
  }

  SectionInfo section(const format::Section& s, std::uint64_t index, std::uint64_t offset, std::uint64_t first_block,
                      const format::Header& h) {
    where_ = fmt::format("section {}", index);
    SectionInfo info;
    info.name = name(s.name);
    where_ = fmt::format("section '{}'", info.name);
    enumerator(s.element_type, format::last_element_type, format::last_element_type, "element type");
    if (s.codec > 1) refuse(fmt::format("codec {} is not known", s.codec));
    if (s.filter > 2) refuse(fmt::format("filter {} is not known", s.filter));
    require((s.flags & ~(format::section_required | format::section_device)) == 0, "reserved flags");
    require(std::has_single_bit(s.alignment) && s.alignment <= format::section_boundary, "alignment");
    require(zero(s.reserved0) && zero(s.reserved1), "reserved bytes");
    info.part = s.part;
    info.element_type = static_cast<format::ElementType>(s.element_type);
    info.codec = static_cast<format::Codec>(s.codec);
    info.filter = static_cast<format::Filter>(s.filter);
    info.flags = s.flags;
    info.alignment = s.alignment;
    info.filter_width = s.filter_width;
    std::uint64_t raw = 0;
    require(!__builtin_mul_overflow(s.count, format::size_of(info.element_type), &raw) && raw == s.raw_bytes,
            "raw bytes are not count times element size");
    require(info.codec != format::Codec::none || info.filter == format::Filter::none, "a filter without a codec");
    if (info.filter == format::Filter::none) {
      require(s.filter_width == 0, "a filter width without a filter");
    } else {
      require(std::has_single_bit(s.filter_width) && s.filter_width <= format::max_filter_width &&
                  s.raw_bytes % s.filter_width == 0,
              "filter width");
    }
    require(s.offset == offset, fmt::format("offset {}, expected {}", s.offset, offset));
    require(s.stored_bytes <= h.tables_offset && s.offset <= h.tables_offset - s.stored_bytes,
            "the section ends past the tables' start");
    require(s.first_block == first_block, "first block");
    require(s.block_count == div_up(s.raw_bytes, format::block_bytes) && s.block_count <= h.block_count - first_block,
            "number of blocks");
    info.count = s.count;
    info.raw_bytes = s.raw_bytes;
    info.stored_bytes = s.stored_bytes;
    info.offset = s.offset;
    info.first_block = s.first_block;
    info.block_count = s.block_count;
    return info;
  }

  void blocks(const SectionInfo& section, std::span<const format::Block> blocks) {
    where_ = fmt::format("section '{}'", section.name);
    std::uint64_t stored = 0;
    for (std::uint64_t b = 0; b < blocks.size(); ++b) {
      require(blocks[b].reserved == 0, "reserved bytes of a block");
      const std::uint64_t raw = std::min(format::block_bytes, section.raw_bytes - b * format::block_bytes);
      const bool encoded = section.codec != format::Codec::none;
      if (encoded ? blocks[b].stored_bytes > format::max_stored_bytes(raw) : blocks[b].stored_bytes != raw)
        fail_here(fmt::format("block {} has {} stored bytes for {} raw ones", b, blocks[b].stored_bytes, raw));
      stored += blocks[b].stored_bytes;
    }
    require(stored == section.stored_bytes, "the blocks' stored bytes do not add up to the section's");
  }

  void padding(std::uint64_t begin, std::uint64_t end) {
    std::array<std::byte, format::section_boundary> gap{};
    const auto bytes = std::span(gap).first(end - begin);
    bytes_.read(begin, bytes);
    for (const std::byte b : bytes)
      if (b != std::byte{0})
        throw Error(errc::corrupt, fmt::format("padding at byte {} is not zero", begin), name_, remedy_damaged);
  }

  void in(std::string where) { where_ = std::move(where); }
  void require(bool ok, const std::string& what) {
    if (!ok) fail_here(what);
  }
  /// Of what breaks a limit of the format.
  [[noreturn]] void refuse_size(const std::string& what, const char* remedy) const {
    throw Error(errc::too_large, what, at(), remedy);
  }
  void require(const PartsVerdict& verdict) {
    if (verdict.too_large) refuse_size(verdict.wrong, remedy_parts);
    require(verdict.wrong.empty(), verdict.wrong);
  }
  [[noreturn]] void refuse(const std::string& what) const { throw Error(errc::unsupported, what, at(), remedy_newer); }

 private:
  /// What the writer has found goes with what the header says besides.
  void check_found(const format::Header& h) {
    if (found_symmetry(h) == Symmetry::general) return;
    require(std::has_single_bit(found_features(h)) && h.symmetry == static_cast<std::uint8_t>(Symmetry::general),
            "more than one symmetry");
    require(h.rows == h.cols,
            fmt::format("{} rows and {} columns of a matrix that equals its transpose, its negative or its conjugate",
                        h.rows, h.cols));
  }
  /// A share lies in its whole.
  void check_header_share(const format::Header& h) {
    const std::optional<ShareFacts> share = share_of(h);
    if (!share)
      return require(h.global_cols == 0 && h.first_row == 0 && h.rank == 0 && h.ranks == 0 && h.first_col == 0 &&
                         h.own_cols == 0 && h.global_nnz == 0 && h.partition == 0 && h.global_digest_low == 0 &&
                         h.global_digest_high == 0,
                     "fields of a share in a header that has none");
    if (h.global_rows >= max_dimension || h.global_cols >= max_dimension)
      throw Error(errc::unsupported,
                  fmt::format("the share of {} x {}: rows and columns must stay below {}", h.global_rows, h.global_cols,
                              max_dimension),
                  name_);
    const std::string wrong = check_share(*share, h.rows, h.cols, h.nnz);
    require(wrong.empty(), wrong);
  }
  template <std::size_t N>
  static bool zero(const std::array<std::uint8_t, N>& bytes) {
    return std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t b) { return b == 0; });
  }
  /// Up to `known` is valid (from 1), up to `reserved` unsupported, anything else corrupt.
  void enumerator(unsigned value, unsigned known, unsigned reserved, const char* what) {
    if (value >= 1 && value <= known) return;
    if (value > known && value <= reserved) refuse(fmt::format("{} {} is reserved for a later version", what, value));
    fail_here(fmt::format("{} {}", what, value));
  }
  std::string name(const format::Name& raw) {
    const std::string_view text = format::name_view(raw);
    bool ok = !text.empty();
    for (const char c : text) ok = ok && ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_');
    for (std::size_t i = text.size(); i < raw.size(); ++i) ok = ok && raw[i] == '\0';
    require(ok, "malformed name");
    return std::string(text);
  }
  /// Each stored parameter in the place that its name has in the layout's description, whose order they are in.
  void set_parameters(PartInfo& info, std::span<const format::Parameter> stored) {
    const std::span<const std::string_view> known = find_layout(info.layout).parameters;
    std::size_t next = 0;  // the first that may still come
    for (const format::Parameter& p : stored) {
      const std::string text = name(p.name);
      const auto found = static_cast<std::size_t>(std::find(known.begin(), known.end(), text) - known.begin());
      if (found == known.size()) refuse(fmt::format("the parameter '{}' of layout {} is not known", text, info.layout));
      require(found >= next, fmt::format("the parameter '{}' comes twice, or not in the order of the layout", text));
      require(p.value != 0, fmt::format("the parameter '{}' is 0, which is not written", text));
      info.params[found] = p.value;
      next = found + 1;
    }
  }
  IndexMap map(std::uint8_t kind, std::uint64_t begin, std::uint64_t count, std::uint64_t size, const char* what) {
    const IndexMap map{static_cast<format::MapKind>(kind), begin, count};
    require(fits(map, size), fmt::format("{}: kind {}, begin {}, count {} of {}", what, kind, begin, count, size));
    return map;
  }
  [[nodiscard]] std::string at() const { return where_.empty() ? name_ : fmt::format("{}: {}", name_, where_); }
  [[noreturn]] void fail_here(const std::string& what) const {
    throw Error(errc::corrupt, fmt::format("wrong table or header entry: {}", what), at(), remedy_damaged);
  }
  [[noreturn]] void fail(const std::string& what, const char* where) const {
    throw Error(errc::corrupt, what, fmt::format("{}: {}", name_, where), remedy_damaged);
  }

  const ByteSource& bytes_;
  const std::string& name_;
  std::string where_;
};

/// Reads the directory from its beginning: each section begins where the one before it ends, as do its blocks.
class Directory {
 public:
  Directory(Opener& opener, const format::Header& header, std::span<const format::Section> entries,
            std::span<const format::Block> blocks)
      : opener_(opener), header_(header), entries_(entries), blocks_(blocks) {
    sections_.reserve(entries.size());
  }

  /// The sections of a part, which gets their numbers of elements.
  void take_part(std::uint32_t index, PartInfo& part) {
    SectionRules rules(&part, find_layout(part.layout).sections);
    std::unordered_set<std::string> names;
    for (std::uint32_t i = 0; i < part.section_count; ++i) {
      const SectionInfo& section = take(index, rules, names);
      if (std::uint64_t* const count = find_count(part, section.name)) *count = section.count;
    }
    opener_.in(fmt::format("part {}", index));
    opener_.require(rules.missing().empty(), fmt::format("it has no section '{}'", rules.missing()));
  }

  /// Those that belong to no part, to the end of the directory.
  void take_rest() {
    SectionRules rules(nullptr, {});
    std::unordered_set<std::string> names;
    bool has_ghosts = false;
    while (sections_.size() < entries_.size()) {
      const SectionInfo& section = take(format::no_part, rules, names);
      if (section.name == format::ghosts_section || section.name == format::original_rows_section) {
        opener_.require(header_.global_rows != 0, "a list of a share in a container that is none");
        const bool ghosts = section.name == format::ghosts_section;
        has_ghosts = has_ghosts || ghosts;
        const std::uint64_t count = ghosts ? header_.cols - header_.own_cols : header_.rows;
        opener_.require(section.count == count, fmt::format("{} elements, expected {}", section.count, count));
        continue;
      }
      if (section.known && section.raw_bytes > format::max_provenance_bytes)
        opener_.refuse_size(
            fmt::format("{} bytes, more than the {} of a provenance", section.raw_bytes, format::max_provenance_bytes),
            "encode the matrix again, with fewer comments");
    }
    opener_.in("tables");
    opener_.require(has_ghosts || header_.global_rows == 0, "a share without the section 'ghosts'");
    opener_.require(first_block_ == header_.block_count, "blocks that belong to no section");
    opener_.require(header_.tables_offset == round_up(end_, format::section_boundary), "their offset");
  }

  [[nodiscard]] std::vector<SectionInfo> sections() && { return std::move(sections_); }

 private:
  /// The next section, which is one of `part`. `names`: of the part's sections so far.
  const SectionInfo& take(std::uint32_t part, SectionRules& rules, std::unordered_set<std::string>& names) {
    const std::size_t index = sections_.size();
    SectionInfo s =
        opener_.section(entries_[index], index, round_up(end_, format::section_boundary), first_block_, header_);
    opener_.require(s.part == part, "it lies outside its part's sections");
    opener_.require(names.insert(s.name).second, "its name is not unique");
    opener_.blocks(s, blocks_.subspan(first_block_, s.block_count));
    const SectionRules::Verdict verdict = rules.next(s);
    opener_.require(verdict.wrong.empty(), std::string(verdict.wrong));
    if (!verdict.unsupported.empty()) opener_.refuse(std::string(verdict.unsupported));
    s.known = verdict.known;
    end_ = s.offset + s.stored_bytes;
    first_block_ += s.block_count;
    return sections_.emplace_back(std::move(s));
  }

  Opener& opener_;
  const format::Header& header_;
  std::span<const format::Section> entries_;
  std::span<const format::Block> blocks_;
  std::vector<SectionInfo> sections_;
  std::uint64_t end_ = format::header_bytes, first_block_ = 0;  ///< of the sections taken
};

}  // namespace

Container Container::open(const std::string& path, std::uint64_t memory_limit) {
  return open(open_file(path), path, memory_limit);
}

Container Container::open(std::shared_ptr<const ByteSource> bytes, const std::string& name,
                          std::uint64_t memory_limit) {
  Container c;
  c.bytes_ = std::move(bytes);
  c.name_ = escape(name, 400);
  Opener opener(*c.bytes_, c.name_);
  const format::Header h = opener.header();
  const MemoryScope memory(memory_limit, fmt::format("{}: tables", c.name_));
  c.counted_ = std::make_shared<const MemoryReservation>(kept_bytes(h));
  const MemoryReservation meanwhile(h.tables_bytes + (h.tables_bytes - h.block_count * sizeof(format::Block)) +
                                    h.section_count * name_bytes);
  c.file_bytes_ = h.file_bytes;
  c.facts_ = {h.rows,
              h.cols,
              h.nnz,
              static_cast<ValueType>(h.value_type),
              static_cast<Field>(h.field),
              static_cast<Symmetry>(h.symmetry),
              {h.digest_low, h.digest_high},
              found_symmetry(h),
              share_of(h)};

  Tables tables = opener.tables(h);
  c.blocks_ = std::move(tables.blocks);
  c.parts_.reserve(tables.parts.size());
  std::uint32_t first_section = 0, first_parameter = 0;
  for (std::size_t i = 0; i < tables.parts.size(); ++i) {
    c.parts_.push_back(opener.part(tables, i, first_section, first_parameter, h, c.facts_));
    first_section += tables.parts[i].section_count;
    first_parameter += tables.parts[i].parameter_count;
    opener.require(i == 0 || c.parts_[i - 1].role <= c.parts_[i].role, "a part of A after one of its transpose");
  }
  opener.in("tables");
  opener.require(first_parameter == h.parameter_count, "parameters that belong to no part");
  opener.in("");
  opener.require(check_parts(c.parts(format::Role::a), h.rows, h.nnz, "A"));
  if (const auto transpose = c.parts(format::Role::transpose); !transpose.empty())
    opener.require(check_parts(transpose, h.cols, h.nnz, "A^T"));

  Directory directory(opener, h, tables.sections, c.blocks_);
  for (std::uint32_t p = 0; p < c.parts_.size(); ++p) directory.take_part(p, c.parts_[p]);
  directory.take_rest();
  c.sections_ = std::move(directory).sections();

  // Nothing may be made of parameters and sizes before layouts have checked them: not even what a multiply would need.
  for (std::size_t i = 0; i < c.parts_.size(); ++i) {
    constexpr const std::byte* not_read = nullptr;
    const PartInfo& info = c.parts_[i];
    std::vector<PartView::Section> views;
    for (const SectionInfo& s : std::span(c.sections_).subspan(info.first_section, info.section_count))
      if (s.known) views.push_back({s.name, s.element_type, {not_read, s.raw_bytes}});
    check_shape(PartView(info, std::move(views), fmt::format("{}: part {}", c.name_, i)));
  }

  c.block_offsets_.resize(c.blocks_.size());
  for (std::size_t i = 0; i < c.sections_.size(); ++i) {
    const SectionInfo& s = c.sections_[i];
    std::uint64_t offset = s.offset;
    for (std::uint64_t b = s.first_block; b < s.first_block + s.block_count; ++b) {
      c.block_offsets_[b] = offset;
      offset += c.blocks_[b].stored_bytes;
    }
    opener.padding(offset, i + 1 < c.sections_.size() ? c.sections_[i + 1].offset : h.tables_offset);
  }
  return c;
}

}  // namespace spmvpack
