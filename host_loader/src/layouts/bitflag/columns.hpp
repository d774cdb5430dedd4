#pragma once

#include "layouts/kernels.hpp"

namespace spmvpack::host_loader::layouts {

/// bitflag's multiply of several columns.
template <class A, class V>
void multiply_bitflag_columns(const PartView& part, const LayoutState* state, const ColumnOperands<V>& operands,
                              int threads);

}  // namespace spmvpack::host_loader::layouts
