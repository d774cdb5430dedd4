// sjds: the structure check on the device.

#include <array>

#include "kernels/checks.cuh"
#include "layouts/sjds/kernels.hpp"
#include "spmvpack/container/layouts/sjds_check.hpp"

namespace spmvpack::gpu_loader::layouts::sjds_kernels {
namespace {

using namespace spmvpack::layouts::sjds;

constexpr std::uint32_t bad_totals = 1U << 6;
constexpr std::array<std::string_view, 7> names{
    {"windows: slices that are not those of their window, or rows in no slice that are not said",
     "slices: a slice that begins elsewhere, is in another window than its rows, or is no piece of a row",
     "stream: a tail that is none, or bytes of no entry that are not 0", "stream: a row out of range, or there twice",
     "stream: a column out of range, or columns that do not rise", "stream: a code out of range",
     "the entries are not as many as the part table says"}};

template <class A>
__global__ void check_places_kernel(View<A> v, Sizes n, std::uint32_t* errors) {
  std::uint32_t found = sound;
  for (std::uint64_t w = first_item(); w <= v.window_count; w += stride()) found |= check_window(v, w);
  for (std::uint64_t s = first_item(); s < v.slice_count; s += stride()) found |= check_slice(v, n, s);
  if (first_item() == 0 && v.slice_count == 0) found |= check_end(v, n);
  if (found != 0) atomicOr(errors, found & violation_kinds);
}

/// `seen`: of the rows.
template <class A>
__global__ void check_entries_kernel(View<A> v, Sizes n, Marks seen, std::uint32_t* errors,
                                     unsigned long long* entries) {
  if (*errors != 0) return;
  std::uint32_t found = sound;
  unsigned long long count = 0;
  for (std::uint64_t s = first_item(); s < v.slice_count; s += stride()) {
    found |= check_entries(v, n, s, seen);
    count += v.slices[s].entries();
  }
  if (found != 0) atomicOr(errors, found & violation_kinds);
  if (count != 0) atomicAdd(entries, count);
}

}  // namespace

const std::span<const std::string_view> check_names{names};

std::uint64_t check_scratch(const PartInfo& part) { return div_up(part.rows.count, 32); }

void check(const PartView& part, std::uint32_t* errors, std::uint32_t* scratch, Stream stream) {
  auto* const entries = reinterpret_cast<unsigned long long*>(errors + 2);
  dispatch(part.info().value_type, [&]<class A>(A) {
    const View<A> v = view<A>(part);
    const std::uint64_t places = v.slice_count + v.window_count + 1;
    launch_check(check_places_kernel<A>, places, stream, v, sizes_of(part), errors);
    launch_check(check_entries_kernel<A>, places, stream, v, sizes_of(part), Marks{scratch}, errors, entries);
  });
  launch(check_count_kernel, 1, 1, stream, entries, part.info().nnz, bad_totals, errors);
}

}  // namespace spmvpack::gpu_loader::layouts::sjds_kernels
