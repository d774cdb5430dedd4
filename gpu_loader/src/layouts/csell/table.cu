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

template <class A, class V>
void reserve_tables(std::uint64_t block) {
  switch (block) {
    case 1:
      return reserve_tables<1, A, V>();
    case 2:
      return reserve_tables<2, A, V>();
    case 3:
      return reserve_tables<3, A, V>();
    default:
      return reserve_tables<4, A, V>();
  }
}

}  // namespace

void reserve_tables(const PartInfo& part) {
  each_pair_of(part.value_type, [&]<class A, class V>(A, V) { reserve_tables<A, V>(part.params[param_block]); });
}

template void multiply_source<Source::table>(const DevicePart&, const MultiplyCall&);

}  // namespace spmvpack::gpu_loader::layouts::csell_kernels
