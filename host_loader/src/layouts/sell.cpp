#include "spmvpack/container/layouts/sell.hpp"

#include "padded_rows.hpp"

namespace spmvpack::host_loader::layouts {
namespace {

template <class A, class V>
void multiply_sell(const PartView& part, const LayoutState* /*state*/, const Operands<V>& operands, int threads) {
  padded_rows::multiply<A>(part, spmvpack::layouts::sell::geometry(part), operands, threads);
}

}  // namespace

SPMVPACK_HOST_LAYOUT(sell, multiply_sell)

}  // namespace spmvpack::host_loader::layouts
