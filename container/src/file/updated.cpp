#include "spmvpack/container/file/updated.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>

#include "file/unpack_parts.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/container/file/share.hpp"
#include "spmvpack/container/layouts/registry.hpp"

namespace spmvpack {
namespace {

/// What the values say.
struct ValueFacts {
  bool fit_field = true;
  std::uint64_t zeros = 0;
};

ValueFacts value_facts(const CsrView& a, Field field, int threads) {
  std::atomic<bool> fit{true};
  std::atomic<std::uint64_t> zeros{0};
  dispatch(a.value_type(), [&]<class T>(T) {
    constexpr std::uint64_t piece = std::uint64_t{1} << 18;
    const T* const values = a.values<T>();
    parallel_pieces(a.nnz(), piece, threads, [&](std::uint64_t begin, std::uint64_t end) {
      zeros += static_cast<std::uint64_t>(std::count(values + begin, values + end, T{0}));
      if (!std::all_of(values + begin, values + end, [&](T v) { return fits_field(field, v); })) fit = false;
    });
  });
  return {fit, zeros};
}

/// Whether the matrix was encoded to be updatable, so that its container claims nothing that values could change.
bool claims_nothing(const ContainerFrame& frame) {
  return frame.provenance && (frame.provenance->options + ' ').find(" --updatable ") != std::string::npos;
}

MatrixFacts updated_facts(const ContainerFrame& frame, const CsrView& a, bool fit_field, int threads) {
  MatrixFacts now = frame.facts;
  now.digest = content_digest(a, threads);
  if (!fit_field) now.field = Field::real;
  if (now.symmetry != Symmetry::general && first_without_mirror(a, now.symmetry, threads) != a.nnz())
    now.symmetry = Symmetry::general;
  const bool looks = now.symmetry == Symmetry::general && !claims_nothing(frame);
  now.found = looks ? symmetry_of(a, threads) : Symmetry::general;
  if (now.share) now.share->global_digest = {};
  return now;
}

CsrMatrix matrix_of(const MatrixFacts& facts, std::span<const PartView* const> parts, int threads) {
  std::vector<const PartView*> of_a;
  for (const PartView* const part : parts)
    if (part->info().role == format::Role::a) of_a.push_back(part);
  return unpack_parts(facts, format::Role::a, of_a, "the matrix", threads);
}

std::vector<const PartView*> views_of(std::span<const LoadedPart* const> parts) {
  std::vector<const PartView*> views;
  views.reserve(parts.size());
  for (const LoadedPart* const part : parts) views.push_back(&part->view());
  return views;
}

auto copies(std::span<const std::byte> bytes) {
  return [bytes](std::uint64_t begin, std::span<std::byte> out) {
    if (!out.empty()) std::memcpy(out.data(), bytes.data() + begin, out.size());
  };
}

SectionSource section_source(const SectionInfo& info, std::span<const std::byte> bytes) {
  SectionSource section;
  section.name = info.name;
  section.element_type = info.element_type;
  section.count = info.count;
  section.flags = info.flags;
  section.alignment = info.alignment;
  section.filter_width = info.filter_width;
  section.fill = copies(bytes);
  return section;
}

/// The sections that a part has, in the order of a file.
std::vector<SectionSource> section_sources(const PartView& part) {
  std::vector<SectionSource> sections;
  const auto add = [&](const SectionDescription& d) {
    const PartView::Section* const found = part.find(d.name);
    if (found == nullptr) return;
    SectionSource& section = sections.emplace_back();
    section.name = d.name;
    section.element_type = found->type;
    section.count = found->bytes.size() / size_of(found->type);
    section.flags = d.flags;
    section.alignment = d.alignment;
    section.fill = copies(found->bytes);
  };
  add(row_map_section);
  add(col_map_section);
  for (const SectionDescription& d : find_layout(part.info().layout).sections) add(d);
  return sections;
}

std::uint64_t write(ByteSink& sink, const ContainerFrame& frame, std::span<const PartView* const> views,
                    std::vector<PartSource> parts, const WriteOptions& options) {
  ContainerSource source;
  std::optional<Provenance> provenance = frame.provenance;
  {
    const CsrMatrix a = matrix_of(frame.facts, views, options.threads);
    const ValueFacts values = value_facts(a, frame.facts.field, options.threads);
    source.facts = updated_facts(frame, a, values.fit_field, options.threads);
    if (provenance) {
      // encode() does not count those of arrays, which have no name.
      if (!provenance->source.empty() || provenance->explicit_zeros != 0) provenance->explicit_zeros = values.zeros;
      provenance->rounded = 0;
      provenance->max_relative_error = 0;
    }
  }
  source.parts = std::move(parts);
  source.file_sections = share_sections(frame.share);
  if (provenance) source.file_sections.push_back(provenance_section(*provenance));
  return write_container(sink, source, options);
}

}  // namespace

ContainerFrame ContainerFrame::of(const Container& container, const LoadOptions& options) {
  ContainerFrame frame{container.facts(), {}, read_share(container, options)};
  for (const SectionInfo& section : container.sections())
    if (section.part == format::no_part && section.name == "provenance")
      frame.provenance = container.provenance(options);
  return frame;
}

Digest pattern_digest(const MatrixFacts& facts, std::span<const LoadedPart* const> parts, int threads) {
  return pattern_digest(matrix_of(facts, views_of(parts), threads), threads);
}

std::uint64_t write_updated(ByteSink& sink, const ContainerFrame& frame, std::span<const LoadedPart* const> parts,
                            const WriteOptions& options) {
  std::vector<PartSource> sources;
  for (const LoadedPart* const part : parts) {
    PartSource& to = sources.emplace_back();
    to.info = part->info();
    for (const SectionInfo& section : part->sections())
      to.sections.push_back(section_source(section, part->view().find(section.name)->bytes));
  }
  return write(sink, frame, views_of(parts), std::move(sources), options);
}

std::vector<PartSource> part_sources(std::span<const PartView* const> parts) {
  std::vector<PartSource> sources;
  for (const PartView* const part : parts) sources.push_back({part->info(), section_sources(*part)});
  return sources;
}

std::uint64_t write_parts(ByteSink& sink, const ContainerFrame& frame, std::span<const PartView* const> parts,
                          const WriteOptions& options) {
  return write(sink, frame, parts, part_sources(parts), options);
}

}  // namespace spmvpack
