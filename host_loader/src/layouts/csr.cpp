#include "spmvpack/container/layouts/csr.hpp"

#include "kernels.hpp"
#include "spmvpack/container/parallel.hpp"

namespace spmvpack::host_loader::layouts {
namespace {

constexpr std::uint64_t rows_per_task = 2048;

/// Multiplies rows [begin, end). The entries of a row are added in column order, one fma each, starting from +0.
template <class A, class V, class Pointer>
SPMVPACK_INLINE void rows(const Pointer* row_ptr, const std::uint32_t* col_idx, const A* values, Operands<V> operands,
                          std::uint64_t begin, std::uint64_t end) {
  for (std::uint64_t r = begin; r < end; ++r) {
    V sum = 0;
    const Pointer first = row_ptr[r], last = row_ptr[r + 1];
    for (Pointer k = first; k < last; ++k) sum = std::fma(V{values[k]}, operands.x[col_idx[k]], sum);
    if (first == last)
      operands.scale(r, r + 1);
    else
      operands.put(r, sum);
  }
}

template <class A, class V, class Pointer>
SPMVPACK_TARGET_V3 void rows_v3(const Pointer* row_ptr, const std::uint32_t* col_idx, const A* values,
                                Operands<V> operands, std::uint64_t begin, std::uint64_t end) {
  rows(row_ptr, col_idx, values, operands, begin, end);
}
template <class A, class V, class Pointer>
void rows_generic(const Pointer* row_ptr, const std::uint32_t* col_idx, const A* values, Operands<V> operands,
                  std::uint64_t begin, std::uint64_t end) {
  rows(row_ptr, col_idx, values, operands, begin, end);
}

template <class A, class V, class Pointer>
void multiply(const PartView& part, const Operands<V>& operands, int threads) {
  const Pointer* const row_ptr = part.get<Pointer>("row_ptr").data();
  const std::uint32_t* const col_idx = part.get<std::uint32_t>("col_idx").data();
  const A* const values = part.get<A>("values").data();
  const auto kernel = use_v3() ? rows_v3<A, V, Pointer> : rows_generic<A, V, Pointer>;
  parallel_pieces(part.rows(), rows_per_task, threads, [&](std::uint64_t begin, std::uint64_t end) {
    kernel(row_ptr, col_idx, values, operands, begin, end);
  });
}

}  // namespace

template <class A, class V>
void multiply_csr(const PartView& part, const Operands<V>& operands, int threads) {
  if (part.type_of("row_ptr") == format::ElementType::u64)
    multiply<A, V, std::uint64_t>(part, operands, threads);
  else
    multiply<A, V, std::uint32_t>(part, operands, threads);
}
SPMVPACK_INSTANTIATE(multiply_csr)

}  // namespace spmvpack::host_loader::layouts
