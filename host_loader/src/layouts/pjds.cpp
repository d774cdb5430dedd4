#include "spmvpack/container/layouts/pjds.hpp"

#include "padded_rows.hpp"

namespace spmvpack::host_loader::layouts {
namespace {

template <class A, class V>
void multiply_pjds(const PartView& part, const LayoutState* /*state*/, const Operands<V>& operands, int threads) {
  padded_rows::multiply<A>(part, spmvpack::layouts::pjds::geometry(part), operands, threads);
}

}  // namespace

SPMVPACK_HOST_LAYOUT(pjds, multiply_pjds)

}  // namespace spmvpack::host_loader::layouts
