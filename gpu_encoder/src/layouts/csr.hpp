#pragma once
// csr: copies, with row pointers as wide as a file has them.

#include "layouts/layouts.hpp"
#include "longest_row.hpp"
#include "spmvpack/container/layouts/csr.hpp"

namespace spmvpack::gpu_encoder {

template <class Execution, class Pointer>
void copy_row_pointers(const Execution& run, const Csr& a, Pointer* to) {
  run.each(a.rows + 1, [=] SPMVPACK_HOST_DEVICE(std::uint64_t r) { to[r] = static_cast<Pointer>(a.row_ptr(r)); });
}

template <class Execution>
EncodedPart encode_csr(const Execution& run, const Csr& a, const PartOptions& options) {
  namespace csr = layouts::csr;
  PartInfo info = part_info(csr::layout, a);
  info.params[csr::param_longest_row] = longest_row(run, a);
  PartMaker part(run.memory(), info, options);
  if (csr::sections[0].type(info) == format::ElementType::u64)
    copy_row_pointers(run, a, part.template section<std::uint64_t>("row_ptr"));
  else
    copy_row_pointers(run, a, part.template section<std::uint32_t>("row_ptr"));
  run.copy(part.template section<std::uint32_t>("col_idx"), a.col_idx, a.nnz * sizeof(std::uint32_t));
  run.copy(part.template section<std::byte>("values"), a.value_bits, a.nnz * size_of(a.type));
  return part.finish();
}

}  // namespace spmvpack::gpu_encoder
