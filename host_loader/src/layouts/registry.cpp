#include "registry.hpp"

#include <fmt/format.h>

#include <array>

#include "spmvpack/container/base/text.hpp"
#include "spmvpack/host_loader/host_matrix.hpp"

namespace spmvpack::host_loader {
namespace {

#define SPMVPACK_POINTER(name) &layouts::name,
constexpr std::array multiplies{SPMVPACK_HOST_LAYOUTS(SPMVPACK_POINTER)};
#undef SPMVPACK_POINTER
#define SPMVPACK_NAME(name) std::string_view(#name),
constexpr std::array names{SPMVPACK_HOST_LAYOUTS(SPMVPACK_NAME)};
#undef SPMVPACK_NAME

}  // namespace

const LayoutMultiply& find_multiply(std::string_view layout, ValueType values) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names.at(i) == layout && multiplies.at(i)->takes(values)) return *multiplies.at(i);
  throw Error(errc::unsupported, fmt::format("this build cannot multiply with the layout '{}' and {} values",
                                             escape(layout), to_string(values)));
}

std::span<const std::string_view> layout_names() noexcept { return names; }

}  // namespace spmvpack::host_loader
