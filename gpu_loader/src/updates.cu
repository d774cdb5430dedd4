// New values for a loaded matrix: each element of a part's values is copied from its place among the matrix's.

#include "kernels/launch.cuh"
#include "updates.hpp"

namespace spmvpack::gpu_loader {
namespace {

/// What is copied where: place k of `places`, or k if it is null.
template <class Index>
struct Places {
  const Index* places;
  std::uint64_t count;
  bool by_value;  ///< as PartUpdate has it

  /// Calls f(element, value) for the block's share.
  template <class F>
  __device__ void each(F&& f) const {
    const std::uint64_t first = std::uint64_t{blockIdx.x} * (blockDim.x * places_together) + threadIdx.x;
    Index place[places_together];
#pragma unroll
    for (unsigned i = 0; i < places_together; ++i) {
      const std::uint64_t k = first + std::uint64_t{i} * blockDim.x;
      place[i] = k >= count ? no_value<Index> : places == nullptr ? static_cast<Index>(k) : __ldcs(places + k);
    }
    issue_loads();
#pragma unroll
    for (unsigned i = 0; i < places_together; ++i) {
      const std::uint64_t k = first + std::uint64_t{i} * blockDim.x, other = place[i];
      if (place[i] != no_value<Index>) f(by_value ? other : k, by_value ? k : other);
    }
  }
};

template <class T>
__device__ bool is_plus_zero(T value) {
  bits_of<T> bits;
  memcpy(&bits, &value, sizeof bits);
  return bits == 0;
}

template <class A, class V, class Index>
__global__ void __launch_bounds__(update_threads)
    refuse_kernel(const A* section, Places<Index> places, const V* values, std::uint32_t* refused) {
  bool found = false;
  places.each([&](std::uint64_t element, std::uint64_t value) {
    found = found || is_plus_zero(section[element]) != is_plus_zero(static_cast<A>(values[value]));
  });
  if (found) refused[0] = refused[1] = 1;
}

/// refused: null, or a number that is not 0 if nothing is to be written.
template <class A, class V, class Index>
__global__ void __launch_bounds__(update_threads)
    write_kernel(A* section, Places<Index> places, const V* values, const std::uint32_t* refused) {
  if (refused != nullptr && *refused != 0) return;
  places.each([&](std::uint64_t element, std::uint64_t value) { section[element] = static_cast<A>(values[value]); });
}

/// Calls f(the part's section, places, values) with the types of them all.
template <class F>
void with_types(const PartUpdate& part, ValueType stored, ValueType from, const void* values, F&& f) {
  dispatch_types(stored, from, [&]<class A, class V>(A, V) {
    const auto call = [&]<class Index>(const Index* places) {
      f(reinterpret_cast<A*>(part.section), Places<Index>{places, part.count, part.by_value},
        static_cast<const V*>(values));
    };
    if (part.wide)
      call(static_cast<const std::uint64_t*>(part.places.get()));
    else
      call(static_cast<const std::uint32_t*>(part.places.get()));
  });
}

unsigned blocks_of(const PartUpdate& part) { return blocks_for(part.count, places_of_block); }

}  // namespace

void update_values(const Updates& updates, ValueType stored, ValueType from, const void* values, Stream stream) {
  auto* const refused = static_cast<std::uint32_t*>(updates.refused.get());
  if (refused != nullptr) {
    require_cuda(cudaMemsetAsync(refused, 0, sizeof *refused, stream), "updating values");
    for (const PartUpdate& part : updates.parts)
      if (part.held_by_bits)
        with_types(part, stored, from, values,
                   [&]<class A, class V, class Index>(A* section, const Places<Index>& places, const V* source) {
                     launch(refuse_kernel<A, V, Index>, blocks_of(part), update_threads, stream, section, places,
                            source, refused);
                   });
  }
  for (const PartUpdate& part : updates.parts) {
    if (part.places == nullptr && stored == from && refused == nullptr) {
      require_cuda(
          cudaMemcpyAsync(part.section, values, part.count * size_of(stored), cudaMemcpyDeviceToDevice, stream),
          "updating values");
      continue;
    }
    with_types(part, stored, from, values,
               [&]<class A, class V, class Index>(A* section, const Places<Index>& places, const V* source) {
                 launch(write_kernel<A, V, Index>, blocks_of(part), update_threads, stream, section, places, source,
                        refused);
               });
  }
}

bool take_refused(const Updates& updates, Stream stream) {
  std::uint32_t refused = 0;
  if (updates.refused != nullptr) {
    auto* const since = static_cast<std::uint32_t*>(updates.refused.get()) + 1;
    require_cuda(cudaMemcpyAsync(&refused, since, sizeof refused, cudaMemcpyDeviceToHost, stream), "reading a flag");
    require_cuda(cudaMemsetAsync(since, 0, sizeof refused, stream), "clearing a flag");
  }
  require_cuda(cudaStreamSynchronize(stream), "updating values");
  return refused != 0;
}

}  // namespace spmvpack::gpu_loader
