#include "spmvpack/container/file/writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <thread>

#include "file/checksum.hpp"
#include "file/codec.hpp"
#include "file/part_rules.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/container/file/share.hpp"
#include "spmvpack/container/layouts/registry.hpp"

namespace spmvpack {
namespace {

using format::Codec;
using format::Filter;

/// Blocks in memory at a time: enough to keep threads busy, small compared with any large matrix.
constexpr std::uint64_t blocks_per_batch = 32;

/// How much has been written, and the callback that reports it.
class Progress {
 public:
  Progress(const ProgressCallback& callback, std::uint64_t total) : callback_(callback), total_(total) {}

  void add(std::uint64_t bytes) { done_ += bytes; }
  void report() const { report_progress(callback_, "write", done_, total_); }

  /// parallel_for over blocks. The calling thread reports before each of its own blocks, as a slow codec may take a
  /// second for one. If the callback cancels, the loop throws, and no thread begins another block.
  template <class F>
  void for_blocks(std::uint64_t n, int threads, F&& f) const {
    const std::thread::id caller = std::this_thread::get_id();
    parallel_for(n, threads, [&](std::uint64_t i) {
      if (std::this_thread::get_id() == caller) report();
      f(i);
    });
  }

 private:
  const ProgressCallback& callback_;
  std::uint64_t total_;
  std::atomic<std::uint64_t> done_{0};
};

struct Encoding {
  Filter filter = Filter::none;
  std::size_t width = 0;
};

/// Encodes one block of a section from `raw` to `stored`; `filtered` is scratch.
struct BlockEncoder {
  std::vector<std::byte> raw, filtered, stored;

  void load(const SectionSource& section, std::uint64_t block) {
    const std::uint64_t begin = block * format::block_bytes;
    raw.resize(std::min(format::block_bytes, section.raw_bytes() - begin));
    section.fill(begin, raw);
  }
  void encode(Codec codec, int level, const Encoding& encoding) {
    if (codec == Codec::none) {
      std::swap(raw, stored);
      return;
    }
    if (encoding.filter != Filter::none) {
      filtered.resize(raw.size());
      apply_filter(encoding.filter, encoding.width, raw, filtered);
    }
    zstd_compress(encoding.filter == Filter::none ? raw : filtered, level, stored);
  }
};

std::size_t filter_width(const SectionSource& section) {
  return section.filter_width != 0 ? section.filter_width : format::size_of(section.element_type);
}

/// The filter that makes a sample of the section's blocks smallest; ties go to the first.
Encoding choose_filter(const SectionSource& section, const WriteOptions& options, const Progress& progress) {
  const std::uint64_t blocks = div_up(section.raw_bytes(), format::block_bytes);
  if (options.codec == Codec::none || blocks == 0) return {};
  const std::size_t width = filter_width(section);
  if (section.raw_bytes() % width != 0) return {};
  const std::array<Encoding, 3> candidates{Encoding{}, Encoding{Filter::shuffle, width},
                                           Encoding{Filter::delta, width}};
  std::array<std::uint64_t, 4> sample{0, blocks / 4, blocks / 2, blocks - 1};
  const auto samples = static_cast<std::uint64_t>(std::unique(sample.begin(), sample.end()) - sample.begin());
  std::vector<std::uint64_t> bytes(samples * candidates.size());
  progress.for_blocks(bytes.size(), options.threads, [&](std::uint64_t i) {
    BlockEncoder block;
    block.load(section, sample[i / candidates.size()]);
    block.encode(options.codec, options.level, candidates[i % candidates.size()]);
    bytes[i] = block.stored.size();
  });
  Encoding best;
  std::uint64_t best_bytes = 0;
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    std::uint64_t total = 0;
    for (std::uint64_t s = 0; s < samples; ++s) total += bytes[s * candidates.size() + c];
    if (c == 0 || total < best_bytes) {
      best = candidates[c];
      best_bytes = total;
    }
  }
  return best;
}

/// The section's directory entry, as far as it is known before its blocks are written.
format::Section directory_entry(const SectionSource& section, std::uint32_t part) {
  format::Section entry{};
  entry.name = format::make_name(section.name);
  entry.part = part;
  entry.element_type = static_cast<std::uint8_t>(section.element_type);
  entry.flags = section.flags;
  entry.alignment = section.alignment;
  entry.count = section.count;
  entry.raw_bytes = section.raw_bytes();
  entry.block_count = div_up(entry.raw_bytes, format::block_bytes);
  return entry;
}

/// The part's parameters as the table has them: those that are not 0, in the order of the layout.
/// Error(errc::usage) if one has no name.
std::vector<format::Parameter> parameter_entries(const PartInfo& part) {
  std::vector<format::Parameter> entries;
  for (std::size_t i = 0; i < part.params.size(); ++i) {
    if (part.params[i] == 0) continue;
    const std::span<const std::string_view> names = find_layout(part.layout).parameters;
    if (i >= names.size())
      throw Error(errc::usage, fmt::format("parameter {} is {}, expected 0: layout {} has {} parameters", i,
                                           part.params[i], part.layout, names.size()));
    entries.push_back({format::make_name(names[i]), part.params[i]});
  }
  return entries;
}

/// All sections in file order, each with the index of its part.
std::vector<std::pair<const SectionSource*, std::uint32_t>> sections_in_order(const ContainerSource& source) {
  std::vector<std::pair<const SectionSource*, std::uint32_t>> all;
  for (std::uint32_t p = 0; p < source.parts.size(); ++p)
    for (const SectionSource& s : source.parts[p].sections) all.emplace_back(&s, p);
  for (const SectionSource& s : source.file_sections) all.emplace_back(&s, format::no_part);
  return all;
}

template <class T>
void append(std::vector<std::byte>& bytes, const std::vector<T>& entries) {
  const auto view = std::as_bytes(std::span(entries));
  bytes.insert(bytes.end(), view.begin(), view.end());
}

/// What is behind the sections of a file.
struct FileTables {
  std::vector<format::Part> parts;
  std::vector<format::Parameter> parameters;
  std::vector<format::Section> sections;
  std::vector<format::Block> blocks;

