#include "spmvpack/container/layouts/pjds.hpp"

#include "padded_rows.hpp"
#if SPMVPACK_HAS_V3
#include "padded_columns.hpp"
#endif

namespace spmvpack::host_loader::layouts {
namespace {

template <class A, class Of>
void multiply_pjds(const PartView& part, const LayoutState* /*state*/, const Of& operands, int threads) {
  padded_rows::multiply<A>(part, spmvpack::layouts::pjds::geometry(part), operands, threads);
}

template <class A, class V>
constexpr Multiply<V> one_pjds = multiply_pjds<A, Operands<V>>;
template <class A, class V>
constexpr MultiplyColumns<V> columns_pjds = multiply_pjds<A, ColumnOperands<V>>;

}  // namespace

SPMVPACK_HOST_LAYOUT_OF_COLUMNS(pjds, one_pjds, columns_pjds)

}  // namespace spmvpack::host_loader::layouts
