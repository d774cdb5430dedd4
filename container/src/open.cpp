#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <unordered_set>

#include "checksum.hpp"
#include "part_rules.hpp"
#include "section_rules.hpp"
#include "spmvpack/container/layouts/registry.hpp"
#include "spmvpack/container/reader.hpp"
#include "spmvpack/container/text.hpp"

namespace spmvpack {
namespace {

using format::MapKind;

constexpr const char* remedy_damaged = "get the file again, or encode it again";

/// True for a name without spaces, which a shell takes as one word; false for "standard input".
bool is_one_word(const std::string& name) { return !name.empty() && name.find(' ') == std::string::npos; }

/// What the writer has found of a matrix whose source says that it is general.
Symmetry found_symmetry(const format::Header& h) noexcept {
  return (h.optional_features & format::feature_symmetric) != 0        ? Symmetry::symmetric
         : (h.optional_features & format::feature_skew_symmetric) != 0 ? Symmetry::skew_symmetric
                                                                       : Symmetry::general;
}

/// A short name on the heap, with what a set of them adds.
constexpr std::uint64_t name_bytes = 96;

/// What a container keeps of its tables, whose size open() has checked.
std::uint64_t kept_bytes(const format::Header& h) {
  return h.part_count * (sizeof(PartInfo) + name_bytes) + h.section_count * (sizeof(SectionInfo) + name_bytes) +
         h.block_count * (sizeof(format::Block) + sizeof(std::uint64_t));
}

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
                  name_, "encode the matrix again with this version, or use the version that wrote the file");
    const auto covered = std::as_bytes(std::span(&h, 1)).first(offsetof(format::Header, header_checksum));
    if (xxh3_64(covered) != h.header_checksum) fail("the header's checksum is wrong", "header");
    if (h.file_bytes != size)
      fail(fmt::format("{} bytes long, the header says {}: the file is {}", size, h.file_bytes,
                       size < h.file_bytes ? "truncated" : "longer than it should be"),
           "length");
    require(h.header_bytes == format::header_bytes, "header bytes");
    if (h.required_features != 0)
      throw Error(errc::unsupported, fmt::format("required features {:#x} are not known", h.required_features), name_,
                  "use the version that wrote the file");
    require(zero(h.reserved0) && zero(h.reserved1), "reserved bytes");
    enumerator(h.value_type, static_cast<unsigned>(*std::max_element(value_types.begin(), value_types.end())), 7,
               "value type");
    enumerator(h.field, 3, 4, "field");
    enumerator(h.symmetry, 3, 4, "symmetry");
    // A is then multiplied for A^T, with vectors of A^T's sizes.
    require(h.symmetry == static_cast<std::uint8_t>(Symmetry::general) || h.rows == h.cols,
            fmt::format("{} rows and {} columns of a matrix that the header says is {}", h.rows, h.cols,
                        to_string(static_cast<Symmetry>(h.symmetry))));
    check_found(h);
    if (h.rows >= max_dimension || h.cols >= max_dimension)
      throw Error(errc::unsupported,
                  fmt::format("{} x {}: rows and columns must stay below {}", h.rows, h.cols, max_dimension), name_);
    require(check_part_count(h.part_count));
    const std::uint64_t fixed =
        std::uint64_t{h.part_count} * sizeof(format::Part) + std::uint64_t{h.section_count} * sizeof(format::Section);
    require(h.tables_offset >= format::header_bytes && h.tables_offset <= size &&
                h.tables_bytes == size - h.tables_offset && fixed <= h.tables_bytes &&
                h.block_count == (h.tables_bytes - fixed) / sizeof(format::Block) &&
                (h.tables_bytes - fixed) % sizeof(format::Block) == 0,
            "place and size of the tables");
    return h;
  }

  /// Fills the three tables.
  void tables(const format::Header& h, std::vector<format::Part>& parts, std::vector<format::Section>& sections,
              std::vector<format::Block>& blocks) {
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
    take(parts, h.part_count);
    take(sections, h.section_count);
    take(blocks, h.block_count);
  }

  PartInfo part(const format::Part& p, const format::Header& h, const MatrixFacts& facts, std::uint64_t index,
                std::uint32_t first_section) {
    where_ = fmt::format("part {}", index);
    PartInfo info;
    info.layout = name(p.layout);
    require(p.value_type == h.value_type, "value type differs from the header's");
    enumerator(p.role, 2, 3, "role");
    info.role = static_cast<format::Role>(p.role);
    const bool transpose = info.role == format::Role::transpose;
    require(p.reserved0 == 0 && zero(p.reserved1) && zero(p.reserved2), "reserved bytes");
    info.value_type = static_cast<ValueType>(p.value_type);
    info.rows = map(p.row_map, p.row_begin, p.row_count, transpose ? h.cols : h.rows, "row map");
    info.cols = map(p.col_map, p.col_begin, p.col_count, transpose ? h.rows : h.cols, "column map");
    info.nnz = p.nnz;
    require(p.first_section == first_section && p.section_count <= h.section_count - first_section,
            "its sections do not follow those of the part before it");
    info.first_section = p.first_section;
    info.section_count = p.section_count;
    info.params = p.params;
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
    enumerator(s.element_type, 6, 6, "element type");
    if (s.element_type == 0) fail_here("element type 0");
    if (s.codec > 1) throw Error(errc::unsupported, fmt::format("codec {} is not known", s.codec), at());
    if (s.filter > 2) throw Error(errc::unsupported, fmt::format("filter {} is not known", s.filter), at());
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
    if (info.filter == format::Filter::none)
      require(s.filter_width == 0, "a filter width without a filter");
    else
      require(std::has_single_bit(s.filter_width) && s.filter_width <= 8 && s.raw_bytes % s.filter_width == 0,
              "filter width");
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
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(errc::unsupported, what, at(), "use the version that wrote the file");
  }

 private:
  /// What the writer has found goes with what the header says besides.
  void check_found(const format::Header& h) {
    if (found_symmetry(h) == Symmetry::general) return;
    constexpr std::uint64_t both = format::feature_symmetric | format::feature_skew_symmetric;
    require((h.optional_features & both) != both && h.symmetry == static_cast<std::uint8_t>(Symmetry::general),
            "more than one symmetry");
    require(
        h.rows == h.cols,
        fmt::format("{} rows and {} columns of a matrix that equals its transpose or its negative", h.rows, h.cols));
  }
  template <std::size_t N>
  static bool zero(const std::array<std::uint8_t, N>& bytes) {
    return std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t b) { return b == 0; });
  }
  /// Up to `known` is valid (from 1), up to `reserved` unsupported, anything else corrupt.
  void enumerator(unsigned value, unsigned known, unsigned reserved, const char* what) {
    if (value >= 1 && value <= known) return;
    if (value > known && value <= reserved)
      throw Error(errc::unsupported, fmt::format("{} {} is reserved for a later version", what, value), at(),
                  "use the version that wrote the file");
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
  const MemoryReservation meanwhile(h.tables_bytes + h.part_count * sizeof(format::Part) +
                                    h.section_count * (sizeof(format::Section) + name_bytes));
  c.file_bytes_ = h.file_bytes;
  c.facts_ = {h.rows,
              h.cols,
              h.nnz,
              static_cast<ValueType>(h.value_type),
              static_cast<Field>(h.field),
              static_cast<Symmetry>(h.symmetry),
              {h.digest_low, h.digest_high},
              found_symmetry(h)};

  std::vector<format::Part> parts;
  std::vector<format::Section> sections;
  opener.tables(h, parts, sections, c.blocks_);
  c.parts_.reserve(parts.size());
  c.sections_.reserve(sections.size());
  std::uint32_t first_section = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    c.parts_.push_back(opener.part(parts[i], h, c.facts_, i, first_section));
    first_section += parts[i].section_count;
    opener.require(i == 0 || c.parts_[i - 1].role <= c.parts_[i].role, "a part of A after one of its transpose");
  }
  opener.in("");
  opener.require(check_parts(c.parts(format::Role::a), h.rows, h.nnz, "A"));
  if (const auto transpose = c.parts(format::Role::transpose); !transpose.empty())
    opener.require(check_parts(transpose, h.cols, h.nnz, "A^T"));

  std::uint64_t end = format::header_bytes, first_block = 0;
  std::unordered_set<std::string> names;
  std::uint32_t part = 0;
  std::optional<SectionRules> rules;
  const auto next_part = [&](std::uint32_t to) {
    if (rules) {
      opener.in(fmt::format("part {}", part));
      opener.require(rules->missing().empty(), fmt::format("it has no section '{}'", rules->missing()));
    }
    part = to;
    names.clear();
    const PartInfo* const info = part < parts.size() ? &c.parts_[part] : nullptr;
    rules.emplace(info, info != nullptr ? find_layout(info->layout).sections : std::span<const SectionDescription>{});
  };
  next_part(0);
  for (std::size_t i = 0; i < sections.size(); ++i) {
    SectionInfo s = opener.section(sections[i], i, round_up(end, format::section_boundary), first_block, h);
    while (part < parts.size() && i >= c.parts_[part].first_section + c.parts_[part].section_count) {
      next_part(part + 1);
      opener.in(fmt::format("section '{}'", s.name));
    }
    opener.require(s.part == (part < parts.size() ? part : format::no_part), "it lies outside its part's sections");
    opener.require(names.insert(s.name).second, "its name is not unique");
    opener.blocks(s, std::span(c.blocks_).subspan(first_block, s.block_count));
    const SectionRules::Verdict verdict = rules->next(s);
    opener.require(verdict.wrong.empty(), std::string(verdict.wrong));
    if (verdict.unsupported) opener.refuse("a required section that is not known");
    s.known = verdict.known;
    if (s.known && s.part == format::no_part && s.raw_bytes > format::max_provenance_bytes)
      opener.refuse_size(
          fmt::format("{} bytes, more than the {} of a provenance", s.raw_bytes, format::max_provenance_bytes),
          "encode the matrix again, with fewer comments");
    end = s.offset + s.stored_bytes;
    first_block += s.block_count;
    c.sections_.push_back(std::move(s));
  }
  while (part < parts.size()) next_part(part + 1);
  opener.in("tables");
  opener.require(first_block == h.block_count, "blocks that belong to no section");
  opener.require(h.tables_offset == round_up(end, format::section_boundary), "their offset");

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