  /// The next part, whose sections are the next ones.
  void add(const PartSource& source) {
    const PartInfo& info = source.info;
    const std::vector<format::Parameter> own = parameter_entries(info);
    format::Part part{};
    part.layout = format::make_name(info.layout);
    part.value_type = static_cast<std::uint8_t>(info.value_type);
    part.role = static_cast<std::uint8_t>(info.role);
    part.row_map = static_cast<std::uint8_t>(info.rows.kind);
    part.col_map = static_cast<std::uint8_t>(info.cols.kind);
    part.row_begin = info.rows.begin;
    part.row_count = info.rows.count;
    part.col_begin = info.cols.begin;
    part.col_count = info.cols.count;
    part.nnz = info.nnz;
    part.first_section = parts.empty() ? 0 : parts.back().first_section + parts.back().section_count;
    part.section_count = static_cast<std::uint32_t>(source.sections.size());
    part.first_parameter = static_cast<std::uint32_t>(parameters.size());
    part.parameter_count = static_cast<std::uint32_t>(own.size());
    parts.push_back(part);
    parameters.insert(parameters.end(), own.begin(), own.end());
  }

  [[nodiscard]] std::vector<std::byte> bytes() const {
    std::vector<std::byte> all;
    append(all, parts);
    append(all, parameters);
    append(all, sections);
    append(all, blocks);
    return all;
  }
};

/// The header, as far as the matrix says it.
format::Header header_of(const MatrixFacts& facts) {
  format::Header header{};
  header.magic = format::magic;
  header.version_major = format::version_major;
  header.version_minor = format::version_minor;
  header.header_bytes = format::header_bytes;
  if (facts.symmetry == Symmetry::general && facts.found != Symmetry::general)
    header.optional_features = facts.found == Symmetry::symmetric   ? format::feature_symmetric
                               : facts.found == Symmetry::hermitian ? format::feature_hermitian
                                                                    : format::feature_skew_symmetric;
  header.rows = facts.rows;
  header.cols = facts.cols;
  header.nnz = facts.nnz;
  header.value_type = static_cast<std::uint8_t>(facts.value_type);
  header.field = static_cast<std::uint8_t>(facts.field);
  header.symmetry = static_cast<std::uint8_t>(facts.symmetry);
  header.digest_algorithm = static_cast<std::uint8_t>(format::DigestAlgorithm::xxh3_128);
  header.digest_low = facts.digest.low;
  header.digest_high = facts.digest.high;
  if (const auto& share = facts.share) {
    header.global_rows = share->global_rows;
    header.global_cols = share->global_cols;
    header.first_row = share->first_row;
    header.rank = share->rank;
    header.ranks = share->ranks;
    header.first_col = share->first_col;
    header.own_cols = share->own_cols;
    header.global_nnz = share->global_nnz;
    header.partition = share->partition;
    header.global_digest_low = share->global_digest.low;
    header.global_digest_high = share->global_digest.high;
  }
  return header;
}

/// A file, from its first byte to its last.
class Output {
 public:
  explicit Output(ByteSink& sink) : sink_(sink) {}

