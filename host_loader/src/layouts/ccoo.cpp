// y = alpha A x + beta y from Compressed COO, in the order of additions of docs/LAYOUTS.md ("ccoo"), which is also the
// GPU's: fma along a lane, a binary tree over the lanes of a row in a group, groups of a chunk in sequence, and over
// the chunks of a row the tree again by 32, in sequence.

#include "spmvpack/container/layouts/ccoo.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "kernels.hpp"
#include "spmvpack/container/parallel.hpp"

namespace spmvpack::host_loader::layouts {
namespace {

using namespace spmvpack::layouts::ccoo;

constexpr std::uint32_t tree_width = 32;
constexpr std::uint32_t cache_line = 64;

/// The sum of n <= 8 values as a warp's shuffles form it: neighbours first, then pairs of pairs. What is not there
/// counts as +0, which no sum of fma from +0 notices; so there is no branch on n. Eight values are read.
template <class T>
SPMVPACK_INLINE T tree_sum_8(const T* v, std::uint32_t n) {
  using Four [[gnu::vector_size(4 * sizeof(T))]] = T;
  using FourBits [[gnu::vector_size(4 * sizeof(T))]] = bits_of<T>;
  constexpr bits_of<T> all = ~bits_of<T>{0};
  static constexpr std::array<bits_of<T>, 16> there{all, all, all, all, all, all, all, all};
  FourBits low, high, low_mask, high_mask;
  std::memcpy(&low, v, sizeof low);
  std::memcpy(&high, v + 4, sizeof high);
  std::memcpy(&low_mask, there.data() + 8 - n, sizeof low_mask);
  std::memcpy(&high_mask, there.data() + 12 - n, sizeof high_mask);
  low &= low_mask;
  high &= high_mask;
  // Neighbours, in the order that unpacking gives without a permutation: 01, 45, 23, 67.
  const Four even = reinterpret_cast<Four>(__builtin_shufflevector(low, high, 0, 4, 2, 6));
  const Four odd = reinterpret_cast<Four>(__builtin_shufflevector(low, high, 1, 5, 3, 7));
  const Four pairs = even + odd;
  return (pairs[0] + pairs[2]) + (pairs[1] + pairs[3]);
}

/// The same tree over n <= 32 values; `v` has room for 40.
template <class T>
SPMVPACK_INLINE T tree_sum(const T* v, std::uint32_t n) {
  if (n <= 8) return tree_sum_8(v, n);
  if (n <= 16) return tree_sum_8(v, 8) + tree_sum_8(v + 8, n - 8);
  const T first = tree_sum_8(v, 8) + tree_sum_8(v + 8, 8);
  if (n <= 24) return first + tree_sum_8(v + 16, n - 16);
  return first + (tree_sum_8(v + 16, 8) + tree_sum_8(v + 24, n - 24));
}

/// A chunk's last row goes on in the next chunk; and has not come from the one before.
constexpr std::uint8_t goes_on_bit = 1, starts_bit = 2;

/// What chunks that share a row leave for the second pass.
template <class T>
struct Carries {
  Array<T> first, last;        ///< by chunk: sum of its first row, if shared with the chunk before; of its last row
  Array<std::uint8_t> shared;  ///< by chunk: goes_on_bit, starts_bit
};

// Gathers do not vectorise well: left alone, compilers turn the lanes' short loops into shuffles and spills.
#define SPMVPACK_KEEP_SCALAR asm volatile("")

/// sum + value x of one slot, rounded once.
template <class T, class Offset, bool Lut>
SPMVPACK_INLINE T add_slot(const Offset* offsets, const std::byte* values, std::size_t slot, const T* lut, const T* x,
                           T sum) {
  T value;
  if constexpr (Lut)
    value = lut[static_cast<std::uint8_t>(values[slot])];
  else
    std::memcpy(&value, values + slot * sizeof(T), sizeof(T));
  return std::fma(value, x[offsets[slot]], sum);
}

/// The sums of `lanes` lanes, none of them all padding: the entries of a lane in turn, each by one fma, from +0.
/// Padding is at a lane's end, so a lane whose last slot is an entry has none.
template <class T, class Offset, bool Lut, std::uint32_t K>
SPMVPACK_INLINE void lane_sums(const Offset* offsets, const std::byte* values, std::uint32_t lanes, const T* lut,
                               const T* x, T* sums) {
  const auto whole = [&](std::size_t lane) __attribute__((always_inline)) {
    T sum = 0;
#pragma GCC unroll 8
    for (std::uint32_t k = 0; k < K; ++k) sum = add_slot<T, Offset, Lut>(offsets, values, lane * K + k, lut, x, sum);
    return sum;
  };
  if constexpr (K <= 2) {
    // Short lanes are summed without a branch, and those with padding once more.
    std::uint32_t padded = 0;
#pragma GCC unroll 4
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      SPMVPACK_KEEP_SCALAR;
      sums[lane] = whole(lane);
      if constexpr (K == 2) padded |= static_cast<std::uint32_t>(offsets[2 * lane] == offsets[2 * lane + 1]) << lane;
    }
    for (; padded != 0; padded &= padded - 1) {
      const auto lane = static_cast<std::size_t>(std::countr_zero(padded));
      sums[lane] = add_slot<T, Offset, Lut>(offsets, values, lane * K, lut, x, T{0});
    }
  } else {
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      SPMVPACK_KEEP_SCALAR;
      const Offset* const o = offsets + std::size_t{lane} * K;
      if (o[K - 1] != o[K - 2]) {
        sums[lane] = whole(lane);
        continue;
      }
      T sum = add_slot<T, Offset, Lut>(offsets, values, std::size_t{lane} * K, lut, x, T{0});
      for (std::uint32_t k = 1; o[k] != o[k - 1]; ++k)
        sum = add_slot<T, Offset, Lut>(offsets, values, std::size_t{lane} * K + k, lut, x, sum);
      sums[lane] = sum;
    }
  }
}

