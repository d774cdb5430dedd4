#pragma once

#include <string_view>

#include "kernels.hpp"

namespace spmvpack::host_loader {

/// The multiply of a layout. Error(errc::unsupported) where this build has none.
template <class T>
typename Multiply<T>::Function find_multiply(std::string_view layout);

}  // namespace spmvpack::host_loader
