// csell for several columns at once: the sums of csell.cpp for each.

#include "layouts/csell/columns.hpp"

#include <array>
#include <bit>

#include "layouts/csell/sums.hpp"
#include "layouts/csell/values.hpp"

#if SPMVPACK_HAS_V3

#include "layouts/columns_v3.hpp"

namespace spmvpack::host_loader::layouts {
namespace {

using GroupColumns = std::array<std::uint32_t, lanes * group_steps>;

template <class Offset>
SPMVPACK_INLINE_V3 void add_offsets(const Group& group, const std::byte* words, GroupColumns& columns) {
  const auto* const offsets = reinterpret_cast<const Offset*>(words);
  for (std::uint32_t lane = 0; lane < lanes; ++lane)
    for (std::uint32_t k = 0; k < group_steps; ++k)
      columns[lane * group_steps + k] = group.base[k] + offsets[lane * group_steps + k];
}

/// The columns of a group's entries, group_steps for each lane. `row`: of lane 0.
SPMVPACK_INLINE_V3 void find_columns(const SliceView& slice, std::uint64_t g, const Group& group, std::uint32_t row,
                                     GroupColumns& columns) {
  const std::byte* const words = slice.words(g);
  switch (slice.columns(g)) {
    case Columns::pattern:
      for (std::uint32_t lane = 0; lane < lanes; ++lane)
        for (std::uint32_t k = 0; k < group_steps; ++k) columns[lane * group_steps + k] = group.base[k] + (row + lane);
      break;
    case Columns::offset_8:
      add_offsets<std::uint8_t>(group, words, columns);
      break;
    case Columns::offset_16:
      add_offsets<std::uint16_t>(group, words, columns);
      break;
    default:
      add_offsets<std::uint32_t>(group, words, columns);
  }
}

/// The block of an entry with mirrors: where it is, or where the transposed one is.
template <class A>
struct ReferencedBlock {
  const A* values;
  std::size_t next_row, next_column;
  bool flipped;

