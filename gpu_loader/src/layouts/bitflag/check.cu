// The container's check() of bitflag, on the device. Before every read, it makes sure that the read stays inside its
// section: a chunk whose header is wrong is reported, and its bytes are not read.

#include "kernels/launch.cuh"
#include "kernels/reduce.cuh"
#include "layouts/bitflag/kernels.hpp"
#include "spmvpack/container/layouts/bitflag.hpp"

namespace spmvpack::gpu_loader::layouts::bitflag_kernels {
namespace {

using namespace spmvpack::layouts::bitflag;

enum Bit : std::uint32_t {
  bad_chunk = 1,
  bad_rows = 2,
  bad_row_starts = 4,
  bad_columns = 8,
  bad_id = 16,
  bad_hot = 32,
  bad_segments = 64,
  bad_count = 128,
};

template <class T>
struct Part {
  View<T> v;
  std::uint64_t units, table, continued, rows, cols, nnz;  ///< rows: of all segments

  /// Whether the chunk's header makes sense, and what it describes is its own part of the stream.
  __device__ bool readable(std::uint64_t c) const {
    const Chunk chunk = v.chunks[c];
    if (!chunk.info.is_sound(v.source) || (chunk.info.entries() == 0 && chunk.base != 0)) return false;
    const std::uint64_t end = std::uint64_t{chunk.place} + chunk_layout(chunk.info, v.source, v.value_bytes).end / unit;
    return end == v.chunks[c + 1].place && end <= units;
  }
};

/// The chunk's own rows, and where it is.
template <class T>
__device__ std::uint32_t check_header(const Part<T>& p, std::uint64_t c) {
  std::uint32_t found = 0;
  const Chunk chunk = p.v.chunks[c], next = p.v.chunks[c + 1];
  if (!p.readable(c) || (c == 0 && chunk.place != 0)) found |= bad_chunk;
  if (chunk.row > p.rows || next.row > p.rows || (c == 0 && (chunk.row != 0 || chunk.info.continues())))
    found |= bad_rows;
  const std::uint32_t own = next.begin() - chunk.begin(), starts = chunk.info.starts();
  if (next.begin() < chunk.begin() || own > max_chunk_rows || starts > own) found |= bad_rows;
  if (chunk.info.row_bytes() == 0 ? starts != 0 && starts != own : starts == own) found |= bad_rows;
  if (next.info.continues() && chunk.info.entries() == 0) found |= bad_rows;
  if (c + 1 == p.v.chunk_count &&
      (next.info.bits != 0 || next.base != 0 || next.row != p.rows || next.place != p.units))
    found |= bad_chunk;
  return found;
}

/// The entry and the rows of a readable chunk, whose header is right.
template <class T>
__device__ std::uint32_t check_entry(const Part<T>& p, const ChunkView& chunk, std::uint32_t e, std::uint32_t starts) {
  std::uint32_t found = 0;
  const std::uint32_t column = chunk.column(e);
  if (column < chunk.chunk.base || column >= p.cols) found |= bad_columns;
  if (p.v.segment_count > 1 && column - chunk.chunk.base >= p.v.segment_columns) found |= bad_columns;
  if (e != 0 && !chunk.starts_row(e) && column <= chunk.column(e - 1)) found |= bad_columns;
  if (e == 0 && chunk.starts_row(0) == chunk.chunk.info.continues()) found |= bad_row_starts;
  if (!chunk.has_value(e, p.table)) found |= bad_id;
  if (starts > chunk.chunk.info.starts()) found |= bad_row_starts;
  return found;
}

/// Nothing beyond the last entry.
__device__ inline std::uint32_t check_unused(const ChunkView& chunk, unsigned lane) {
  const Info info = chunk.chunk.info;
  bool clear = true;
  for (std::uint32_t e = info.entries() + lane; e < chunk_entries; e += 32) clear = clear && !chunk.starts_row(e);
  for (std::uint32_t e = info.entries() + lane; e < chunk.chunk_lanes * lane_entries; e += 32) {
    clear = clear && chunk.word(e) == 0;
    for (std::uint32_t b = 0; b < chunk.value_bytes; ++b)
      clear = clear && chunk.bytes[chunk.at.values + chunk.value_slot(e) * chunk.value_bytes + b] == std::byte{0};
  }
  if (chunk.at.exponents != chunk.at.rows) {
    const std::uint32_t slots = chunk.chunk_lanes * lane_entries;
    for (std::uint32_t e = info.entries() + lane; e < slots; e += 32) clear = clear && chunk.more_exponent(e) == 0;
    for (std::uint32_t b = chunk.at.exponents + slots * info.exponent_bits() / 8 + lane; b < chunk.at.rows; b += 32)
      clear = clear && chunk.bytes[b] == std::byte{0};
  }
  for (std::uint32_t b = chunk.at.rows + info.starts() * info.row_bytes() + lane; b < chunk.at.end; b += 32)
    clear = clear && chunk.bytes[b] == std::byte{0};
  return clear ? 0 : bad_chunk;
}

/// What a chunk continues is the last row of the one before, and its columns go on.
template <class T>
__device__ std::uint32_t check_continuation(const Part<T>& p, std::uint64_t c, const ChunkView& chunk) {
  if (!p.readable(c - 1)) return 0;  // reported there
  const ChunkView before = ChunkView::of(p.v, c - 1);
  const Info info = before.chunk.info;
  if (info.entries() == 0) return bad_rows;
  const std::uint32_t row = info.starts() == 0 ? before.chunk.row : before.start_row(info.starts() - 1);
  return (chunk.chunk.row == row ? 0U : bad_rows) |
         (chunk.column(0) > before.column(info.entries() - 1) ? 0U : bad_columns);
}

/// One warp per chunk.
template <class T>
__global__ void check_kernel(Part<T> p, std::uint32_t* errors, unsigned long long* entries_in_all) {
  const std::uint64_t warps = std::uint64_t{gridDim.x} * blockDim.x / 32;
  const unsigned lane = lane_id();
  std::uint32_t found = 0;
  unsigned long long entries = 0;
  std::uint32_t continued = 0;
  for (std::uint64_t c = (std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32; c < p.v.chunk_count; c += warps) {
    const std::uint32_t of_header = check_header(p, c);
    found |= of_header;
    if (of_header != 0) continue;
    const ChunkView chunk = ChunkView::of(p.v, c);
    const Info info = chunk.chunk.info;
    if (p.v.segment_count > 1 && info.entries() != 0 &&
        (chunk.chunk.base != chunk.chunk.row / p.v.rows * p.v.segment_columns || info.column_shift() > 1))
      found |= bad_columns;
    if (lane == 0) {
      entries += info.entries();
      continued += info.continues() && c % p.v.tile_chunks == 0 ? 1 : 0;
    }
    if (info.entries() == 0) continue;
    std::uint32_t starts = 0;
    for (std::uint32_t begin = 0; begin < info.entries(); begin += 32) {
      const std::uint32_t e = begin + lane;
      const bool is_start = e < info.entries() && chunk.starts_row(e);
      starts += static_cast<std::uint32_t>(__popc(__ballot_sync(full_warp, is_start)));
      if (e < info.entries()) found |= check_entry(p, chunk, e, starts);
    }
    if (starts != info.starts()) found |= bad_row_starts;
    for (std::uint32_t k = lane; k < info.starts(); k += 32) {
      const std::uint32_t row = chunk.start_row(k);
      if (row < chunk.chunk.begin() || row >= p.v.chunks[c + 1].begin() || (k != 0 && row <= chunk.start_row(k - 1)))
        found |= bad_rows;
    }
    found |= check_unused(chunk, lane);
    if (info.continues() && lane == 0) found |= check_continuation(p, c, chunk);
  }
  if (found != 0) atomicOr(errors, found);
  if (entries != 0) atomicAdd(entries_in_all, entries);
  if (continued != 0) atomicAdd(errors + 1, continued);
}

template <class T>
__global__ void check_hot_kernel(Part<T> p, std::uint32_t* errors) {
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < p.v.hot_count; i += gridDim.x * blockDim.x)
    if (p.v.hot[i] >= p.cols || (i != 0 && p.v.hot[i] <= p.v.hot[i - 1])) atomicOr(errors, bad_hot);
}

/// Each segment's tiles begin with its rows.
template <class T>
__global__ void check_segments_kernel(Part<T> p, std::uint32_t* errors) {
  const std::uint64_t tiles = p.v.chunk_count / p.v.tile_chunks;
  for (std::uint32_t s = blockIdx.x * blockDim.x + threadIdx.x; s <= p.v.segment_count; s += gridDim.x * blockDim.x) {
    const std::uint64_t tile = p.v.segments[s];
    bool ok = tile <= tiles && (s == 0 ? tile == 0 : tile >= p.v.segments[s - 1]);
    if (s == p.v.segment_count) ok = ok && tile == tiles;
    if (ok) {
      const Chunk first = p.v.chunks[tile * p.v.tile_chunks];
      ok = first.begin() == s * p.v.rows && !first.info.continues();
    }
    if (!ok) atomicOr(errors, bad_segments);
  }
}

template <class T>
__global__ void check_totals_kernel(Part<T> p, const unsigned long long* entries, std::uint32_t* errors) {
  if (p.v.chunk_count == 0) {
    const Chunk end = p.v.chunks[0];
    if (end.info.bits != 0 || end.base != 0 || end.place != p.units || end.row != p.rows) *errors |= bad_chunk;
    if (p.rows != 0) *errors |= bad_rows;
  }
  // With other errors, chunks may not have been counted.
  if (*errors == 0 && (*entries != p.nnz || errors[1] != p.continued)) *errors = bad_count;
}

}  // namespace

const std::array<std::string_view, 8> check_names{{
    "chunks: a chunk's numbers make no sense, its bytes begin elsewhere, or hold more than its entries",
    "chunks: a chunk's rows are out of range or do not rise, or it does not continue the one before",
    "stream: rows start elsewhere than a chunk's numbers say",
    "stream: columns do not rise within a row, or one is not below the part's columns",
    "stream: a value's id is not below the table's size, or its exponent above 22",
    "hot: a column is not below the part's columns, or columns do not rise",
    "segments: a segment does not begin with a tile",
    "the entries, or the tiles that begin inside a row, are not as many as the part table says",
}};

void check(const PartView& part, std::uint32_t* errors, std::uint32_t* /*scratch*/, Stream stream) {
  auto* const entries = reinterpret_cast<unsigned long long*>(errors + 2);
  const auto& p = part.info().params;
  dispatch(part.info().value_type, [&]<class T>(T) {
    const Part<T> all{view<T>(part), p[param_stream], p[param_values], p[param_continued], segment_rows(part.info()),
                      part.cols(),   part.info().nnz};
    launch(check_hot_kernel<T>, stride_blocks(p[param_hot] + 1, tuning::check_threads), tuning::check_threads, stream,
           all, errors);
    if (all.v.segment_count > 1)
      launch(check_segments_kernel<T>, stride_blocks(all.v.segment_count + 1, tuning::check_threads),
             tuning::check_threads, stream, all, errors);
    if (all.v.chunk_count != 0)
      launch(check_kernel<T>, stride_blocks(all.v.chunk_count * 32, tuning::check_threads), tuning::check_threads,
             stream, all, errors, entries);
    launch(check_totals_kernel<T>, 1, 1, stream, all, entries, errors);
  });
}

}  // namespace spmvpack::gpu_loader::layouts::bitflag_kernels
