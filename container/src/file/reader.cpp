#include "spmvpack/container/file/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "file/checksum.hpp"
#include "file/codec.hpp"
#include "spmvpack/container/base/memory.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/container/layouts/registry.hpp"

namespace spmvpack {
namespace {

using format::MapKind;

/// The first element of a list that came before, or its size. Time and memory are those of the list, however large the
/// indices are: a file may say that a matrix has 2^32 rows and list three of them.
std::size_t first_repeated(std::span<const std::uint32_t> list, std::uint64_t size) {
  if (size <= 32 * list.size()) {  // a bit for each index takes no more than the list
    CountedVector<std::uint64_t> seen(div_up(size, 64));
    for (std::size_t place = 0; place < list.size(); ++place) {
      const std::uint64_t bit = std::uint64_t{1} << list[place] % 64;
      if ((seen[list[place] / 64] & bit) != 0) return place;
      seen[list[place] / 64] |= bit;
    }
    return list.size();
  }
  CountedVector<std::uint64_t> sorted(list.size());  // index, place; places are fewer than 2^32, as rows are
  for (std::size_t place = 0; place < list.size(); ++place) sorted[place] = std::uint64_t{list[place]} << 32U | place;
  std::sort(sorted.begin(), sorted.end());
  std::size_t first = list.size();
  for (std::size_t i = 1; i < sorted.size(); ++i)
    if (sorted[i] >> 32U == sorted[i - 1] >> 32U)
      first = std::min<std::size_t>(first, static_cast<std::uint32_t>(sorted[i]));
  return first;
}

/// A list names every index at most once, in any order.
void check_map(const PartView& part, const IndexMap& map, std::string_view name, std::uint64_t size) {
  if (map.kind != MapKind::list) return;
  const auto list = part.get<std::uint32_t>(name);
  for (std::size_t place = 0; place < list.size(); ++place)
    part.require(list[place] < size, name,
                 [&] { return fmt::format("element {} is {}, not below {}", place, list[place], size); });
  const std::size_t repeated = first_repeated(list, size);
  part.require(repeated == list.size(), name,
               [&] { return fmt::format("element {} is {}, which came before", repeated, list[repeated]); });
}

}  // namespace

LoadedPart::LoadedPart(PartInfo info, std::vector<SectionInfo> sections, std::vector<SectionBytes> bytes,
                       std::string where, std::shared_ptr<const ByteSource> container)
    : counted_(sizeof(PartInfo) + where.size() +
               sections.size() * (sizeof(SectionInfo) + sizeof(SectionBytes) + sizeof(PartView::Section))),
      info_(std::make_unique<PartInfo>(std::move(info))),
      sections_(std::make_unique<std::vector<SectionInfo>>(std::move(sections))),
      bytes_(std::move(bytes)),
      container_(std::move(container)),
      view_(
          *info_,
          [&] {
            std::vector<PartView::Section> views;
            for (std::size_t i = 0; i < bytes_.size(); ++i)
              views.push_back({(*sections_)[i].name, (*sections_)[i].element_type, bytes_[i].raw});
            return views;
          }(),
          std::move(where)) {}

layouts::SectionBytes<std::byte> LoadedPart::writable_bytes() {
  layouts::SectionBytes<std::byte> writable;
  const std::span<const SectionDescription> known = find_layout(info_->layout).sections;
  for (std::size_t i = 0; i < bytes_.size(); ++i) {
    if (bytes_[i].own.size() != bytes_[i].raw.size())
      throw Error(errc::usage, "the part's bytes are those of a container in memory", view_.where(),
                  "load it with LoadOptions::updatable");
    for (std::size_t place = 0; place < known.size(); ++place)
      if (known[place].name == (*sections_)[i].name) writable.begin[place] = bytes_[i].own.data();
  }
  return writable;
}

std::uint64_t Container::device_bytes(format::Role role) const noexcept {
  std::uint64_t bytes = 0;
  for (const SectionInfo& s : sections_)
    if ((s.flags & format::section_device) != 0 && s.part != format::no_part && parts_[s.part].role == role)
      bytes += s.raw_bytes;
  return bytes;
}

void Container::fail_block(const SectionInfo& section, std::uint64_t block, const char* what) const {
  throw Error(
      errc::corrupt, fmt::format("block {}: {}", block, what),
      fmt::format("{}: section '{}', byte {}", name_, section.name, block_offsets_[section.first_block + block]),
      remedy_damaged);
}

void Container::read_stored(const SectionInfo& section, std::uint64_t block, std::vector<std::byte>& stored) const {
  const format::Block& entry = blocks_[section.first_block + block];
  stored.resize(entry.stored_bytes);
  bytes_->read(block_offsets_[section.first_block + block], stored);
  if (xxh3_64(stored) != entry.checksum) fail_block(section, block, "the checksum is wrong");
}

void Container::read_block(const SectionInfo& section, std::uint64_t block, std::span<std::byte> raw, bool verify,
                           Scratch& scratch) const {
  const format::Block& entry = blocks_[section.first_block + block];
  const std::uint64_t offset = block_offsets_[section.first_block + block];
  if (section.codec == format::Codec::none) {
    bytes_->read(offset, raw);
    if (verify && xxh3_64(raw) != entry.checksum) fail_block(section, block, "the checksum is wrong");
    return;
  }
  if (verify) {
    read_stored(section, block, scratch.stored);
  } else {
    scratch.stored.resize(entry.stored_bytes);
    bytes_->read(offset, scratch.stored);
  }
  const bool filtered = section.filter != format::Filter::none;
  if (filtered) scratch.inflated.resize(raw.size());
  const std::span<std::byte> inflated = filtered ? std::span(scratch.inflated) : raw;
  if (!zstd_decompress(scratch.stored, inflated)) fail_block(section, block, "it does not inflate to its raw bytes");
  if (filtered) undo_filter(section.filter, section.filter_width, inflated, raw);
}

void Container::read_block(std::size_t index, std::uint64_t block, std::span<std::byte> raw, bool verify) const {
  const SectionInfo& s = sections_.at(index);
  const std::uint64_t begin = block * format::block_bytes;
  if (block >= s.block_count || raw.size() != std::min(format::block_bytes, s.raw_bytes - begin))
    throw Error(errc::usage, fmt::format("{} bytes for block {} of {}", raw.size(), block, s.block_count),
                fmt::format("{}: section '{}'", name_, s.name));
  thread_local Scratch scratch;
  read_block(s, block, raw, verify, scratch);
}

Array<std::byte> Container::read_section(std::size_t index, const LoadOptions& options) const {
  const SectionInfo& s = sections_.at(index);
  const MemoryScope memory(options.memory_limit, fmt::format("{}: section '{}'", name_, s.name));
  Array<std::byte> bytes(s.raw_bytes);
  constexpr std::uint64_t blocks_per_report = 256;
  for (std::uint64_t first = 0; first < s.block_count; first += blocks_per_report) {
    const std::uint64_t count = std::min(blocks_per_report, s.block_count - first);
    parallel_for(count, options.threads, [&](std::uint64_t i) {
      thread_local Scratch scratch;
      const std::uint64_t begin = (first + i) * format::block_bytes;
      const std::uint64_t size = std::min(format::block_bytes, s.raw_bytes - begin);
      read_block(s, first + i, {bytes.data() + begin, size}, options.verify_checksums, scratch);
    });
    report_progress(options.progress, "load", std::min((first + count) * format::block_bytes, s.raw_bytes),
                    s.raw_bytes);
  }
  return bytes;
}

void Container::check_blocks(const LoadOptions& options) const {
  std::uint64_t done = 0, total = 0;
  for (const SectionInfo& s : sections_) total += s.stored_bytes;
  for (const SectionInfo& s : sections_) {
    constexpr std::uint64_t blocks_per_report = 256;
    for (std::uint64_t first = 0; first < s.block_count; first += blocks_per_report) {
      const std::uint64_t count = std::min(blocks_per_report, s.block_count - first);
      parallel_for(count, options.threads, [&](std::uint64_t i) {
        thread_local std::vector<std::byte> stored;
        read_stored(s, first + i, stored);
      });
      for (std::uint64_t i = 0; i < count; ++i) done += blocks_[s.first_block + first + i].stored_bytes;
      report_progress(options.progress, "check", done, total);
    }
  }
}

void Container::verify_in_memory(const SectionInfo& section, std::span<const std::byte> raw,
                                 const LoadOptions& options) const {
  parallel_for(section.block_count, options.threads, [&](std::uint64_t block) {
    const std::uint64_t begin = block * format::block_bytes;
    const auto bytes = raw.subspan(begin, std::min(format::block_bytes, raw.size() - begin));
    if (xxh3_64(bytes) != blocks_[section.first_block + block].checksum)
      fail_block(section, block, "the checksum is wrong");
  });
  report_progress(options.progress, "load", section.raw_bytes, section.raw_bytes);
}

LoadedPart::SectionBytes Container::load_section(std::size_t index, const LoadOptions& options) const {
  const SectionInfo& s = sections_[index];
  const std::span<const std::byte> all = bytes_->in_memory();
  if (!all.empty() && s.codec == format::Codec::none && !options.updatable) {
    const auto raw = all.subspan(s.offset, s.raw_bytes);
    constexpr std::uintptr_t as_arrays_are = 64;
    if (reinterpret_cast<std::uintptr_t>(raw.data()) % as_arrays_are == 0) {
      if (options.verify_checksums) verify_in_memory(s, raw, options);
      return {{}, raw};
    }
  }
  LoadedPart::SectionBytes loaded{read_section(index, options), {}};
  loaded.raw = loaded.own;
  return loaded;
}

void Container::copy_to(ByteSink& sink, const LoadOptions& options) const {
  if (options.verify_checksums) check_blocks(options);
  sink.expect(file_bytes_);
  std::vector<std::byte> buffer;
  constexpr std::uint64_t piece = std::uint64_t{1} << 22;
  for (std::uint64_t done = 0; done < file_bytes_;) {
    report_progress(options.progress, "write", done, file_bytes_);
    buffer.resize(std::min(piece, file_bytes_ - done));
    bytes_->read(done, buffer);
    sink.write(buffer);
    done += buffer.size();
  }
}

LoadedPart Container::load_part(std::size_t index, const LoadOptions& options) const {
  const PartInfo& part = parts_.at(index);
  std::vector<SectionInfo> infos;
  std::vector<LoadedPart::SectionBytes> bytes;
  const std::uint32_t end = part.first_section + part.section_count;
  const MemoryScope memory(options.memory_limit, fmt::format("{}: part {}", name_, index));
  for (std::uint32_t i = part.first_section; i < end; ++i) {
    if (!sections_[i].known) continue;
    infos.push_back(sections_[i]);
    bytes.push_back(load_section(i, options));
  }
  LoadedPart loaded(part, std::move(infos), std::move(bytes), fmt::format("{}: part {}", name_, index), bytes_);
  if (options.check_structure) {
    const bool transpose = part.role == format::Role::transpose;
    check_map(loaded.view(), part.rows, row_map_section.name, transpose ? facts_.cols : facts_.rows);
    check_map(loaded.view(), part.cols, col_map_section.name, transpose ? facts_.rows : facts_.cols);
    find_layout(part.layout).check(loaded.view(), options.threads);
  }
  return loaded;
}

Provenance Container::provenance(const LoadOptions& options) const {
  for (std::size_t i = 0; i < sections_.size(); ++i)
    if (sections_[i].part == format::no_part && sections_[i].name == "provenance") {
      const Array<std::byte> bytes = read_section(i, options);
      try {
        return parse_provenance({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
      } catch (const Error& e) {
        throw Error(e.code(), e.message(), fmt::format("{}: {}", name_, e.where()), remedy_damaged);
      }
    }
  return {};
}

}  // namespace spmvpack
