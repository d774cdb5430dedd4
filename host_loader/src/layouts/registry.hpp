#pragma once

#include <string_view>

#include "kernels.hpp"

namespace spmvpack::host_loader {

/// Error(errc::unsupported) if this build cannot multiply with the layout and values of this type.
const LayoutMultiply& find_multiply(std::string_view layout, ValueType values);

}  // namespace spmvpack::host_loader
