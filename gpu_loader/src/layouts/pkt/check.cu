// pkt: the structure check on the device.

#include <array>

#include "kernels/checks.cuh"
#include "layouts/pkt/kernels.hpp"
#include "spmvpack/container/layouts/pkt_check.hpp"

namespace spmvpack::gpu_loader::layouts::pkt_kernels {
namespace {

using namespace spmvpack::layouts::pkt;

constexpr std::uint32_t bad_totals = 1U << 4;
constexpr std::array<std::string_view, 5> names{
    {"packet_ptr or step_ptr: a packet without rows or with too many, or not one after the other up to the end",
     "rows: a row is out of range or there twice, or does not rise in its packet",
     "local_idx: a row or column outside of its packet, entries that do not rise, a row of two threads, an entry after "
     "padding, or a last step without one",
     "values: padding with a value", "the entries are not as many as the part table says"}};

template <class A>
__global__ void check_packets_kernel(View<A> v, std::uint64_t rows, std::uint32_t* errors) {
  std::uint32_t found = first_item() == 0 ? check_end(v, rows) : sound;
  for (std::uint64_t p = first_item(); p < v.packets; p += stride()) found |= check_packet(v, p);
  if (found != 0) atomicOr(errors, found & violation_kinds);
}

/// A block for each packet, whose threads take its rows, then the threads that it was dealt to. After
/// check_packets_kernel.
template <class A>
__global__ void check_entries_kernel(View<A> v, std::uint64_t rows, Marks seen, Marks taken, std::uint32_t* errors,
                                     unsigned long long* entries) {
  if ((*errors & wrong_ends & violation_kinds) != 0) return;
  std::uint32_t found = 0;
  unsigned long long count = 0;
  for (std::uint64_t p = blockIdx.x; p < v.packets; p += gridDim.x) {
    for (std::uint64_t i = v.packet_ptr[p] + std::uint64_t{threadIdx.x}; i < v.packet_ptr[p + 1]; i += blockDim.x)
      found |= check_row(v, rows, p, i, seen);
    for (std::uint64_t t = threadIdx.x; t < v.threads; t += blockDim.x) {
      const ThreadCheck of_thread = check_thread(v, p, t, taken);
      found |= of_thread.found;
      count += of_thread.entries;
    }
    if (threadIdx.x == 0) found |= check_length(v, p);
  }
  if (found != 0) atomicOr(errors, found & violation_kinds);
  if (count != 0) atomicAdd(entries, count);
}

std::uint64_t mark_words(std::uint64_t rows) { return div_up(rows, 32); }

}  // namespace

const std::span<const std::string_view> check_names{names};

std::uint64_t check_scratch(const PartInfo& part) { return 2 * mark_words(part.rows.count); }

void check(const PartView& part, std::uint32_t* errors, std::uint32_t* scratch, Stream stream) {
  auto* const entries = reinterpret_cast<unsigned long long*>(errors + 2);
  dispatch(part.info().value_type, [&]<class A>(A) {
    const View<A> v = view<A>(part);
    launch_check(check_packets_kernel<A>, v.packets + 1, stream, v, part.rows(), errors);
    if (v.packets != 0)
      launch(check_entries_kernel<A>, stride_blocks(v.packets, 1), tuning::check_threads, stream, v, part.rows(),
             Marks{scratch}, Marks{scratch + mark_words(part.rows())}, errors, entries);
  });
  launch(check_count_kernel, 1, 1, stream, entries, part.info().nnz, bad_totals, errors);
}

}  // namespace spmvpack::gpu_loader::layouts::pkt_kernels
