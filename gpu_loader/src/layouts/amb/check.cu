// amb: the structure check on the device. What stored_zeros says is known to the host alone.

#include <array>

#include "kernels/launch.cuh"
#include "layouts/amb/kernels.hpp"

namespace spmvpack::gpu_loader::layouts::amb_kernels {
namespace {

using namespace spmvpack::layouts::amb;

enum Bit : std::uint32_t {
  bad_chunks = 1,
  bad_rows = 2,
  bad_order = 4,
  bad_columns = 8,
  bad_values = 16,
  bad_totals = 32
};
constexpr std::array<std::string_view, 6> names{
    {"cl or cs: a chunk's segment is out of range, or the chunks do not fill the steps in order",
     "row_idx, shared_rows or empty_rows: a row or partial sum is out of range, missing, or there twice",
     "shared_rows or empty_rows: rows fall, a row has one partial sum, or its segments do not rise",
     "col_idx: a block leaves its segment, columns of entries do not rise, or a chunk has steps without a block",
     "values: padding with a value, or a block without an entry",
     "the entries are not as many as the part table says"}};

__device__ std::uint64_t first_item() { return std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; }
__device__ std::uint64_t stride() { return std::uint64_t{gridDim.x} * blockDim.x; }

template <class A>
__global__ void check_chunks_kernel(Chunks<A> c, std::uint64_t segments, std::uint32_t* errors) {
  bool found = first_item() == 0 && c.chunks == 0 && c.steps != 0;
  for (std::uint64_t i = first_item(); i < c.chunks; i += stride()) {
    const std::uint64_t end = std::uint64_t{c.cs[i]} + ChunkLength{c.cl[i]}.steps();
    found = found || ChunkLength{c.cl[i]}.segment() >= segments || (i == 0 && c.cs[i] != 0) ||
            end != (i + 1 < c.chunks ? c.cs[i + 1] : c.steps);
  }
  if (found) atomicOr(errors, bad_chunks);
}

/// `seen`: a bit for each row. `segment`: for each partial sum, 1 more than its segment. All 0 before.
template <class A>
__global__ void check_rows_kernel(Chunks<A> c, std::uint64_t rows, std::uint32_t* seen, std::uint32_t* segment,
                                  std::uint32_t* errors) {
  bool found = false;
  const auto place = [&](std::uint32_t row) {
    const std::uint32_t mask = 1U << row % 32;
    if (row >= rows || (atomicOr(seen + row / 32, mask) & mask) != 0) found = true;
  };
  for (std::uint64_t i = first_item(); i < c.chunks * c.chunk_rows; i += stride()) {
    const LaneRow to{c.row_idx[i]};
    if (to.is_none()) continue;
    if (!to.is_shared())
      place(to.index());
    else if (to.index() >= c.shared ||
             atomicExch(segment + to.index(), ChunkLength{c.cl[i / c.chunk_rows]}.segment() + 1) != 0)
      found = true;
  }
  for (std::uint64_t i = first_item(); i < c.shared; i += stride())
    if (i == 0 || c.shared_rows[i] != c.shared_rows[i - 1]) place(c.shared_rows[i]);
  for (std::uint64_t i = first_item(); i < c.empty; i += stride()) place(c.empty_rows[i]);
  if (found) atomicOr(errors, bad_rows);
}

/// After check_rows_kernel: nothing is missing, and the order is right.
template <class A>
__global__ void check_order_kernel(Chunks<A> c, std::uint64_t rows, const std::uint32_t* seen,
                                   const std::uint32_t* segment, std::uint32_t* errors) {
  std::uint32_t found = 0;
  for (std::uint64_t r = first_item(); r < rows; r += stride())
    if ((seen[r / 32] >> r % 32 & 1U) == 0) found |= bad_rows;
  for (std::uint64_t i = first_item(); i < c.shared; i += stride()) {
    if (segment[i] == 0) found |= bad_rows;
    const bool goes_on = i != 0 && c.shared_rows[i] == c.shared_rows[i - 1];
    if (i != 0 && c.shared_rows[i] < c.shared_rows[i - 1]) found |= bad_order;
    if (goes_on && segment[i] <= segment[i - 1]) found |= bad_order;
    if (!goes_on && !(i + 1 < c.shared && c.shared_rows[i] == c.shared_rows[i + 1])) found |= bad_order;
  }
  for (std::uint64_t i = first_item(); i < c.empty; i += stride())
    if (i != 0 && c.empty_rows[i] <= c.empty_rows[i - 1]) found |= bad_order;
  if (found != 0) atomicOr(errors, found);
}

template <class A>
__device__ bool is_filled(const A* value) {
  bits_of<A> bits = 0;
  memcpy(&bits, value, sizeof bits);
  return bits != 0;
}

/// A thread per lane; the first lane of a chunk also looks at its last step. With `zeros`, blocks may be filled with
/// entries that the host alone knows.
template <class A>
__global__ void check_lanes_kernel(Chunks<A> c, std::uint64_t cols, bool zeros, std::uint32_t* errors,
                                   unsigned long long* entries) {
  if ((*errors & bad_chunks) != 0) return;
  std::uint32_t found = 0;
  unsigned long long count = 0;
  for (std::uint64_t i = first_item(); i < c.chunks * c.chunk_rows; i += stride()) {
    const std::uint64_t chunk = i / c.chunk_rows, lane = i % c.chunk_rows;
    const ChunkLength length{c.cl[chunk]};
    const std::uint64_t begin = std::uint64_t{length.segment()} * c.segment_cols;
    const std::uint64_t segment_cols = cols - begin < c.segment_cols ? cols - begin : c.segment_cols;
    const bool none = LaneRow{c.row_idx[i]}.is_none();
    std::uint32_t next = 0, last = 0;  // the column that a further block, a further entry reaches at least
    bool ended = none;
    for (std::uint32_t step = 0; step < length.steps(); ++step) {
      const std::uint64_t at = std::uint64_t{c.cs[chunk]} + step;
      const std::uint32_t column = c.col_idx[at * c.chunk_rows + lane];
      ended = ended || column < next;
      if (std::uint64_t{column} + c.block > segment_cols) found |= bad_columns;
      if (ended && column + 1 != (none ? 1 : next)) found |= bad_columns;
      next = column + 1;
      bool filled = false;
      for (std::uint32_t k = 0; k < c.block; ++k) {
        const bool entry = is_filled(c.values + (at * c.block + k) * c.chunk_rows + lane) || (c.block == 1 && !ended);
        if (!entry) continue;
        filled = true;
        ++count;
        if (column + k < last) found |= bad_columns;
        last = column + k + 1;
      }
      if (ended ? filled : !filled && !zeros) found |= bad_values;
    }
    if (lane != 0) continue;
    // A chunk of n steps has a lane whose last block is the n-th.
    bool full = false;
    for (std::uint32_t l = 0; l < c.chunk_rows && !full; ++l) {
      const std::uint16_t* const column =
          c.col_idx + (std::uint64_t{c.cs[chunk]} + length.steps() - 1) * c.chunk_rows + l;
      const bool has_row = !LaneRow{c.row_idx[chunk * c.chunk_rows + l]}.is_none();
      full = has_row && (length.steps() == 1 || *column > *(column - c.chunk_rows));
    }
    if (!full) found |= bad_columns;
  }
  if (found != 0) atomicOr(errors, found);
  if (count != 0) atomicAdd(entries, count);
}

__global__ void check_totals_kernel(const unsigned long long* entries, std::uint64_t zeros, std::uint64_t nnz,
                                    std::uint32_t* errors) {
  if (*entries + zeros != nnz) atomicOr(errors, bad_totals);
}

std::uint64_t row_words(std::uint64_t rows) { return div_up(rows, 32); }

}  // namespace

const std::span<const std::string_view> check_names{names};

std::uint64_t check_scratch(const PartInfo& part) { return row_words(part.rows.count) + part.params[param_shared]; }

void check(const PartView& part, std::uint32_t* errors, std::uint32_t* scratch, Stream stream) {
  auto* const entries = reinterpret_cast<unsigned long long*>(errors + 2);
  const std::uint64_t zeros = stored_zeros(part);
  dispatch(part.info().value_type, [&]<class A>(A) {
    const Chunks<A> c = chunks_of<A>(part);
    const auto over = [&](std::uint64_t work, auto kernel, auto... arguments) {
      launch(kernel, stride_blocks(work + 1, tuning::check_threads), tuning::check_threads, stream, arguments...);
    };
    const std::uint64_t lanes = c.chunks * c.chunk_rows, rows = part.rows();
    std::uint32_t* const segment = scratch + row_words(rows);
    over(c.chunks, check_chunks_kernel<A>, c, div_up(part.cols(), c.segment_cols), errors);
    over(lanes + c.shared + c.empty, check_rows_kernel<A>, c, rows, scratch, segment, errors);
    over(rows + c.shared + c.empty, check_order_kernel<A>, c, rows, scratch, segment, errors);
    over(lanes, check_lanes_kernel<A>, c, part.cols(), zeros != 0, errors, entries);
  });
  launch(check_totals_kernel, 1, 1, stream, entries, zeros, part.info().nnz, errors);
}

}  // namespace spmvpack::gpu_loader::layouts::amb_kernels
