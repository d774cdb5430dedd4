#pragma once
/// The layouts that this build knows.

#include <span>
#include <string_view>

#include "spmvpack/container/base/export.hpp"
#include "spmvpack/container/layouts/layout.hpp"

namespace spmvpack {

/// All layouts, simplest first.
SPMVPACK_EXPORT std::span<const Layout* const> layouts_known();
/// The layout with that name. Error(errc::unsupported), naming it, if there is none.
SPMVPACK_EXPORT const Layout& find_layout(std::string_view name);

}  // namespace spmvpack