  [[nodiscard]] std::uint64_t position() const { return position_; }
  void write(std::span<const std::byte> bytes) {
    sink_.write(bytes);
    position_ += bytes.size();
  }
  void write_zeros(std::uint64_t count) { write(std::vector<std::byte>(count)); }
  void align() { write_zeros(round_up(position_, format::section_boundary) - position_); }

 private:
  ByteSink& sink_;
  std::uint64_t position_ = 0;
};

/// What every reader refuses.
void require_valid(const ContainerSource& source) {
  const MatrixFacts& facts = source.facts;
  if (facts.bitwise_symmetry() != Symmetry::general && facts.rows != facts.cols)
    throw Error(errc::bad_input,
                fmt::format("a {} matrix of {} rows and {} columns, expected a square one",
                            to_string(facts.bitwise_symmetry()), facts.rows, facts.cols),
                {}, "declare it general");
  if ((facts.field == Field::complex) != holds_complex(facts.value_type))
    throw Error(errc::bad_input,
                fmt::format("a {} matrix of {} values", to_string(facts.field), to_string(facts.value_type)), {},
                "declare the field complex if values are, and only then");
  if (facts.bitwise_symmetry() == Symmetry::hermitian && facts.field != Field::complex)
    throw Error(errc::bad_input, fmt::format("a hermitian matrix of {} values", to_string(facts.value_type)), {},
                "declare it symmetric");
  std::vector<PartInfo> parts;
  for (const PartSource& part : source.parts) {
    parts.push_back(part.info);
    static_cast<void>(parameter_entries(part.info));  // refuses those without a name
  }
  const auto require = [](const PartsVerdict& verdict) {
    if (!verdict.wrong.empty())
      throw Error(verdict.too_large ? errc::too_large : errc::usage, verdict.wrong, {}, remedy_parts);
  };
  if (facts.share)
    if (const std::string wrong = check_share(*facts.share, facts.rows, facts.cols, facts.nnz); !wrong.empty())
      throw Error(errc::usage, wrong);
  require(check_part_count(parts.size()));
  require(check_parts(parts_of(parts, format::Role::a), facts.rows, facts.nnz, "A"));
  if (const auto transpose = parts_of(parts, format::Role::transpose); !transpose.empty())
    require(check_parts(transpose, facts.cols, facts.nnz, "A^T"));
}

/// Writes a section at the end of `file`, and its entry and those of its blocks at the end of their tables.
void write_section(Output& file, const SectionSource& source, std::uint32_t part, FileTables& tables,
                   const WriteOptions& options, Progress& progress) {
  const Encoding encoding = choose_filter(source, options, progress);
  std::vector<format::Block>& blocks = tables.blocks;
  format::Section& entry = tables.sections.emplace_back(directory_entry(source, part));
  entry.offset = file.position();
  entry.codec = static_cast<std::uint8_t>(options.codec);
  entry.filter = static_cast<std::uint8_t>(encoding.filter);
  entry.filter_width = static_cast<std::uint8_t>(encoding.width);
  entry.first_block = blocks.size();
  blocks.resize(entry.first_block + entry.block_count);
  std::vector<BlockEncoder> batch(std::min(blocks_per_batch, entry.block_count));
  for (std::uint64_t first = 0; first < entry.block_count; first += blocks_per_batch) {
    const std::uint64_t count = std::min(blocks_per_batch, entry.block_count - first);
    progress.for_blocks(count, options.threads, [&](std::uint64_t i) {
      batch[i].load(source, first + i);
      const std::uint64_t raw_bytes = batch[i].raw.size();
      batch[i].encode(options.codec, options.level, encoding);
      format::Block& block = blocks[entry.first_block + first + i];
      block.checksum = xxh3_64(batch[i].stored);
      block.stored_bytes = static_cast<std::uint32_t>(batch[i].stored.size());
      progress.add(raw_bytes);
    });
    for (std::uint64_t i = 0; i < count; ++i) {
      file.write(batch[i].stored);
      entry.stored_bytes += batch[i].stored.size();
    }
    progress.report();
  }
}

}  // namespace

