#include "spmvpack/container/layouts/ell.hpp"

#include "padded_rows.hpp"

namespace spmvpack::host_loader::layouts {

template <class A, class V>
void multiply_ell(const PartView& part, const LayoutState* /*state*/, const Operands<V>& operands, int threads) {
  padded_rows::multiply<A>(part, spmvpack::layouts::ell::geometry(part), operands, threads);
}
SPMVPACK_INSTANTIATE(multiply_ell)

// Rows are added up side by side until all have ended; their lengths would save nothing.
template <class A, class V>
void multiply_ellpack_r(const PartView& part, const LayoutState* state, const Operands<V>& operands, int threads) {
  multiply_ell<A>(part, state, operands, threads);
}
SPMVPACK_INSTANTIATE(multiply_ellpack_r)

}  // namespace spmvpack::host_loader::layouts
