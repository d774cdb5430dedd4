#include "spmvpack/container/layouts/amb.hpp"

#include "kernels.hpp"
#include "layouts/compiled.hpp"
#include "spmvpack/container/base/array.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/launch_rules/host_tasks.hpp"

namespace spmvpack::host_loader::layouts {
namespace {

using spmvpack::layouts::amb::ChunkLength;
using spmvpack::layouts::amb::LaneRow;

constexpr std::uint64_t scaled_per_task = 2048;

template <class A>
struct Chunks {
  const std::uint32_t *cl, *cs, *row_idx;
  const std::uint16_t* col_idx;
  const A* values;
  std::uint64_t segment_cols, chunk_rows;
};

/// The chunks [begin, end), in blocks of `block` columns. Rows with several lanes leave their sums in `partial`.
template <int block, class A, class V>
SPMVPACK_INLINE void chunks(Chunks<A> c, Operands<V> operands, V* partial, std::uint64_t begin, std::uint64_t end) {
  for (std::uint64_t chunk = begin; chunk < end; ++chunk) {
    const ChunkLength length{c.cl[chunk]};
    const V* const x = operands.x + length.segment() * c.segment_cols;
    for (std::uint64_t lane = 0; lane < c.chunk_rows; ++lane) {
      const LaneRow to{c.row_idx[chunk * c.chunk_rows + lane]};
      if (to.is_none()) continue;
      V sum = 0;
      std::uint32_t next = 0;  // the column that a further block reaches at least
      for (std::uint64_t step = c.cs[chunk]; step < std::uint64_t{c.cs[chunk]} + length.steps(); ++step) {
        const std::uint32_t column = c.col_idx[step * c.chunk_rows + lane];
        if (column < next) break;
        next = column + 1;
        const A* const values = c.values + step * block * c.chunk_rows + lane;
        for (int i = 0; i < block; ++i)
          sum = std::fma(V{values[static_cast<std::uint64_t>(i) * c.chunk_rows]},
                         x[column + static_cast<std::uint32_t>(i)], sum);
      }
      if (to.is_shared())
        partial[to.index()] = sum;
      else
        operands.put(to.index(), sum);
    }
  }
}

template <class A, class V>
void multiply_amb(const PartView& part, const LayoutState* /*state*/, const Operands<V>& operands, int threads) {
  using namespace spmvpack::layouts::amb;
  const auto& params = part.info().params;
  const auto shared = part.get<std::uint32_t>("shared_rows");
  const Chunks<A> c{part.get<std::uint32_t>("cl").data(),
                    part.get<std::uint32_t>("cs").data(),
                    part.get<std::uint32_t>("row_idx").data(),
                    part.get<std::uint16_t>("col_idx").data(),
                    part.get<A>("values").data(),
                    params[param_segment_cols],
                    params[param_chunk_rows]};
  Array<V> partial(shared.size());
  static_assert(max_block == 8, "a size of blocks is missing below");
  const auto kernel = dispatch_constant<1, 2, 3, 4, 5, 6, 7, 8>(
      static_cast<int>(params[param_block]), [](auto block) { return best_of<chunks<block(), A, V>>(); });
  parallel_pieces(chunks_of(part.info()), launch_rules::host_tasks::amb_chunks, threads,
                  [&](std::uint64_t begin, std::uint64_t end) { kernel(c, operands, partial.data(), begin, end); });
  parallel_pieces(shared.size(), scaled_per_task, threads, [&](std::uint64_t begin, std::uint64_t end) {
    const auto starts = [&](std::uint64_t i) { return i == 0 || shared[i] != shared[i - 1]; };
    for (std::uint64_t i = begin; i < end; ++i) {
      if (!starts(i)) continue;
      V sum = partial[i];
      for (std::uint64_t k = i + 1; k < shared.size() && !starts(k); ++k) sum = sum + partial[k];
      operands.put(shared[i], sum);
    }
  });
  const auto empty = part.get<std::uint32_t>("empty_rows");
  parallel_pieces(empty.size(), scaled_per_task, threads, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) operands.scale(empty[i], std::uint64_t{empty[i]} + 1);
  });
}

}  // namespace

SPMVPACK_HOST_LAYOUT(amb, multiply_amb)

}  // namespace spmvpack::host_loader::layouts
