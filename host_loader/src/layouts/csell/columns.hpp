#pragma once

#include "layouts/kernels.hpp"

namespace spmvpack::host_loader::layouts {

/// csell's multiply of several columns.
template <class A, class V>
void multiply_csell_columns(const PartView& part, const LayoutState* state, const ColumnOperands<V>& operands,
                            int threads);

}  // namespace spmvpack::host_loader::layouts