  SPMVPACK_INLINE_V3 ReferencedBlock(const View<A>& v, Reference reference, std::uint32_t row, std::uint32_t column)
      : values(v.values + v.place(reference, row, column, 0, 0)),
        next_row(reference.is_mirror() ? lanes : std::size_t{v.block} * lanes),
        next_column(reference.is_mirror() ? std::size_t{v.block} * lanes : lanes),
        flipped(reference.is_mirror() && v.source == Source::skew) {}
  template <class V>
  [[nodiscard]] SPMVPACK_INLINE_V3 V at(std::uint32_t r, std::uint32_t c) const {
    const V value{values[r * next_row + c * next_column]};
    return flipped ? -value : value;
  }
};

/// Adds the products of a block, whose elements are value(r, c), to the sums of its rows.
template <std::uint32_t block, std::uint32_t summed, class V, std::uint32_t registers, class Value>
SPMVPACK_INLINE_V3 void add_block(const ColumnRows<V, registers>& rows, std::uint32_t column,
                                  std::array<ColumnSums<V, registers>, summed>& sums, Value&& value) {
  for (std::uint32_t c = 0; c < block; ++c) {
    const auto x = rows.load(rows.x(std::uint64_t{column} * block + c));
    for (std::uint32_t r = 0; r < summed; ++r) sums[r].add_product(ColumnRegister<V>::all(value(r, c)), x);
  }
}

/// The slices [begin, end).
template <Source source, std::uint32_t block, std::uint32_t registers, class A, class V>
SPMVPACK_TARGET_V3 void columns_of_slices(View<A> v, ColumnOperands<V> operands, std::uint64_t begin,
                                          std::uint64_t end) {
  using OneRow = ColumnSums<V, registers>;
  constexpr std::uint32_t summed = rows_summed(source, block);
  const ColumnRows<V, registers> rows(operands);
  constexpr std::size_t of_lane = summed * OneRow::width;
  alignas(cache_line) std::array<V, max_sums * lanes * of_lane> all;
  GroupColumns columns;
  for (std::uint64_t s = begin; s < end; ++s) {
    const SliceView slice = SliceView::of(v, s);
    const auto row = static_cast<std::uint32_t>(s * lanes);
    std::fill(all.begin(), all.begin() + v.sums * lanes * of_lane, V{0});
    std::uint32_t has_entries = 0;
    const A* values = values_of<source>(v, s);  // of raw ones the next step's
    const std::uint64_t groups = slice.n.total();
    for (std::uint64_t g = 0; g < groups; ++g) {
      const Group group = slice.group(g);
      find_columns(slice, g, group, row, columns);
      std::array<const A*, group_steps> of_step;
      std::array<std::uint32_t, group_steps> entries, rank{};  // rank: those that lanes have had
      for (std::uint32_t k = 0; k < group_steps; ++k) {
        has_entries |= group.mask[k];
        of_step[k] = values;
        entries[k] = static_cast<std::uint32_t>(std::popcount(group.mask[k]));
        if constexpr (source == Source::raw) values += entries[k] * block * block;
      }
      for (std::uint32_t lane = 0; lane < lanes; ++lane) {
        V* const mine = all.data() + (g % v.sums * lanes + lane) * of_lane;
        std::array<OneRow, summed> sums;
        for (std::uint32_t r = 0; r < summed; ++r) sums[r] = OneRow::load(mine + r * OneRow::width);
        for (std::uint32_t k = 0; k < group_steps; ++k) {
          if ((group.mask[k] >> lane & 1U) == 0) continue;
          const std::uint32_t column = columns[lane * group_steps + k];
          if constexpr (source == Source::mirror) {
            const ReferencedBlock<A> of(v, slice.reference(g, k, lane), row + lane, column);
            add_block<block, summed>(rows, column, sums, [&](std::uint32_t r, std::uint32_t c) SPMVPACK_LAMBDA_V3 {
              return of.template at<V>(r, c);
            });
          } else {
            const StepValues<source, block, A> from(slice, g, k, of_step[k]);
            const std::uint32_t n = entries[k], number = rank[k]++;
            add_block<block, summed>(rows, column, sums, [&](std::uint32_t r, std::uint32_t c) SPMVPACK_LAMBDA_V3 {
              return V{from.of(r * block + c, lane, n, number)};
            });
          }
        }
        for (std::uint32_t r = 0; r < summed; ++r) sums[r].store(mine + r * OneRow::width);
      }
    }
    const std::uint64_t last = std::min<std::uint64_t>(lanes, v.rows - s * lanes);
    for (std::uint64_t lane = 0; lane < last; ++lane)
      for (std::uint32_t r = 0; r < block; ++r) {
        const std::uint64_t local = (s * lanes + lane) * block + r;
        if ((has_entries >> lane & 1U) == 0) {
          rows.scale(local, local + 1);
          continue;
        }
        const V* const mine = all.data() + lane * of_lane + (summed == 1 ? 0 : r) * OneRow::width;
        OneRow sum = OneRow::load(mine);
        for (std::uint32_t i = 1; i < v.sums; ++i) sum.add(OneRow::load(mine + i * lanes * of_lane));
        rows.put(local, sum);
      }
  }
}

}  // namespace

template <class A, class V>
void multiply_csell_columns(const PartView& part, const LayoutState* /*state*/, const ColumnOperands<V>& operands,
                            int threads) {
  const View<A> v = view<A>(part);
  using Kernel = void (*)(View<A>, ColumnOperands<V>, std::uint64_t, std::uint64_t);
  static_assert(max_block == 4, "a size of blocks is missing below");
  const Kernel kernel = dispatch_source(source_of(part.info()), [&](auto of_part) {
    return dispatch_constant<1, 2, 3, 4>(v.block, [&](auto block) {
      return dispatch_registers<V>(operands.count, [&](auto registers) -> Kernel {
        return &columns_of_slices<without_signs(of_part()), block(), registers(), A, V>;
      });
    });
  });
  const std::uint64_t of_slice = part.info().nnz / std::max<std::uint64_t>(v.slice_count, 1);
  parallel_pieces(v.slice_count, slices_of_task(v.slice_count, of_slice, threads), threads,
                  [&](std::uint64_t begin, std::uint64_t end) { kernel(v, operands, begin, end); });
}

#define SPMVPACK_INSTANTIATE(A, V) \
  template void multiply_csell_columns<A, V>(const PartView&, const LayoutState*, const ColumnOperands<V>&, int);
SPMVPACK_TYPE_PAIRS(SPMVPACK_INSTANTIATE)
#undef SPMVPACK_INSTANTIATE

}  // namespace spmvpack::host_loader::layouts

#endif
