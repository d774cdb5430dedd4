#include "spmvpack/container/layouts/ell.hpp"

#include "padded_rows.hpp"

namespace spmvpack::host_loader::layouts {
namespace {

template <class A, class V>
void multiply_ell(const PartView& part, const LayoutState* /*state*/, const Operands<V>& operands, int threads) {
  padded_rows::multiply<A>(part, spmvpack::layouts::ell::geometry(part), operands, threads);
}

}  // namespace

SPMVPACK_HOST_LAYOUT(ell, multiply_ell)
// Rows are added up side by side until all have ended; their lengths would save nothing.
SPMVPACK_HOST_LAYOUT(ellpack_r, multiply_ell)

}  // namespace spmvpack::host_loader::layouts
