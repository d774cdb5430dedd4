#include "spmvpack/container/layouts/csr.hpp"

#include "kernels.hpp"
#include "spmvpack/container/parallel.hpp"

namespace spmvpack::host_loader::layouts {
namespace {

constexpr std::uint64_t rows_per_task = 2048;

/// Rows [begin, end): the entries of a row are added in order of their columns, each by one fma, starting from +0.
template <class T, class Pointer>
SPMVPACK_INLINE void rows(const Pointer* row_ptr, const std::uint32_t* col_idx, const T* values, T alpha, const T* x,
                          T beta, T* y, std::uint64_t begin, std::uint64_t end) {
  for (std::uint64_t r = begin; r < end; ++r) {
    T sum = 0;
    const Pointer first = row_ptr[r], last = row_ptr[r + 1];
    for (Pointer k = first; k < last; ++k) sum = std::fma(values[k], x[col_idx[k]], sum);
    const T before = scaled(beta, y[r]);
    y[r] = first == last ? before : std::fma(alpha, sum, before);
  }
}

template <class T, class Pointer>
SPMVPACK_TARGET_V3 void rows_v3(const Pointer* row_ptr, const std::uint32_t* col_idx, const T* values, T alpha,
                                const T* x, T beta, T* y, std::uint64_t begin, std::uint64_t end) {
  rows(row_ptr, col_idx, values, alpha, x, beta, y, begin, end);
}
template <class T, class Pointer>
void rows_generic(const Pointer* row_ptr, const std::uint32_t* col_idx, const T* values, T alpha, const T* x, T beta,
                  T* y, std::uint64_t begin, std::uint64_t end) {
  rows(row_ptr, col_idx, values, alpha, x, beta, y, begin, end);
}

template <class T, class Pointer>
void multiply(const PartView& part, T alpha, const T* x, T beta, T* y, int threads) {
  const Pointer* const row_ptr = part.get<Pointer>("row_ptr").data();
  const std::uint32_t* const col_idx = part.get<std::uint32_t>("col_idx").data();
  const T* const values = part.get<T>("values").data();
  const auto kernel = use_v3() ? rows_v3<T, Pointer> : rows_generic<T, Pointer>;
  parallel_pieces(part.rows(), rows_per_task, threads, [&](std::uint64_t begin, std::uint64_t end) {
    kernel(row_ptr, col_idx, values, alpha, x, beta, y, begin, end);
  });
}

}  // namespace

template <class T>
void multiply_csr(const PartView& part, T alpha, const T* x, T beta, T* y, int threads) {
  if (part.type_of("row_ptr") == format::ElementType::u64)
    multiply<T, std::uint64_t>(part, alpha, x, beta, y, threads);
  else
    multiply<T, std::uint32_t>(part, alpha, x, beta, y, threads);
}
template void multiply_csr(const PartView&, double, const double*, double, double*, int);
template void multiply_csr(const PartView&, float, const float*, float, float*, int);

}  // namespace spmvpack::host_loader::layouts
