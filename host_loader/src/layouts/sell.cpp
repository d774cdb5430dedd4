#include "spmvpack/container/layouts/sell.hpp"

#include "padded_rows.hpp"
#if SPMVPACK_HAS_V3
#include "padded_columns.hpp"
#endif

namespace spmvpack::host_loader::layouts {
namespace {

template <class A, class Of>
void multiply_sell(const PartView& part, const LayoutState* /*state*/, const Of& operands, int threads) {
  padded_rows::multiply<A>(part, spmvpack::layouts::sell::geometry(part), operands, threads);
}

template <class A, class V>
constexpr Multiply<V> one_sell = multiply_sell<A, Operands<V>>;
template <class A, class V>
constexpr MultiplyColumns<V> columns_sell = multiply_sell<A, ColumnOperands<V>>;

}  // namespace

SPMVPACK_HOST_LAYOUT_OF_COLUMNS(sell, one_sell, columns_sell)

}  // namespace spmvpack::host_loader::layouts