/// Lanes of the chunk's last group that hold entries; those after them are all padding.
template <class Offset, std::uint32_t K>
SPMVPACK_INLINE std::uint32_t used_lanes(const Offset* offsets, const std::uint8_t* rows, bool one_row,
                                         std::uint32_t lanes) {
  const auto repeats = [&](std::uint32_t lane) __attribute__((always_inline)) {
    const std::size_t slot = std::size_t{lane} * K;
    return offsets[slot] == offsets[slot - 1] && (one_row || rows[lane] == rows[lane - 1]);
  };
  while (lanes > 1 && repeats(lanes - 1)) --lanes;
  return lanes;
}

/// Bit i is set where row byte i differs from the one before it, for i from 1 to lanes - 1; lanes is 8, 16 or 32.
SPMVPACK_INLINE std::uint32_t row_starts(const std::uint8_t* rows, std::uint32_t lanes) {
  constexpr std::uint64_t low_bits = 0x7F7F7F7F7F7F7F7F;
  std::uint32_t starts = 0;
  std::uint64_t before = rows[0];
  for (std::uint32_t i = 0; i < lanes; i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, rows + i, 8);
    const std::uint64_t differs = word ^ (word << 8U | before);
    const std::uint64_t nonzero = (((differs & low_bits) + low_bits) | differs) & ~low_bits;  // bit 7 of each byte
    starts |= static_cast<std::uint32_t>((nonzero >> 7U) * 0x0102040810204080U >> 56U) << i;
    before = word >> 56U;
  }
  return starts;
}

/// Asks for share `g` of the next chunk. A chunk is a few short streams, too short for the processor to foresee them.
SPMVPACK_INLINE void prefetch_share(const std::byte* next, std::uint32_t share, std::uint32_t g) {
  const auto begin = reinterpret_cast<std::uintptr_t>(next) + std::uintptr_t{g} * share;  // may be past the section
  for (std::uint32_t line = 0; line < share; line += cache_line)
    // Into the second-level cache: the first has too few outstanding misses for a whole chunk.
    __builtin_prefetch(reinterpret_cast<const void*>(begin + line), 0, 2);  // NOLINT(performance-no-int-to-ptr)
}

