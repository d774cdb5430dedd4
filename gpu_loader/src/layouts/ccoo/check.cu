// The container's check() of ccoo, on the device.

#include "kernels/checks.cuh"
#include "kernels/reduce.cuh"
#include "layouts/ccoo/check.hpp"
#include "spmvpack/container/layouts/ccoo_check.hpp"

namespace spmvpack::gpu_loader::layouts::ccoo_kernels {
namespace {

using namespace spmvpack::layouts::ccoo;

constexpr std::uint32_t bad_count = 1U << 10;

template <class T>
__global__ void check_places_kernel(View<T> v, Sizes n, std::uint32_t* errors) {
  std::uint32_t found = first_item() == 0 ? check_end(v, n) : sound;
  for (std::uint64_t c = first_item(); c < v.chunks; c += stride()) found |= check_place(v, n, c);
  if (found != 0) atomicOr(errors, found & violation_kinds);
}

/// One warp per chunk, if all are in their places: that none of them is read otherwise keeps reads inside the blob.
template <class T>
__global__ void check_kernel(View<T> v, Sizes n, std::uint32_t* errors, unsigned long long* entries) {
  if (__any_sync(full_warp, static_cast<int>(*errors != 0)) != 0) return;  // all lanes, or none
  const std::uint64_t warps = stride() / 32;
  const unsigned lane = lane_id();
  std::uint32_t found = 0;
  unsigned long long count = 0;
  for (std::uint64_t c = first_item() / 32; c < v.chunks; c += warps) {
    const std::uint32_t of_bases = check_bases(v, n, c);
    found |= of_bases;
    if (of_bases != 0) continue;
    const std::uint32_t lanes = stored_lanes(v, c);
    const Blob blob = Blob::of(v, c);
    if (!blob.encoding.one_row())
      for (std::uint32_t i = lane; i < lanes; i += 32) found |= check_row_byte(v, n, c, i);
    bool at_base = false;
    for (std::uint32_t slot = lane; slot < lanes * v.slots; slot += 32) {
      found |= check_slot(v, n, c, blob, blob, slot);
      count += is_padding(blob, v.slots, slot) ? 0 : 1;
      at_base = at_base || blob.offset(slot) == 0;
    }
    if (__any_sync(full_warp, static_cast<int>(at_base)) == 0) found |= base_of_no_column;
    if (lane == 0)
      found |= check_order(v, c, c == 0 ? Ends{} : Ends::of(v, c - 1, Blob::of(v, c - 1)), Ends::of(v, c, blob));
  }
  if (found != 0) atomicOr(errors, found & violation_kinds);
  if (count != 0) atomicAdd(entries, count);
}

}  // namespace

const std::array<std::string_view, 11> check_names{{
    "encoding: column offsets of a width that does not exist, raw values beside a single one, or more groups than a "
    "chunk "
    "has",
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
    const View<T> v = view<T>(part);
    const Sizes n = sizes_of<T>(part);
    launch_check(check_places_kernel<T>, v.chunks + 1, stream, v, n, errors);
    // Without chunks, there may be no blob.
    if (v.chunks != 0) launch_check(check_kernel<T>, v.chunks * 32, stream, v, n, errors, entries);
  });
  launch(check_count_kernel, 1, 1, stream, entries, part.info().nnz, bad_count, errors);
}

}  // namespace spmvpack::gpu_loader::layouts::ccoo_kernels
