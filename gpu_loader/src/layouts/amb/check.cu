// amb: the structure check on the device. What stored_zeros says is known to the host alone.

#include <array>

#include "kernels/checks.cuh"
#include "layouts/amb/kernels.hpp"
#include "spmvpack/container/layouts/amb_check.hpp"

namespace spmvpack::gpu_loader::layouts::amb_kernels {
namespace {

using namespace spmvpack::layouts::amb;

constexpr std::uint32_t bad_totals = 1U << 5;
constexpr std::array<std::string_view, 6> names{
    {"cl or cs: a chunk's segment is out of range, or the chunks do not fill the steps in order",
     "row_idx, shared_rows or empty_rows: a row or partial sum is out of range, missing, or there twice",
     "shared_rows or empty_rows: rows fall, a row has one partial sum, or its segments do not rise",
     "col_idx: a block leaves its segment, columns of entries do not rise, or a chunk has steps without a block",
     "values: padding with a value, or a block without an entry",
     "the entries are not as many as the part table says"}};

template <class A>
__global__ void check_chunks_kernel(Chunks<A> v, Sizes n, std::uint32_t* errors) {
  std::uint32_t found = first_item() == 0 ? check_steps(v) : sound;
  for (std::uint64_t c = first_item(); c < v.chunks; c += stride()) found |= check_chunk(v, n, c);
  if (found != 0) atomicOr(errors, found & violation_kinds);
}

/// `segments`: of each partial sum. All 0 before.
template <class A>
__global__ void check_targets_kernel(Chunks<A> v, Sizes n, Marks seen, std::uint32_t* segments, std::uint32_t* errors) {
  const auto claim = [&](std::uint32_t i, std::uint32_t segment) { return atomicExch(segments + i, segment); };
  std::uint32_t found = 0;
  for (std::uint64_t i = first_item(); i < v.chunks * v.chunk_rows; i += stride())
    found |= check_target(v, n, i, seen, claim);
  if (found != 0) atomicOr(errors, found & violation_kinds);
}

/// After check_targets_kernel.
template <class A>
__global__ void check_rows_kernel(Chunks<A> v, Sizes n, Marks seen, const std::uint32_t* segments,
                                  std::uint32_t* errors) {
  std::uint32_t found = 0;
  for (std::uint64_t i = first_item(); i < v.shared; i += stride()) found |= check_shared(v, n, i, segments, seen);
  for (std::uint64_t i = first_item(); i < v.empty; i += stride()) found |= check_empty(v, n, i, seen);
  if (found != 0) atomicOr(errors, found & violation_kinds);
}

/// After both.
__global__ void check_marks_kernel(std::uint64_t rows, const std::uint32_t* seen, std::uint32_t* errors) {
  for (std::uint64_t r = first_item(); r < rows; r += stride())
    if ((seen[r / 32] >> r % 32 & 1U) == 0) atomicOr(errors, row_nowhere & violation_kinds);
}

/// A thread per lane; the first lane of a chunk also looks at its last step. With `zeros`, blocks may be filled with
/// entries that the host alone knows.
template <class A>
__global__ void check_lanes_kernel(Chunks<A> v, Sizes n, bool zeros, std::uint32_t* errors,
                                   unsigned long long* entries) {
  if (*errors != 0) return;
  const auto is_filled = [&](std::uint64_t slot) {
    bits_of<A> bits = 0;
    memcpy(&bits, v.values + slot, sizeof bits);
    return bits != 0;
  };
  std::uint32_t found = 0;
  unsigned long long count = 0;
  for (std::uint64_t i = first_item(); i < v.chunks * v.chunk_rows; i += stride()) {
    const std::uint64_t chunk = i / v.chunk_rows, lane = i % v.chunk_rows;
    const LaneCheck of_lane = check_lane(v, n, chunk, lane, is_filled, !zeros);
    found |= of_lane.found;
    count += of_lane.entries;
    if (lane == 0) found |= check_length(v, chunk);
  }
  if (found != 0) atomicOr(errors, found & violation_kinds);
  if (count != 0) atomicAdd(entries, count);
}

std::uint64_t row_words(std::uint64_t rows) { return div_up(rows, 32); }

}  // namespace

const std::span<const std::string_view> check_names{names};

std::uint64_t check_scratch(const PartInfo& part) { return row_words(part.rows.count) + shared_of(part); }

void check(const PartView& part, std::uint32_t* errors, std::uint32_t* scratch, Stream stream) {
  auto* const entries = reinterpret_cast<unsigned long long*>(errors + 2);
  const std::uint64_t zeros = stored_zeros(part);
  dispatch(part.info().value_type, [&]<class A>(A) {
    const Chunks<A> v = view<A>(part);
    const Sizes n = sizes_of(part);
    const std::uint64_t lanes = v.chunks * v.chunk_rows;
    const Marks seen{scratch};
    std::uint32_t* const segments = scratch + row_words(n.rows);
    launch_check(check_chunks_kernel<A>, v.chunks + 1, stream, v, n, errors);
    launch_check(check_targets_kernel<A>, lanes + 1, stream, v, n, seen, segments, errors);
    launch_check(check_rows_kernel<A>, v.shared + v.empty + 1, stream, v, n, seen, segments, errors);
    launch_check(check_marks_kernel, n.rows + 1, stream, n.rows, scratch, errors);
    launch_check(check_lanes_kernel<A>, lanes + 1, stream, v, n, zeros != 0, errors, entries);
  });
  launch(check_count_kernel, 1, 1, stream, entries, part.info().nnz - zeros, bad_totals, errors);
}

}  // namespace spmvpack::gpu_loader::layouts::amb_kernels
