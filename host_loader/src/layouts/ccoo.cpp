// y = alpha A x + beta y with Compressed COO, in the order of additions of docs/LAYOUTS.md ("ccoo"), which is also the
// GPU's: fma along a lane; then the lanes of a row in sequence, or those of a one-row chunk by position in their group;
// then the chunks of a row by binary trees of 32, in sequence.

#include "spmvpack/container/layouts/ccoo.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>

#include "kernels.hpp"
#include "layouts/compiled.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/container/layouts/ccoo_entries.hpp"

namespace spmvpack::host_loader::layouts {
namespace {

using namespace spmvpack::layouts::ccoo;

constexpr std::uint32_t tree_width = 32;
constexpr std::uint32_t cache_line = 64;

/// The sum of `n` values, a power of two, as a warp's shuffles form it: neighbours first, then pairs of pairs.
/// Overwrites them.
template <class V>
SPMVPACK_INLINE V tree_sum(V* v, std::uint32_t n) {
  for (; n > 1; n /= 2)
    for (std::uint32_t i = 0; i < n / 2; ++i) v[i] = v[2 * i] + v[2 * i + 1];
  return v[0];
}

/// A chunk's last row goes on in the next chunk; and it starts in this chunk.
constexpr std::uint8_t goes_on_bit = 1, starts_bit = 2;

/// The sums that chunks leave for the second pass, for the rows that they share.
template <class V>
struct Carries {
  Array<V> first, last;        ///< by chunk: sum of its first row, if shared with the chunk before; of its last row
  Array<std::uint8_t> shared;  ///< by chunk: goes_on_bit, starts_bit
};

/// The carries of `chunks` chunks. A thread keeps up to so many bytes of them between calls, a buffer that is not
/// counted: page faults of fresh memory would slow a multiply noticeably. More of them are `fresh`: multiplies that
/// need so many take long.
constexpr std::uint64_t most_kept_bytes = std::uint64_t{8} << 20U;
template <class V>
Carries<V>& carries_of(std::uint64_t chunks, Carries<V>& fresh) {
  thread_local Carries<V> kept;
  const auto make = [&] { return Carries<V>{Array<V>(chunks), Array<V>(chunks), Array<std::uint8_t>(chunks)}; };
  if (chunks * (2 * sizeof(V) + 1) > most_kept_bytes) return fresh = make();
  if (kept.shared.size() < chunks) {
    const MemoryScope buffers{MemoryScope::Uncounted{}};
    kept = make();
  }
  return kept;
}

// Gathers do not vectorise well: compilers would turn the lanes' short loops into shuffles and spills.
#define SPMVPACK_KEEP_SCALAR asm volatile("")

/// The ids of a chunk that has none, as all entries have the table's first value: they stay in the first-level cache,
/// and no other code is needed.
constexpr std::array<std::byte, most_slots> no_ids{};

/// sum + value * x for one slot, rounded once.
template <class A, class V, class Offset, bool Lut>
SPMVPACK_INLINE V add_slot(const Offset* offsets, const std::byte* values, std::size_t slot, const A* lut, const V* x,
                           V sum) {
  A value;
  if constexpr (Lut)
    value = lut[static_cast<std::uint8_t>(values[slot])];
  else
    std::memcpy(&value, values + slot * sizeof(A), sizeof(A));
  return std::fma(V{value}, x[offsets[slot]], sum);
}

/// Where a lane may end with padding: at the end of its row, as encode() makes them, or anywhere.
enum class Padding : std::uint8_t { at_end_of_row, anywhere };

/// The sum of lane `lane`: one fma per entry, in order, starting from +0. It may end with padding.
template <class A, class V, class Offset, bool Lut>
SPMVPACK_INLINE V padded_lane(const Offset* offsets, const std::byte* values, std::size_t lane, std::uint32_t slots,
                              const A* lut, const V* x) {
  const Offset* const o = offsets + lane * slots;
  V sum = add_slot<A, V, Offset, Lut>(offsets, values, lane * slots, lut, x, V{0});
  for (std::uint32_t k = 1; k < slots && o[k] != o[k - 1]; ++k)
    sum = add_slot<A, V, Offset, Lut>(offsets, values, lane * slots + k, lut, x, sum);
  return sum;
}

/// The same of a lane that is not its row's last.
template <Padding padding, class A, class V, class Offset, bool Lut>
SPMVPACK_INLINE V inner_lane(const Offset* offsets, const std::byte* values, std::size_t lane, std::uint32_t slots,
                             const A* lut, const V* x) {
  if constexpr (padding == Padding::anywhere)
    return padded_lane<A, V, Offset, Lut>(offsets, values, lane, slots, lut, x);
  V sum = 0;
#pragma GCC unroll 8
  for (std::uint32_t k = 0; k < slots; ++k)
    sum = add_slot<A, V, Offset, Lut>(offsets, values, lane * slots + k, lut, x, sum);
  return sum;
}

/// The number of lanes of the chunk that hold entries; the rest, less than a group, are padding.
template <class Offset>
SPMVPACK_INLINE std::uint32_t used_lanes(const Offset* offsets, const std::uint8_t* rows, bool one_row,
                                         std::uint32_t lanes, std::uint32_t slots) {
  const auto repeats = [&](std::uint32_t lane) __attribute__((always_inline)) {
    const std::size_t slot = std::size_t{lane} * slots;
    return offsets[slot] == offsets[slot - 1] && (one_row || rows[lane] == rows[lane - 1]);
  };
  while (lanes > 1 && repeats(lanes - 1)) --lanes;
  return lanes;
}

/// row_starts() of 8, 16 or 32 lanes.
SPMVPACK_INLINE std::uint32_t group_starts(const std::uint8_t* rows, std::uint32_t lanes, std::uint8_t before) {
  std::uint32_t starts = 0;
  for (std::uint32_t i = 0; i < lanes; i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, rows + i, 8);
    starts |= row_starts(word, before) << i;
    before = rows[i + 7];
  }
  return starts;
}

/// Prefetches share `g` of the next chunk: a few streams that are too short for the hardware prefetcher.
SPMVPACK_INLINE void prefetch_share(const std::byte* next, std::uint32_t share, std::uint32_t g) {
  const auto begin = reinterpret_cast<std::uintptr_t>(next) + std::uintptr_t{g} * share;  // may be past the section
  for (std::uint32_t line = 0; line < share; line += cache_line)
    // Into the second-level cache: the first allows too few outstanding misses for a whole chunk.
    __builtin_prefetch(reinterpret_cast<const void*>(begin + line), 0, 2);  // NOLINT(performance-no-int-to-ptr)
}

/// Multiplies one chunk, and writes the empty rows from its first row to the next chunk's. Rows in this chunk alone go
/// to y, the others to the carries.
template <Padding padding, class A, class V, class Offset, bool Lut>
SPMVPACK_INLINE void chunk(const View<A>& v, std::uint64_t c, std::uint32_t slots, std::uint64_t next_base,
                           Operands<V> to, Carries<V>& carries) {
  const Encoding e{v.encoding[c]};
  const std::uint32_t group = group_lanes(v.lanes), groups = e.groups(), lanes = groups * group, base = v.row_base[c];
  const std::byte* const blob = v.blob + v.blob_offset[c];
  const BlobLayout at = blob_layout(e, lanes, slots, sizeof(A), v.single ? 0 : 1);
  const auto* const rows = reinterpret_cast<const std::uint8_t*>(blob);
  const auto* const offsets = reinterpret_cast<const Offset*>(blob + at.columns);
  const std::byte* const values = v.single ? no_ids.data() : blob + at.values;
  const bool continues = e.continues(), goes_on = c + 1 < v.chunks && Encoding{v.encoding[c + 1]}.continues();
  const std::uint32_t used = used_lanes(offsets, rows, e.one_row(), lanes, slots);
  const V* const x = to.x + v.col_base[c];

  std::uint32_t row = base;
  V sum = 0;
  if (e.one_row()) {
    std::array<V, tree_width> places{};
    for (std::uint32_t lane = 0, place = 0; lane + 1 < used; ++lane, place = place + 1 == group ? 0 : place + 1) {
      if (place == 0) prefetch_share(blob + at.end, at.end / groups, lane / group);
      places[place] += inner_lane<padding, A, V, Offset, Lut>(offsets, values, lane, slots, v.lut, x);
    }
    places[(used - 1) % group] += padded_lane<A, V, Offset, Lut>(offsets, values, used - 1, slots, v.lut, x);
    sum = tree_sum(places.data(), group);
  } else {
    std::uint32_t begin = 0;
    const auto sum_until = [&](std::uint32_t end) __attribute__((always_inline)) {
      V s = 0;
      for (const std::uint32_t whole = slots == 1 ? end : end - 1; begin < whole; ++begin) {
        SPMVPACK_KEEP_SCALAR;
        s += inner_lane<padding, A, V, Offset, Lut>(offsets, values, begin, slots, v.lut, x);
      }
      if (slots != 1) s += padded_lane<A, V, Offset, Lut>(offsets, values, begin++, slots, v.lut, x);
      return s;
    };
    std::uint8_t before = 0;
    for (std::uint32_t first = 0, g = 0; first < lanes; first += group, ++g) {
      prefetch_share(blob + at.end, at.end / groups, g);
      for (std::uint32_t starts = group_starts(rows + first, group, before); starts != 0; starts &= starts - 1) {
        sum = sum_until(first + static_cast<std::uint32_t>(std::countr_zero(starts)));
        if (row == base && continues)
          carries.first[c] = sum;
        else
          to.put(row, sum);
        const std::uint32_t next = base + rows[begin];
        to.scale(std::uint64_t{row} + 1, next);
        row = next;
      }
      before = rows[first + group - 1];
    }
    sum = sum_until(used);
  }
  // A row that fills the chunk and is shared on both sides leaves its sum in `first`.
  const bool starts = goes_on && !(row == base && continues);
  if (starts)
    carries.last[c] = sum;
  else if (row == base && continues)
    carries.first[c] = sum;
  else
    to.put(row, sum);
  to.scale(std::uint64_t{row} + 1, next_base);
  carries.shared[c] = static_cast<std::uint8_t>((goes_on ? goes_on_bit : 0) | (starts ? starts_bit : 0));
}

/// `K`: slots of a lane, if they are known as it is compiled; else 0.
template <Padding padding, std::uint32_t K, class A, class V>
SPMVPACK_INLINE void chunks(const View<A>& v, std::uint64_t rows, std::uint64_t begin, std::uint64_t end,
                            Operands<V> to, Carries<V>& carries) {
  const std::uint32_t slots = K != 0 ? K : v.slots;
  for (std::uint64_t c = begin; c < end; ++c) {
    const Encoding e{v.encoding[c]};
    const std::uint64_t next_base = c + 1 < v.chunks ? v.row_base[c + 1] : rows;
    switch (e.column_code() * 2 + (e.lut() ? 1 : 0)) {
      case 0:
        chunk<padding, A, V, std::uint8_t, false>(v, c, slots, next_base, to, carries);
        break;
      case 1:
        chunk<padding, A, V, std::uint8_t, true>(v, c, slots, next_base, to, carries);
        break;
      case 2:
        chunk<padding, A, V, std::uint16_t, false>(v, c, slots, next_base, to, carries);
        break;
      case 3:
        chunk<padding, A, V, std::uint16_t, true>(v, c, slots, next_base, to, carries);
        break;
      case 4:
        chunk<padding, A, V, std::uint32_t, false>(v, c, slots, next_base, to, carries);
        break;
      default:
        chunk<padding, A, V, std::uint32_t, true>(v, c, slots, next_base, to, carries);
        break;
    }
  }
}

template <class A, class V>
auto chunks_kernel(std::uint32_t slots, Padding padding) {
  // Where there is padding that encode() does not write, or no AVX2, one for all K will do, instead of four to compile.
  constexpr std::uint32_t any = 0;
  if (padding == Padding::anywhere) return best_of<chunks<Padding::anywhere, any, A, V>>();
#if SPMVPACK_HAS_V3
  if (use_v3())
    return dispatch_constant<1U, 2U, 4U, 8U>(
        slots, [](auto k) { return &Compiled<chunks<Padding::at_end_of_row, k(), A, V>>::v3; });
#endif
#ifdef SPMVPACK_WITHOUT_GENERIC
  no_set();
#else
  return &Compiled<chunks<Padding::at_end_of_row, any, A, V>>::generic;
#endif
}

/// Adds up the sums that chunks left for a shared row, in chunk order: a tree over each 32 chunks, the trees in
/// sequence. The row starts in chunk c. Returns false, having done nothing, if the row goes on in chunk `end`.
template <class A, class V>
bool finish_shared_row(const View<A>& v, const Carries<V>& carries, std::uint64_t c, std::uint64_t end,
                       Operands<V> to) {
  const std::uint32_t row = v.row_base[c + 1];
  std::array<V, tree_width> sums{carries.last[c]};
  std::uint32_t n = 1;
  V total = 0;
  for (bool more = true; more;) {
    if (++c == end) return false;
    if (n == tree_width) {
      total += tree_sum(sums.data(), tree_width);
      sums = {};
      n = 0;
    }
    sums[n++] = carries.first[c];
    more = (carries.shared[c] & goes_on_bit) != 0 && v.row_base[c + 1] == row;
  }
  to.put(row, total + tree_sum(sums.data(), std::bit_ceil(n)));
  return true;
}

struct PaddingOfPart final : LayoutState {
  explicit PaddingOfPart(Padding where) : padding(where) {}
  Padding padding;
};

/// Whether a lane of chunk c ends with padding though the next one has entries of its row.
template <class T>
bool has_padding_inside_row(const View<T>& v, std::uint64_t c) {
  const Blob blob = Blob::of(v, c);
  const std::uint32_t lanes = stored_lanes(v, c);
  for (std::uint32_t lane = 0; lane + 1 < lanes; ++lane) {
    const std::uint32_t next = (lane + 1) * v.slots;
    if (is_padding(blob, v.slots, next - 1) && blob.row(lane) == blob.row(lane + 1) && !is_padding(blob, v.slots, next))
      return true;
  }
  return false;
}

std::unique_ptr<LayoutState> prepare_ccoo(const PartView& part, int threads) {
  std::atomic<bool> anywhere{false};
  dispatch(part.info().value_type, [&]<class T>(T) {
    const View<T> v = view<T>(part);
    constexpr std::uint64_t chunks_per_task = 256;
    parallel_items(v.slots == 1 ? 0 : v.chunks, chunks_per_task, threads, [&](std::uint64_t c) {
      if (!anywhere && has_padding_inside_row(v, c)) anywhere = true;
    });
  });
  return std::make_unique<PaddingOfPart>(anywhere ? Padding::anywhere : Padding::at_end_of_row);
}

template <class A, class V>
void multiply_ccoo(const PartView& part, const LayoutState* state, const Operands<V>& operands, int threads) {
  const View<A> v = view<A>(part);
  if (v.chunks == 0) return operands.scale(0, part.rows());
  operands.scale(0, v.row_base[0]);
  Carries<V> fresh;
  Carries<V>& carries = carries_of(v.chunks, fresh);  // for all tasks, whatever thread they run on
  constexpr std::uint64_t least = 16, most = 256, tasks_per_thread = 16;
  const std::uint64_t chunks_per_task =
      std::clamp(v.chunks / (tasks_per_thread * static_cast<std::uint64_t>(thread_count(threads))), least, most);
  const auto kernel = chunks_kernel<A, V>(v.slots, static_cast<const PaddingOfPart*>(state)->padding);
  parallel_pieces(v.chunks, chunks_per_task, threads, [&](std::uint64_t begin, std::uint64_t end) {
    kernel(v, part.rows(), begin, end, operands, carries);
    for (std::uint64_t c = begin; c < end; ++c)
      if ((carries.shared[c] & starts_bit) != 0) finish_shared_row(v, carries, c, end, operands);
  });
  // What remains are rows shared by tasks: each is the last row that its first task starts.
  for (std::uint64_t end = chunks_per_task; end < v.chunks; end += chunks_per_task) {
    std::uint64_t c = end - 1;
    if ((carries.shared[c] & goes_on_bit) == 0) continue;
    while (c > end - chunks_per_task && (carries.shared[c] & starts_bit) == 0) --c;
    if ((carries.shared[c] & starts_bit) != 0) finish_shared_row(v, carries, c, v.chunks, operands);
  }
}

}  // namespace

SPMVPACK_HOST_LAYOUT(ccoo, multiply_ccoo, .prepare = prepare_ccoo)

}  // namespace spmvpack::host_loader::layouts
