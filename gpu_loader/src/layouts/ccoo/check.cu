// The container's check() of ccoo, on the device. Before every read, it makes sure that the read stays inside its
// section: a chunk with a wrong header or position is reported, and its blob is not read.

#include "kernels/launch.cuh"
#include "kernels/reduce.cuh"
#include "layouts/ccoo/check.hpp"
#include "spmvpack/container/layouts/ccoo.hpp"

namespace spmvpack::gpu_loader::layouts::ccoo_kernels {
namespace {

using namespace spmvpack::layouts::ccoo;

enum Bit : std::uint32_t {
  bad_encoding = 1,
  bad_offset = 2,
  bad_row = 4,
  bad_column = 8,
  bad_row_bytes = 16,
  bad_columns = 32,
  bad_padding = 64,
  bad_id = 128,
  bad_order = 256,
  bad_continues = 512,
  bad_count = 1024,
};

/// The shape of a chunk's blob according to its header.
template <class T>
struct Part {
  View<T> v;
  std::uint64_t blob_bytes, lut_size, rows, cols, nnz;

  __device__ Encoding encoding(std::uint64_t c) const { return {v.encoding[c]}; }
  __device__ std::uint32_t lanes(std::uint64_t c) const { return encoding(c).groups() * group_lanes(v.lanes); }
  __device__ BlobLayout layout(std::uint64_t c) const { return blob_layout(encoding(c), lanes(c), v.slots, sizeof(T)); }
  __device__ bool encoding_is_sane(std::uint64_t c) const { return encoding(c).valid() && lanes(c) <= v.lanes; }
  /// Whether the chunk's blob can be read: aligned for its columns and inside the section.
  __device__ bool readable(std::uint64_t c) const {
    if (!encoding_is_sane(c)) return false;
    const std::uint64_t begin = v.blob_offset[c];
    return begin % 8 == 0 && begin <= blob_bytes && layout(c).end <= blob_bytes - begin;
  }
  __device__ const std::uint8_t* blob(std::uint64_t c) const {
    return reinterpret_cast<const std::uint8_t*>(v.blob) + v.blob_offset[c];
  }
  __device__ std::uint64_t row(std::uint64_t c, std::uint32_t lane) const {
    return v.row_base[c] + (encoding(c).one_row() ? std::uint64_t{0} : std::uint64_t{blob(c)[lane]});
  }
  __device__ std::uint32_t offset(std::uint64_t c, std::uint32_t slot) const {
    const std::uint8_t* const columns = blob(c) + layout(c).columns;
    switch (encoding(c).column_code()) {
      case 0:
        return columns[slot];
      case 1:
        return reinterpret_cast<const std::uint16_t*>(columns)[slot];
      default:
        return reinterpret_cast<const std::uint32_t*>(columns)[slot];
    }
  }
  __device__ bool padding(std::uint64_t c, std::uint32_t slot) const {
    return slot != 0 && offset(c, slot) == offset(c, slot - 1) &&
           row(c, slot / v.slots) == row(c, (slot - 1) / v.slots);
  }
};

/// Positions: each chunk's blob starts where the previous one ends, the first at 0, and the last ends with the section.
template <class T>
__device__ std::uint32_t check_place(const Part<T>& p, std::uint64_t c) {
  if (!p.encoding_is_sane(c)) return bad_encoding;
  const std::uint64_t begin = p.v.blob_offset[c], bytes = p.layout(c).end;
  if (begin > p.blob_bytes || bytes > p.blob_bytes - begin || (c == 0 && begin != 0)) return bad_offset;
  const std::uint64_t next = c + 1 < p.v.chunks ? p.v.blob_offset[c + 1] : p.blob_bytes;
  return begin + bytes == next ? 0 : bad_offset;
}

template <class T>
__device__ std::uint32_t check_slot(const Part<T>& p, std::uint64_t c, std::uint32_t slot, bool& is_entry) {
  std::uint32_t found = 0;
  const std::uint32_t k = p.v.slots, offset = p.offset(c, slot);
  const bool padding = p.padding(c, slot), lane_start = slot % k == 0;
  if (offset >= p.cols - p.v.col_base[c]) found |= bad_column;
  if (slot != 0 && p.row(c, slot / k) == p.row(c, (slot - 1) / k) && offset < p.offset(c, slot - 1))
    found |= bad_columns;
  const BlobLayout at = p.layout(c);
  const std::uint32_t size = p.encoding(c).lut() ? 1 : sizeof(T);
  const std::uint8_t* const value = p.blob(c) + at.values + slot * size;
  if (p.encoding(c).lut() && *value >= p.lut_size) found |= bad_id;
  if (padding) {
    if (slot % (group_lanes(p.v.lanes) * k) == 0) found |= bad_padding;
    for (std::uint32_t b = 0; b < size; ++b)
      if (value[b] != 0) found |= bad_padding;
  } else if (lane_start ? slot != 0 && p.padding(c, slot - k) : p.padding(c, slot - 1)) {
    found |= bad_padding;  // an entry after padding
  }
  is_entry = !padding;
  return found;
}

template <class T>
__device__ std::uint32_t check_order(const Part<T>& p, std::uint64_t c) {
  bool continues = false;
  std::uint32_t found = 0;
  if (c != 0) {
    if (!p.readable(c - 1)) return 0;  // reported there
    const std::uint32_t last_lane = p.lanes(c - 1) - 1, last_slot = p.lanes(c - 1) * p.v.slots - 1;
    const std::uint64_t before = p.row(c - 1, last_lane), here = p.row(c, 0);
    const std::uint64_t column_before = std::uint64_t{p.v.col_base[c - 1]} + p.offset(c - 1, last_slot);
    const std::uint64_t column = std::uint64_t{p.v.col_base[c]} + p.offset(c, 0);
    continues = here == before;
    if (here < before || (continues && column <= column_before)) found |= bad_order;
  }
  return p.encoding(c).continues() == continues ? found : found | bad_continues;
}

/// One warp per chunk.
template <class T>
__global__ void check_kernel(Part<T> p, std::uint32_t* errors, unsigned long long* entries) {
  const std::uint64_t warps = std::uint64_t{gridDim.x} * blockDim.x / 32;
  const unsigned lane = lane_id();
  std::uint32_t found = 0;
  unsigned long long count = 0;
  for (std::uint64_t c = (std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32; c < p.v.chunks; c += warps) {
    found |= check_place(p, c);
    if (p.v.row_base[c] >= p.rows) found |= bad_row;
    if (p.v.col_base[c] >= p.cols) found |= bad_column;
    if (!p.readable(c) || p.v.col_base[c] >= p.cols) continue;
    const std::uint32_t lanes = p.lanes(c);
    if (p.row(c, lanes - 1) >= p.rows) found |= bad_row;
    if (!p.encoding(c).one_row()) {
      if (p.blob(c)[0] != 0) found |= bad_row_bytes;
      for (std::uint32_t i = lane + 1; i < lanes; i += 32)
        if (p.blob(c)[i] < p.blob(c)[i - 1]) found |= bad_row_bytes;
    }
    bool at_base = false;
    for (std::uint32_t slot = lane; slot < lanes * p.v.slots; slot += 32) {
      bool is_entry = false;
      found |= check_slot(p, c, slot, is_entry);
      count += is_entry ? 1 : 0;
      at_base = at_base || p.offset(c, slot) == 0;
    }
    if (__any_sync(full_warp, static_cast<int>(at_base)) == 0) found |= bad_columns;
    if (lane == 0) found |= check_order(p, c);
  }
  if (found != 0) atomicOr(errors, found);
  if (count != 0) atomicAdd(entries, count);
}

__global__ void check_count_kernel(const unsigned long long* entries, std::uint64_t nnz, std::uint32_t* errors) {
  if (*entries != nnz) atomicOr(errors, bad_count);
}

}  // namespace

const std::array<std::string_view, 11> check_names{{
    "encoding: column offsets of a width that does not exist, or more groups than a chunk has",
    "blob_offset: a chunk does not start where the one before it ends, or ends past the blob",
    "row_base: a row is not below the part's rows",
    "col_base: a column is not below the part's columns",
    "blob: row bytes do not start at 0 or fall",
    "blob: columns fall within a row, or none is at the column baseline",
    "blob: an entry after padding, a group that starts with padding, or padding with a value",
    "blob: a value's id is not below the table's size",
    "blob: a chunk does not follow the one before it",
    "encoding: a chunk continues a row and does not say so, or says so and does not",
    "the entries are not as many as the part table says",
}};

void check(const PartView& part, std::uint32_t* errors, std::uint32_t* /*scratch*/, Stream stream) {
  auto* const entries = reinterpret_cast<unsigned long long*>(errors + 2);
  dispatch(part.info().value_type, [&]<class T>(T) {
    const Part<T> p{
        view<T>(part),  part.get<std::byte>("blob").size(), part.get<T>("lut").size(), part.rows(), part.cols(),
        part.info().nnz};
    // Without chunks, there may be no blob.
    if (p.v.chunks != 0)
      launch(check_kernel<T>, stride_blocks(p.v.chunks * 32, tuning::check_threads), tuning::check_threads, stream, p,
             errors, entries);
  });
  launch(check_count_kernel, 1, 1, stream, entries, part.info().nnz, errors);
}

}  // namespace spmvpack::gpu_loader::layouts::ccoo_kernels
