#include <algorithm>

#include "kernels.hpp"
#include "spmvpack/container/parallel.hpp"

namespace spmvpack::host_loader::layouts {
namespace {

constexpr std::uint64_t rows_per_task = 2048;

/// Entries [begin, end), which are whole rows; sums as in csr. y has been scaled.
template <class T>
SPMVPACK_INLINE void entries(const std::uint32_t* row_idx, const std::uint32_t* col_idx, const T* values, T alpha,
                             const T* x, T* y, std::uint64_t begin, std::uint64_t end) {
  for (std::uint64_t k = begin; k < end;) {
    const std::uint32_t row = row_idx[k];
    T sum = 0;
    do {
      sum = std::fma(values[k], x[col_idx[k]], sum);
      ++k;
    } while (k < end && row_idx[k] == row);
    y[row] = std::fma(alpha, sum, y[row]);
  }
}

template <class T>
SPMVPACK_TARGET_V3 void entries_v3(const std::uint32_t* row_idx, const std::uint32_t* col_idx, const T* values, T alpha,
                                   const T* x, T* y, std::uint64_t begin, std::uint64_t end) {
  entries(row_idx, col_idx, values, alpha, x, y, begin, end);
}
template <class T>
void entries_generic(const std::uint32_t* row_idx, const std::uint32_t* col_idx, const T* values, T alpha, const T* x,
                     T* y, std::uint64_t begin, std::uint64_t end) {
  entries(row_idx, col_idx, values, alpha, x, y, begin, end);
}

}  // namespace

template <class T>
void multiply_coo(const PartView& part, T alpha, const T* x, T beta, T* y, int threads) {
  const auto row_idx = part.get<std::uint32_t>("row_idx");
  const std::uint32_t* const col_idx = part.get<std::uint32_t>("col_idx").data();
  const T* const values = part.get<T>("values").data();
  const auto kernel = use_v3() ? entries_v3<T> : entries_generic<T>;
  parallel_pieces(part.rows(), rows_per_task, threads, [&](std::uint64_t first, std::uint64_t last) {
    const auto entry_of = [&](std::uint64_t row) {
      return static_cast<std::uint64_t>(std::lower_bound(row_idx.begin(), row_idx.end(), row) - row_idx.begin());
    };
    for (std::uint64_t r = first; r < last; ++r) y[r] = scaled(beta, y[r]);
    kernel(row_idx.data(), col_idx, values, alpha, x, y, entry_of(first), entry_of(last));
  });
}
template void multiply_coo(const PartView&, double, const double*, double, double*, int);
template void multiply_coo(const PartView&, float, const float*, float, float*, int);

}  // namespace spmvpack::host_loader::layouts