SectionSource provenance_section(const Provenance& provenance) {
  auto text = std::make_shared<const std::string>(to_text(provenance));
  if (text->size() > format::max_provenance_bytes)
    throw Error(errc::too_large,
                fmt::format("a provenance of {} bytes, more than {}", text->size(), format::max_provenance_bytes), {},
                "leave out comments");
  SectionSource section;
  section.name = "provenance";
  section.count = text->size();
  section.flags = 0;
  section.fill = [text](std::uint64_t begin, std::span<std::byte> out) {
    std::memcpy(out.data(), text->data() + begin, out.size());
  };
  return section;
}

std::vector<SectionSource> share_sections(const std::shared_ptr<const Share>& share) {
  std::vector<SectionSource> sections;
  const auto add = [&](std::string_view name, const Array<std::uint32_t>& list) {
    SectionSource section;
    section.name = name;
    section.element_type = format::ElementType::u32;
    section.count = list.size();
    section.flags = 0;
    section.alignment = 4;
    section.fill = [share, from = reinterpret_cast<const std::byte*>(list.data())](std::uint64_t begin,
                                                                                   std::span<std::byte> out) {
      std::memcpy(out.data(), from + begin, out.size());
    };
    sections.push_back(std::move(section));
  };
  if (!share) return sections;
  add(format::ghosts_section, share->ghosts);
  if (!share->original_rows.empty()) add(format::original_rows_section, share->original_rows);
  return sections;
}

std::uint64_t file_bytes_uncompressed(const ContainerSource& source) {
  std::uint64_t end = format::header_bytes, blocks = 0, sections = 0, parameters = 0;
  for (const auto& [section, part] : sections_in_order(source)) {
    const std::uint64_t raw = section->raw_bytes();
    end = checked_add(round_up(end, format::section_boundary), raw, "file length");
    blocks += div_up(raw, format::block_bytes);
    ++sections;
  }
  for (const PartSource& part : source.parts) parameters += parameter_entries(part.info).size();
  return round_up(end, format::section_boundary) + source.parts.size() * sizeof(format::Part) +
         parameters * sizeof(format::Parameter) + sections * sizeof(format::Section) + blocks * sizeof(format::Block);
}

std::uint64_t write_container(const std::string& path, const ContainerSource& source, const WriteOptions& options) {
  OutputFile file(path, options.overwrite);
  const std::uint64_t bytes = write_container(file, source, options);
  file.commit();
  return bytes;
}

std::uint64_t write_container(ByteSink& sink, const ContainerSource& source, const WriteOptions& options) {
  require_valid(source);
  if (options.codec == Codec::none) sink.expect(file_bytes_uncompressed(source));
  const auto sections = sections_in_order(source);
  std::uint64_t total = 0;
  for (const auto& [section, part] : sections) total += section->raw_bytes();
  Progress progress(options.progress, total);

  Output file(sink);
  file.write_zeros(format::header_bytes);
  FileTables tables;
  for (const auto& [section, part] : sections) {
    file.align();
    write_section(file, *section, part, tables, options, progress);
  }
  for (const PartSource& part : source.parts) tables.add(part);
  file.align();

  format::Header header = header_of(source.facts);
  const std::vector<std::byte> bytes = tables.bytes();
  header.tables_offset = file.position();
  header.tables_bytes = bytes.size();
  header.tables_checksum = xxh3_64(bytes);
  header.part_count = static_cast<std::uint32_t>(tables.parts.size());
  header.parameter_count = static_cast<std::uint32_t>(tables.parameters.size());
  header.section_count = static_cast<std::uint32_t>(tables.sections.size());
  header.block_count = tables.blocks.size();
  file.write(bytes);
  header.file_bytes = file.position();
  const auto header_bytes = std::as_bytes(std::span(&header, 1));
  header.header_checksum = xxh3_64(header_bytes.first(offsetof(format::Header, header_checksum)));
  sink.write_at(0, header_bytes);
  return header.file_bytes;
}

}  // namespace spmvpack
