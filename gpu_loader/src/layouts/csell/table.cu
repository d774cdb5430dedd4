// Compiled by itself.

#include "layouts/csell/slices.cuh"

namespace spmvpack::gpu_loader::layouts::csell_kernels {
namespace {

template <int block, class A, class V>
void reserve_tables() {
  reserve_shared<SliceKernel<Source::table, block, Size::patterns>, A, V>();
  reserve_shared<SliceKernel<Source::table, block, Size::tiled>, A, V>();
  if constexpr (block == 1) {
    reserve_shared<SliceKernel<Source::table, block, Size::few>, A, V>();
    reserve_shared<SliceKernel<Source::table, block, Size::any>, A, V>();
  } else {
    reserve_shared<SliceKernel<Source::table, block, Size::few_patterns>, A, V>();
  }
}

}  // namespace

void reserve_tables(const PartInfo& part) {
  each_pair_of(part.value_type, [&]<class A, class V>(A, V) {
    dispatch_constant<1, 2, 3, 4>(static_cast<int>(part.params[param_block]),
                                  [](auto block) { reserve_tables<block(), A, V>(); });
  });
}

template void multiply_source<Source::table>(const DevicePart&, const MultiplyCall&);

}  // namespace spmvpack::gpu_loader::layouts::csell_kernels
