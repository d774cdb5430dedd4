#include "registry.hpp"

#include <fmt/format.h>

#include <array>

#include "spmvpack/container/text.hpp"
#include "spmvpack/host_loader/host_matrix.hpp"

namespace spmvpack::host_loader {
namespace {

constexpr LayoutMultiply with_prepare(LayoutMultiply layout) {
  if (layout.name == "csr") layout.prepare = layouts::prepare_csr;
  if (layout.name == "sjds") layout.prepare = layouts::prepare_sjds;
  return layout;
}

#define SPMVPACK_PAIR(A, V, name) PairMultiply<A, V>{layouts::multiply_##name<A, V>},
#define SPMVPACK_ENTRY(name) with_prepare({#name, {SPMVPACK_TYPE_PAIRS(SPMVPACK_PAIR, name)}}),
constexpr std::array multiplies{SPMVPACK_HOST_LAYOUTS(SPMVPACK_ENTRY)};
#undef SPMVPACK_ENTRY
#undef SPMVPACK_PAIR

constexpr auto names = [] {
  std::array<std::string_view, multiplies.size()> all;
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = multiplies[i].name;
  return all;
}();

}  // namespace

const LayoutMultiply& find_multiply(std::string_view layout) {
  for (const LayoutMultiply& m : multiplies)
    if (m.name == layout) return m;
  throw Error(errc::unsupported, fmt::format("this build cannot multiply with the layout '{}'", escape(layout)));
}

std::span<const std::string_view> layout_names() noexcept { return names; }

}  // namespace spmvpack::host_loader
