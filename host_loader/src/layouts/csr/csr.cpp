#include "spmvpack/container/layouts/csr.hpp"

#include "layouts/compiled.hpp"
#include "layouts/csr/order.hpp"
#include "layouts/csr/rows.hpp"
#include "layouts/kernels.hpp"
#include "spmvpack/container/base/parallel.hpp"
#if SPMVPACK_HAS_V3
#include "layouts/csr/columns.hpp"
#include "layouts/csr/v3.hpp"
#endif

namespace spmvpack::host_loader::layouts {
namespace {

/// From so many bytes of columns and values on, a third of a last cache, they are fetched before they are needed;
/// below, that costs 5 to 15 %.
constexpr std::uint64_t fetched_bytes = std::uint64_t{10} << 20U;
/// How far ahead: two windows, as visits within one are in no order that a processor foresees, but not farther than
/// its caches hold.
constexpr std::uint64_t windows_ahead = 2, most_ahead = 16384;

template <class Rows>
struct Kernels {
  void (*runs)(Rows, const RowOrder&, std::uint64_t, std::uint64_t);
  void (*pieces)(Rows, const RowOrder&, std::uint64_t, std::uint64_t, typename Rows::Vector*);
};
template <class Rows>
Kernels<Rows> kernels() {
  if constexpr (is_complex_type<typename Rows::Vector>) {  // for which there are no loops with intrinsics
    return {best_of<portable_runs<Rows>>(), best_of<portable_pieces<Rows>>()};
  } else {
#define SPMVPACK_IF(name, target, has) \
  if (has) return {runs_##name<Rows>, pieces_##name<Rows>};
    SPMVPACK_COMPILED_SETS(SPMVPACK_IF)
#undef SPMVPACK_IF
    no_set();
  }
}

template <class A, class V, class Pointer>
CsrRows<A, V, Pointer> rows_of(const PartView& part, const Operands<V>& operands) {
  const std::uint64_t nnz = part.info().nnz;
  const std::uint64_t ahead = nnz * (sizeof(A) + sizeof(std::uint32_t)) < fetched_bytes
                                  ? 0
                                  : std::min(windows_ahead * RowOrder::window * (nnz / part.rows() + 1), most_ahead);
  return {part.get<Pointer>("row_ptr").data(), part.get<std::uint32_t>("col_idx").data(), part.get<A>("values").data(),
          operands, ahead};
}

/// Calls runs(begin, end) and pieces(begin, end) for shares of them.
template <class Runs, class Pieces>
void each_share(const PartView& part, const RowOrder& order, int threads, Runs&& of_runs, Pieces&& of_pieces) {
  const std::uint64_t runs = order.runs.size(), work = part.info().nnz + part.rows();
  const int team = worth_threads(work, threads), shares = share_count(work, team);
  parallel_shares(shares, team, [&](int share) {
    const std::uint64_t begin = order.first_of(share, shares), end = order.first_of(share + 1, shares);
    if (begin < runs) of_runs(begin, std::min(end, runs));
    if (end > runs) of_pieces(std::max(begin, runs) - runs, end - runs);
  });
}

template <class A, class V, class Pointer>
void multiply(const PartView& part, const RowOrder& order, const Operands<V>& operands, int threads) {
  if (part.rows() == 0) return;
  const auto rows = rows_of<A, V, Pointer>(part, operands);
  const auto kernel = kernels<CsrRows<A, V, Pointer>>();
  Array<V> sums(order.pieces.size());
  each_share(
      part, order, threads, [&](std::uint64_t begin, std::uint64_t end) { kernel.runs(rows, order, begin, end); },
      [&](std::uint64_t begin, std::uint64_t end) { kernel.pieces(rows, order, begin, end, sums.data()); });
  for (std::uint64_t i = 0; i < sums.size();) {
    const std::uint32_t row = order.piece_row[i];
    V sum = sums[i];
    for (++i; i < sums.size() && order.piece_row[i] == row; ++i) sum = sum + sums[i];
    operands.put(row, sum);
  }
}

#if SPMVPACK_HAS_V3
template <class A, class V, class Pointer>
void multiply(const PartView& part, const RowOrder& order, const ColumnOperands<V>& operands, int threads) {
  if (part.rows() == 0) return;
  const auto matrix = rows_of<A, V, Pointer>(part, {});
  dispatch_registers<V>(operands.count, [&](auto n) {
    constexpr std::uint32_t registers = n();
    Array<V> sums(order.pieces.size() * ColumnSums<V, registers>::width);
    each_share(
        part, order, threads,
        [&](std::uint64_t begin, std::uint64_t end) {
          columns_of_runs<registers>(matrix, operands, order, begin, end);
        },
        [&](std::uint64_t begin, std::uint64_t end) {
          columns_of_pieces<registers>(matrix, operands, order, begin, end, sums.data());
        });
    put_pieces<registers>(operands, order, sums.data());
  });
}
#endif

std::unique_ptr<LayoutState> prepare_csr(const PartView& part, int threads) {
  if (part.type_of("row_ptr") == format::ElementType::u64)
    return RowOrderOf(part.get<std::uint64_t>("row_ptr"), part.get<std::uint32_t>("col_idx"), threads).take();
  return RowOrderOf(part.get<std::uint32_t>("row_ptr"), part.get<std::uint32_t>("col_idx"), threads).take();
}

/// `Of`: Operands<V> or ColumnOperands<V>.
template <class A, class V, class Of>
void multiply_csr(const PartView& part, const LayoutState* state, const Of& operands, int threads) {
  const auto& order = *static_cast<const RowOrder*>(state);
  if (part.type_of("row_ptr") == format::ElementType::u64)
    multiply<A, V, std::uint64_t>(part, order, operands, threads);
  else
    multiply<A, V, std::uint32_t>(part, order, operands, threads);
}
template <class A, class V>
constexpr Multiply<V> one_csr = multiply_csr<A, V, Operands<V>>;
template <class A, class V>
constexpr MultiplyColumns<V> columns_csr = multiply_csr<A, V, ColumnOperands<V>>;

}  // namespace

SPMVPACK_HOST_LAYOUT_OF_COLUMNS(csr, one_csr, columns_csr, .prepare = prepare_csr, SPMVPACK_COMPLEX(one_csr))

}  // namespace spmvpack::host_loader::layouts
