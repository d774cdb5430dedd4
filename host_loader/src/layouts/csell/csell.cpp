#include "spmvpack/container/layouts/csell.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "layouts/compiled.hpp"
#include "layouts/csell/columns.hpp"
#include "layouts/csell/sums.hpp"
#include "layouts/csell/values.hpp"
#include "spmvpack/container/base/parallel.hpp"
#if SPMVPACK_HAS_V3
#include "layouts/csell/v4.hpp"
#endif

namespace spmvpack::host_loader::layouts {
namespace {

using namespace spmvpack::layouts::csell;  // what the bytes mean

constexpr std::uint32_t all_lanes = ~0U;

/// With mirrors: an entry's block where it is, or where the transposed one is.
template <std::uint32_t block, class A, class V>
SPMVPACK_INLINE void add_referenced(const View<A>& v, Reference reference, std::uint32_t row, std::uint32_t column,
                                    const V* x, Sums<block, V>& sums) {
  const A* const values = v.values + v.place(reference, row, column, 0, 0);
  const bool mirrors = reference.is_mirror(), flipped = mirrors && v.source == Source::skew;
  const std::size_t next_row = mirrors ? lanes : std::size_t{block} * lanes,
                    next_column = mirrors ? std::size_t{block} * lanes : lanes;
  for (std::uint32_t r = 0; r < block; ++r)
    for (std::uint32_t c = 0; c < block; ++c) {
      const V value{values[r * next_row + c * next_column]};
      V& sum = sums[r][row % lanes];
      sum = std::fma(flipped ? -value : value, x[std::uint64_t{column} * block + c], sum);
    }
}

/// Adds a step's products. `columns(lane)` is the column (of blocks) of a lane of the mask.
template <Source source, std::uint32_t block, class A, class V, class Column>
SPMVPACK_INLINE void add_step(std::uint32_t mask, const StepValues<source, block, A>& from, const V* x,
                              Sums<rows_summed(source, block), V>& sums, Column&& columns) {
  const auto n = static_cast<std::uint32_t>(std::popcount(mask));
  const auto add = [&](std::uint32_t lane, std::uint32_t rank) __attribute__((always_inline)) {
    const V* const elements = x + std::uint64_t{columns(lane)} * block;
    for (std::uint32_t r = 0; r < rows_summed(source, block); ++r)
      for (std::uint32_t c = 0; c < block; ++c) {
        sums[r][lane] = std::fma(V{from.of(r * block + c, lane, n, rank)}, elements[c], sums[r][lane]);
      }
  };
  if (mask == all_lanes) {  // most steps: a loop that vectors can take
    for (std::uint32_t lane = 0; lane < lanes; ++lane) add(lane, lane);
    return;
  }
  for (std::uint32_t rank = 0; mask != 0; mask &= mask - 1, ++rank)
    add(static_cast<std::uint32_t>(std::countr_zero(mask)), rank);
}

/// The slices [begin, end). Lambdas that are not inlined would be compiled for any processor, on which std::fma is a
/// call. Group g adds to sum g mod `sums`; the sums are added from left to right.
template <Source source, std::uint32_t block, class A, class V>
SPMVPACK_INLINE void slices(View<A> v, Operands<V> operands, std::uint64_t begin, std::uint64_t end) {
  constexpr std::uint32_t summed = rows_summed(source, block);
  std::array<Sums<summed, V>, max_sums> sums;
  for (std::uint64_t s = begin; s < end; ++s) {
    const SliceView slice = SliceView::of(v, s);
    const auto row = static_cast<std::uint32_t>(s * lanes);
    for (std::uint32_t i = 0; i < v.sums; ++i) sums[i] = {};
    std::uint32_t has_entries = 0;
    const A* values = values_of<source>(v, s);  // of raw ones the next step's
    const std::uint64_t groups = slice.n.total();
    for (std::uint64_t g = 0; g < groups; ++g) {
      const Group group = slice.group(g);
      const Columns kind = slice.columns(g);
      const std::byte* const words = slice.words(g);
      Sums<summed, V>& mine = sums[g % v.sums];
      for (std::uint32_t k = 0; k < group_steps && group.mask[k] != 0; ++k) {
        const std::uint32_t mask = group.mask[k], base = group.base[k];
        has_entries |= mask;
        const StepValues<source, block, A> from(slice, g, k, values);
        const auto add = [&](auto&& columns) __attribute__((always_inline)) {
          if constexpr (source == Source::mirror) {
            for (std::uint32_t left = mask; left != 0; left &= left - 1) {
              const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
              add_referenced<block>(v, slice.reference(g, k, lane), row + lane, columns(lane), operands.x, mine);
            }
          } else {
            add_step<source, block>(mask, from, operands.x, mine, columns);
          }
        };
        const auto offset = [&]<class T>(T, std::uint32_t lane) __attribute__((always_inline)) {
          return base + reinterpret_cast<const T*>(words)[lane * group_steps + k];
        };
        switch (kind) {
          case Columns::pattern:
            add([&](std::uint32_t lane) __attribute__((always_inline)) { return base + (row + lane); });
            break;
          case Columns::offset_8:
            add([&](std::uint32_t lane) __attribute__((always_inline)) { return offset(std::uint8_t{}, lane); });
            break;
          case Columns::offset_16:
            add([&](std::uint32_t lane) __attribute__((always_inline)) { return offset(std::uint16_t{}, lane); });
            break;
          default:
            add([&](std::uint32_t lane) __attribute__((always_inline)) { return offset(std::uint32_t{}, lane); });
        }
        if constexpr (source == Source::raw) values += static_cast<std::uint32_t>(std::popcount(mask)) * block * block;
      }
    }
    put_sums<block, summed>(v, s, has_entries, sums, operands);
  }
}

template <class A, class V>
using Kernel = void (*)(View<A>, Operands<V>, std::uint64_t, std::uint64_t);

/// A kernel, and into how many parts it cuts a slice: what it takes are parts.
template <class A, class V>
struct SliceKernel {
  Kernel<A, V> run;
  std::uint32_t parts = 1;
};

/// `few`: there are not enough slices for all threads.
template <class A, class V>
SliceKernel<A, V> kernel_of(Source source_of_part, std::uint32_t block, [[maybe_unused]] bool few) {
  return dispatch_source(source_of_part, [&](auto of_part) -> SliceKernel<A, V> {
    constexpr Source source = without_signs(of_part());
#if SPMVPACK_HAS_V4
    if constexpr (source == Source::table || source == Source::step || source == Source::single)
      if (block == 1 && use_v4()) {
        constexpr std::uint32_t parts = 4;
        if (few) return {&csell_v4::slices<source, parts, A, V>, parts};
        return {&csell_v4::slices<source, 1, A, V>};
      }
#endif
    static_assert(max_block == 4, "a size of blocks is missing below");
    return dispatch_constant<1, 2, 3, 4>(
        block, [](auto size) -> SliceKernel<A, V> { return {best_of<slices<source, size(), A, V>>()}; });
  });
}

template <class A, class V>
void multiply_csell(const PartView& part, const LayoutState* /*state*/, const Operands<V>& operands, int threads) {
  const View<A> v = view<A>(part);
  const auto all_threads = static_cast<std::uint64_t>(thread_count(threads)),
             entries = part.info().nnz / std::max<std::uint64_t>(v.slice_count, 1);
  const bool few = v.slice_count < all_threads && entries >= least_entries;
  const SliceKernel<A, V> kernel = kernel_of<A, V>(source_of(part.info()), v.block, few);
  const std::uint64_t parts = v.slice_count * kernel.parts;
  parallel_pieces(parts, slices_of_task(parts, entries, threads), threads,
                  [&](std::uint64_t begin, std::uint64_t end) { kernel.run(v, operands, begin, end); });
}

}  // namespace

SPMVPACK_HOST_LAYOUT_OF_COLUMNS(csell, multiply_csell, multiply_csell_columns)

}  // namespace spmvpack::host_loader::layouts
