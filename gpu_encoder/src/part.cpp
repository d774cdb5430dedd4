#include "part.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "spmvpack/container/base/text.hpp"
#include "spmvpack/container/layouts/csr.hpp"
#include "spmvpack/container/layouts/registry.hpp"
#include "spmvpack/encoder/encode.hpp"

namespace spmvpack::gpu_encoder {
namespace {

/// f(name, elements, bytes of one, description) for each section of the part, in the order of a file. Counts that
/// descriptions tell are set on the way.
template <class F>
void each_section(PartInfo& info, std::span<const std::string_view> missing, F&& f) {
  const auto visit = [&](const SectionDescription& d) {
    if (std::find(missing.begin(), missing.end(), d.name) != missing.end()) return;
    std::uint64_t* const known = find_count(info, d.name);
    const std::uint64_t count = d.count != nullptr ? d.count(info) : *known;
    if (known != nullptr) *known = count;
    f(d, checked_mul(count, size_of(d.type(info)), "section bytes"));
  };
  if (info.rows.kind == format::MapKind::list) visit(row_map_section);
  if (info.cols.kind == format::MapKind::list) visit(col_map_section);
  for (const SectionDescription& d : find_layout(info.layout).sections) visit(d);
}

}  // namespace

PartInfo part_info(const Layout& layout, const Csr& a) {
  PartInfo info;
  info.layout = layout.name;
  info.value_type = a.type;
  info.rows = {format::MapKind::all, 0, a.rows};
  info.cols = {format::MapKind::all, 0, a.cols};
  info.nnz = a.nnz;
  return info;
}

std::uint64_t section_bytes(const PartInfo& info, std::span<const std::string_view> missing) {
  PartInfo copy = info;
  std::uint64_t all = 0;
  each_section(copy, missing,
               [&](const SectionDescription&, std::uint64_t bytes) { all = checked_add(all, bytes, "section bytes"); });
  return all;
}

encoder::PartPlan part_plan(PartInfo info, std::span<const std::string_view> missing) {
  encoder::PartPlan plan;
  each_section(info, missing, [&](const SectionDescription& d, std::uint64_t bytes) {
    SectionShape& s = plan.sections.emplace_back();
    s.name = d.name;
    s.element_type = d.type(info);
    s.count = bytes / size_of(s.element_type);
    s.flags = d.flags;
    s.alignment = d.alignment;
  });
  plan.info = std::move(info);
  return plan;
}

void check_growth(const PartInfo& info, const PartOptions& options, std::span<const std::string_view> missing) {
  PartInfo copy = info;
  std::uint64_t bytes = 0;
  each_section(copy, missing, [&](const SectionDescription& d, std::uint64_t more) {
    if (d.device()) bytes = checked_add(bytes, more, "device bytes");
  });
  const std::uint64_t csr_bytes = layouts::csr::device_bytes(info.rows.count, info.nnz, info.value_type);
  if (!options.force_size && encoder::too_large(bytes, csr_bytes))
    throw Error(errc::unsupported,
                fmt::format("{} takes {} bytes, {} times the {} of csr", info.layout, grouped(bytes),
                            grouped(bytes / csr_bytes), grouped(csr_bytes)),
                {}, "choose another layout, or allow it with force_size");
}

PartMaker::PartMaker(Memory& memory, PartInfo info, const PartOptions& options, std::vector<std::string_view> missing) {
  check_growth(info, options, missing);
  memory.require(section_bytes(info, missing));
  part_.info = std::move(info);
  each_section(part_.info, missing, [&](const SectionDescription& d, std::uint64_t bytes) {
    part_.sections.push_back({d.name, bytes, memory.get(bytes, Memory::Use::kept)});
  });
}

void* PartMaker::memory_of(std::string_view name, std::size_t element) {
  const auto found = std::find_if(part_.sections.begin(), part_.sections.end(),
                                  [&](const EncodedSection& s) { return s.name == name; });
  if (found == part_.sections.end() || found->bytes % element != 0)
    throw Error(errc::internal, fmt::format("no section '{}' of such elements in layout {}", name, part_.info.layout));
  return found->memory.get();
}

}  // namespace spmvpack::gpu_encoder
