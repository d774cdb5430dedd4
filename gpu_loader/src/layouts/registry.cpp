#include "layouts/registry.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "spmvpack/container/base/text.hpp"

namespace spmvpack::gpu_loader {
namespace {

#define SPMVPACK_POINTER(name) &tables::name,
constexpr std::array all{SPMVPACK_GPU_LAYOUTS(SPMVPACK_POINTER)};
#undef SPMVPACK_POINTER

constexpr std::uint32_t layout_shift = 8;  // an id is 1 + (layout << 8 | kernel): 0 is the default

}  // namespace

std::span<const KernelTable* const> kernel_tables() { return all; }

std::size_t find_layout(std::string_view layout) {
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i]->layout == layout) return i;
  throw Error(errc::unsupported,
              fmt::format("this build cannot multiply with the layout '{}' on a GPU", escape(layout)));
}

KernelId id_of(KernelPlace place) {
  return {static_cast<std::uint32_t>(place.layout << layout_shift | place.kernel) + 1};
}

KernelPlace place_of(KernelId kernel) {
  const std::uint32_t value = kernel.value - 1;
  const KernelPlace place{value >> layout_shift, value & ((1U << layout_shift) - 1)};
  if (kernel.is_default() || place.layout >= all.size() || place.kernel >= all[place.layout]->kernels.size())
    throw Error(errc::usage, fmt::format("no kernel has the id {}", kernel.value), {}, "get it from find_kernel()");
  return place;
}

std::size_t default_place(const KernelTable& table, const PartInfo& part) {
  return table.default_kernel != nullptr ? table.default_kernel(part) : 0;
}

std::uint64_t gathered_bytes(const PartInfo& part, ValueType vectors) {
  return part.cols.kind == format::MapKind::list
             ? round_up(part.cols.count * size_of(vectors), format::section_boundary)
             : 0;
}

std::uint64_t workspace_bytes(const KernelTable& table, const PartInfo& part, std::size_t kernel, ValueType vectors,
                              std::uint64_t columns, Basis basis) {
  if (columns == 0) return 0;
  const std::uint64_t at_once = std::min(columns, table.kernels[kernel].columns.most);
  const std::uint64_t gathered =
      basis == Basis::permuted ? 0 : checked_mul(gathered_bytes(part, vectors), at_once, "workspace bytes");
  return checked_add(gathered, table.workspace_bytes(part, kernel, vectors, at_once), "workspace bytes");
}

std::uint64_t row_major_columns(const KernelTable& table, const PartInfo& part, std::size_t kernel) {
  return table.row_major_columns == nullptr ? 0 : table.row_major_columns(part, kernel);
}

std::uint64_t packed_stride(std::uint64_t columns, ValueType vectors) {
  return round_up(columns, 16 / size_of(vectors));
}

std::uint64_t row_major_block(std::uint64_t columns, std::uint64_t most, ValueType vectors) {
  const std::uint64_t blocks = div_up(columns, most);
  return packed_stride(div_up(columns, blocks), vectors);
}

std::uint64_t row_major_room(std::uint64_t columns, std::uint64_t most, ValueType vectors) {
  return packed_stride(std::min(columns, most), vectors);
}

std::uint64_t gathered_rows_bytes(const PartInfo& part, ValueType vectors, std::uint64_t columns) {
  if (part.cols.kind != format::MapKind::list) return 0;
  return round_up(checked_mul(part.cols.count, packed_stride(columns, vectors) * size_of(vectors), "workspace bytes"),
                  format::section_boundary);
}

std::uint64_t row_major_workspace_bytes(const KernelTable& table, const PartInfo& part, std::size_t kernel,
                                        ValueType vectors, std::uint64_t columns) {
  return checked_add(gathered_rows_bytes(part, vectors, columns), table.workspace_bytes(part, kernel, vectors, columns),
                     "workspace bytes");
}

std::span<const KernelInfo> kernels(std::string_view layout) noexcept {
  const auto* const found =
      std::find_if(all.begin(), all.end(), [&](const KernelTable* table) { return table->layout == layout; });
  return found != all.end() ? (*found)->kernels : std::span<const KernelInfo>{};
}

KernelId find_kernel(std::string_view name) {
  std::string known;
  for (std::size_t layout = 0; layout < all.size(); ++layout)
    for (std::size_t kernel = 0; kernel < all[layout]->kernels.size(); ++kernel) {
      const std::string_view its_name = all[layout]->kernels[kernel].name;
      if (its_name == name) return id_of({layout, kernel});
      known += fmt::format("{}{}", known.empty() ? "" : ", ", its_name);
    }
  throw Error(errc::usage, fmt::format("no kernel is named '{}'", escape(name)), {},
              fmt::format("use one of {}", known));
}

std::string_view kernel_name(KernelId kernel) {
  if (kernel.is_default()) return "default";
  const KernelPlace place = place_of(kernel);
  return all[place.layout]->kernels[place.kernel].name;
}

KernelId default_kernel(const PartInfo& part) {
  const std::size_t layout = find_layout(part.layout);
  return id_of({layout, default_place(*all[layout], part)});
}

std::uint64_t workspace_bytes(const PartInfo& part, KernelId kernel, ValueType vectors, std::uint64_t columns) {
  const std::size_t layout = find_layout(part.layout);
  KernelPlace place{layout, default_place(*all[layout], part)};
  if (!kernel.is_default())
    if (const KernelPlace asked = place_of(kernel); asked.layout == layout) place = asked;
  const KernelTable& table = *all[layout];
  if (const std::uint64_t most = row_major_columns(table, part, place.kernel); columns >= 2 && most >= 2)
    return row_major_workspace_bytes(table, part, place.kernel, vectors, row_major_room(columns, most, vectors));
  return workspace_bytes(table, part, place.kernel, vectors, columns);
}

}  // namespace spmvpack::gpu_loader
