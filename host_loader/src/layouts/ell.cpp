#include "spmvpack/container/layouts/ell.hpp"

#include "padded_rows.hpp"
#if SPMVPACK_HAS_V3
#include "padded_columns.hpp"
#endif

namespace spmvpack::host_loader::layouts {
namespace {

template <class A, class Of>
void multiply_ell(const PartView& part, const LayoutState* /*state*/, const Of& operands, int threads) {
  padded_rows::multiply<A>(part, spmvpack::layouts::ell::geometry(part), operands, threads);
}

template <class A, class V>
constexpr Multiply<V> one_ell = multiply_ell<A, Operands<V>>;
template <class A, class V>
constexpr MultiplyColumns<V> columns_ell = multiply_ell<A, ColumnOperands<V>>;

}  // namespace

SPMVPACK_HOST_LAYOUT_OF_COLUMNS(ell, one_ell, columns_ell)
// Rows are added up side by side until all have ended; their lengths would save nothing.
SPMVPACK_HOST_LAYOUT_OF_COLUMNS(ellpack_r, one_ell, columns_ell)

}  // namespace spmvpack::host_loader::layouts