/// One chunk. Rows that lie in this chunk alone go to y, the others to the carries.
template <class T, class Offset, bool Lut, std::uint32_t K>
SPMVPACK_INLINE void chunk(const View<T>& v, std::uint64_t c, bool continues, T alpha, const T* x, T* y, T* sums,
                           Carries<T>& carries, std::uint32_t& last_row_of_chunk) {
  const Encoding e{v.encoding[c]};
  const std::uint32_t group = group_lanes(v.lanes), groups = e.groups(), lanes = groups * group;
  const std::byte* const blob = v.blob + v.blob_offset[c];
  const BlobLayout at = blob_layout(e, lanes, K, sizeof(T));
  const auto* const rows = reinterpret_cast<const std::uint8_t*>(blob);
  const auto* const offsets = reinterpret_cast<const Offset*>(blob + at.columns);
  const std::byte* const values = blob + at.values;
  const bool one_row = e.one_row();
  const std::uint32_t base = v.row_base[c], last_row = one_row ? base : base + rows[lanes - 1];
  const bool goes_on = c + 1 < v.chunks && v.row_base[c + 1] == last_row;
  constexpr std::size_t value_size = Lut ? 1 : sizeof(T);

  // All lanes before all rows: what a row's tree loads has then long been stored, and comes without a stall.
  for (std::uint32_t g = 0; g < groups; ++g) {
    prefetch_share(blob + at.end, at.end / groups, g);
    const std::size_t first = std::size_t{g} * group;
    const std::uint32_t used =
        g + 1 < groups ? group : used_lanes<Offset, K>(offsets + first * K, rows + first, one_row, group);
    lane_sums<T, Offset, Lut, K>(offsets + first * K, values + first * K * value_size, used, v.lut, x + v.col_base[c],
                                 sums + first);
    std::fill(sums + first + used, sums + first + group, T{0});
  }

  std::uint32_t open_row = base;
  T open_sum = 0;
  const auto finish_open = [&]() __attribute__((always_inline)) {
    if (open_row == base && continues)
      carries.first[c] = open_sum;
    else
      y[open_row] = std::fma(alpha, open_sum, y[open_row]);
  };
  for (std::uint32_t g = 0; g < groups; ++g) {
    const std::uint8_t* const group_rows = rows + std::size_t{g} * group;
    const T* const group_sums = sums + std::size_t{g} * group;
    if (one_row) {
      open_sum += tree_sum(group_sums, group);
      continue;
    }
    std::uint32_t starts = row_starts(group_rows, group);
    for (std::uint32_t begin = 0; begin < group; starts &= starts - 1) {
      const std::uint32_t end = starts != 0 ? static_cast<std::uint32_t>(std::countr_zero(starts)) : group;
      const T sum = tree_sum(group_sums + begin, end - begin);
      const std::uint32_t row = base + group_rows[begin];
      if (row != open_row) {
        finish_open();
        open_row = row;
        open_sum = sum;
      } else {
        open_sum += sum;
      }
      begin = end;
    }
  }
  // A row that is the whole chunk and shared on both sides leaves its sum in `first`.
  const bool starts = goes_on && !(open_row == base && continues);
  if (starts)
    carries.last[c] = open_sum;
  else
    finish_open();
  carries.shared[c] = static_cast<std::uint8_t>((goes_on ? goes_on_bit : 0) | (starts ? starts_bit : 0));
  last_row_of_chunk = last_row;
}

template <class T, std::uint32_t K>
SPMVPACK_INLINE void chunks(const View<T>& v, std::uint64_t begin, std::uint64_t end, T alpha, const T* x, T* y,
                            Carries<T>& carries) {
  std::array<T, default_lanes + 8> sums{};  // of a chunk's lanes; tree_sum() looks past them
  std::uint32_t last_row = ~0U;
  if (begin != 0) {
    const Encoding e{v.encoding[begin - 1]};
    const std::byte* const rows = v.blob + v.blob_offset[begin - 1];
    last_row = lane_row(e, v.row_base[begin - 1], rows, e.groups() * group_lanes(v.lanes) - 1);
  }
  for (std::uint64_t c = begin; c < end; ++c) {
    const Encoding e{v.encoding[c]};
    const bool continues = c != 0 && v.row_base[c] == last_row;
    switch (e.column_code() * 2 + (e.lut() ? 1 : 0)) {
      case 0:
        chunk<T, std::uint8_t, false, K>(v, c, continues, alpha, x, y, sums.data(), carries, last_row);
        break;
      case 1:
        chunk<T, std::uint8_t, true, K>(v, c, continues, alpha, x, y, sums.data(), carries, last_row);
        break;
      case 2:
        chunk<T, std::uint16_t, false, K>(v, c, continues, alpha, x, y, sums.data(), carries, last_row);
        break;
      case 3:
        chunk<T, std::uint16_t, true, K>(v, c, continues, alpha, x, y, sums.data(), carries, last_row);
        break;
      case 4:
        chunk<T, std::uint32_t, false, K>(v, c, continues, alpha, x, y, sums.data(), carries, last_row);
        break;
      default:
        chunk<T, std::uint32_t, true, K>(v, c, continues, alpha, x, y, sums.data(), carries, last_row);
        break;
    }
  }
}

