#pragma once
/// The layouts that this build knows.

#include <span>
#include <string_view>

#include "spmvpack/container/export.hpp"
#include "spmvpack/container/layouts/layout.hpp"

namespace spmvpack {

/// All layouts, the simplest first.
SPMVPACK_EXPORT std::span<const Layout* const> layouts_known();
/// Error(errc::unsupported), naming it, where the layout is not known.
SPMVPACK_EXPORT const Layout& find_layout(std::string_view name);

}  // namespace spmvpack