template <class T, std::uint32_t K>
SPMVPACK_TARGET_V3 void chunks_v3(const View<T>& v, std::uint64_t begin, std::uint64_t end, T alpha, const T* x, T* y,
                                  Carries<T>& carries) {
  chunks<T, K>(v, begin, end, alpha, x, y, carries);
}
template <class T, std::uint32_t K>
void chunks_generic(const View<T>& v, std::uint64_t begin, std::uint64_t end, T alpha, const T* x, T* y,
                    Carries<T>& carries) {
  chunks<T, K>(v, begin, end, alpha, x, y, carries);
}

template <class T>
auto chunks_kernel(std::uint32_t slots) {
  const bool v3 = use_v3();
  switch (slots) {
    case 1:
      return v3 ? chunks_v3<T, 1> : chunks_generic<T, 1>;
    case 2:
      return v3 ? chunks_v3<T, 2> : chunks_generic<T, 2>;
    case 4:
      return v3 ? chunks_v3<T, 4> : chunks_generic<T, 4>;
    default:
      return v3 ? chunks_v3<T, 8> : chunks_generic<T, 8>;
  }
}

/// Adds up the sums that the chunks of a shared row left, in chunk order: a tree over each 32, these in sequence. The
/// row starts in chunk c. Returns false, with nothing done, where it goes on in chunk `end`.
template <class T>
bool finish_shared_row(const View<T>& v, const Carries<T>& carries, std::uint64_t c, std::uint64_t end, T alpha, T* y) {
  const std::uint32_t row = v.row_base[c + 1];
  std::array<T, tree_width + 8> sums{carries.last[c]};
  std::uint32_t n = 1;
  T total = 0;
  for (bool more = true; more;) {
    if (++c == end) return false;
    if (n == tree_width) {
      total += tree_sum(sums.data(), n);
      n = 0;
    }
    sums[n++] = carries.first[c];
    more = (carries.shared[c] & goes_on_bit) != 0 && v.row_base[c + 1] == row;
  }
  total += tree_sum(sums.data(), n);
  y[row] = std::fma(alpha, total, y[row]);
  return true;
}

}  // namespace

template <class T>
void multiply_ccoo(const PartView& part, T alpha, const T* x, T beta, T* y, int threads) {
  const View<T> v = view<T>(part);
  const auto scale = [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t r = begin; r < end; ++r) y[r] = scaled(beta, y[r]);
  };
  if (v.chunks == 0) return scale(0, part.rows());
  // Kept by the thread from call to call: fresh memory costs page faults that a multiply notices.
  thread_local Carries<T> scratch;
  if (scratch.shared.size() < v.chunks)
    scratch = {Array<T>(v.chunks), Array<T>(v.chunks), Array<std::uint8_t>(v.chunks)};
  Carries<T>& carries = scratch;  // what the tasks' threads see is this thread's
  constexpr std::uint64_t least = 16, most = 256, tasks_per_thread = 16;
  const std::uint64_t chunks_per_task =
      std::clamp(v.chunks / (tasks_per_thread * static_cast<std::uint64_t>(thread_count(threads))), least, most);
  const auto kernel = chunks_kernel<T>(v.slots);
  parallel_pieces(v.chunks, chunks_per_task, threads, [&](std::uint64_t begin, std::uint64_t end) {
    // A row that two tasks share is scaled by the later one, and added to only after both.
    scale(begin == 0 ? 0 : v.row_base[begin], end == v.chunks ? part.rows() : v.row_base[end]);
    kernel(v, begin, end, alpha, x, y, carries);
    for (std::uint64_t c = begin; c < end; ++c)
      if ((carries.shared[c] & starts_bit) != 0) finish_shared_row(v, carries, c, end, alpha, y);
  });
  // What is left are rows that tasks share: each is the last that its first task starts.
  for (std::uint64_t end = chunks_per_task; end < v.chunks; end += chunks_per_task) {
    std::uint64_t c = end - 1;
    if ((carries.shared[c] & goes_on_bit) == 0) continue;
    while (c > end - chunks_per_task && (carries.shared[c] & starts_bit) == 0) --c;
    if ((carries.shared[c] & starts_bit) != 0) finish_shared_row(v, carries, c, v.chunks, alpha, y);
  }
}
template void multiply_ccoo(const PartView&, double, const double*, double, double*, int);
template void multiply_ccoo(const PartView&, float, const float*, float, float*, int);

}  // namespace spmvpack::host_loader::layouts
