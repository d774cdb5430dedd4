// New values for a loaded matrix: each element of a part's values is copied from its place among the matrix's.

#include <algorithm>

#include "kernels/launch.cuh"
#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/container/layouts/registry.hpp"
#include "updates.hpp"

namespace spmvpack::gpu_loader {
namespace {

constexpr unsigned update_threads = 256;
constexpr unsigned together = 4;  // places of a thread whose loads are on their way at once

/// An element without a place keeps what it has: padding.
template <class Index>
inline constexpr Index nowhere = static_cast<Index>(~Index{0});

/// What is copied where: place k of `places`, or k if it is null.
template <class Index>
struct Places {
  const Index* places;
  std::uint64_t count;
  bool by_value;  ///< as PartUpdate has it

  /// Calls f(element, value) for the block's share.
  template <class F>
  __device__ void each(F&& f) const {
    const std::uint64_t first = std::uint64_t{blockIdx.x} * (blockDim.x * together) + threadIdx.x;
    Index place[together];
#pragma unroll
    for (unsigned i = 0; i < together; ++i) {
      const std::uint64_t k = first + std::uint64_t{i} * blockDim.x;
      place[i] = k >= count ? nowhere<Index> : places == nullptr ? static_cast<Index>(k) : __ldcs(places + k);
    }
    issue_loads();
#pragma unroll
    for (unsigned i = 0; i < together; ++i) {
      const std::uint64_t k = first + std::uint64_t{i} * blockDim.x, other = place[i];
      if (place[i] != nowhere<Index>) f(by_value ? other : k, by_value ? k : other);
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

unsigned blocks_of(const PartUpdate& part) { return blocks_for(part.count, update_threads * together); }

/// Values in a sector of 32 bytes, and places that a block has.
constexpr std::uint64_t of_sector = 4, of_block = update_threads * together;

/// How many sectors blocks touch on the far side of their places, a block in so many looked at.
template <class Index>
double sectors_of(const Array<Index>& places) {
  constexpr std::uint64_t apart = 64;
  std::vector<Index> sectors;
  double touched = 0;
  for (std::uint64_t begin = 0; begin < places.size(); begin += apart * of_block) {
    sectors.clear();
    for (std::uint64_t k = begin; k < std::min<std::uint64_t>(begin + of_block, places.size()); ++k)
      if (places[k] != nowhere<Index>) sectors.push_back(places[k] / of_sector);
    std::sort(sectors.begin(), sectors.end());
    touched += static_cast<double>(std::unique(sectors.begin(), sectors.end()) - sectors.begin());
  }
  return touched;
}

/// The places of values in a section, of the values' places by its elements.
template <class Index>
Array<Index> turned(const Array<Index>& value, std::uint64_t nnz, int threads) {
  Array<Index> element(nnz, nowhere<Index>);
  constexpr std::uint64_t piece = std::uint64_t{1} << 16;
  parallel_items(value.size(), piece, threads, [&](std::uint64_t k) {
    if (value[k] != nowhere<Index>) element[value[k]] = static_cast<Index>(k);
  });
  return element;
}

}  // namespace

Updates make_updates(const MatrixFacts& facts, std::span<const PartView* const> host,
                     std::span<const PartView* const> device,
                     const std::function<std::shared_ptr<void>(std::uint64_t bytes)>& allocate, Stream stream,
                     int threads) {
  Updates updates;
  const std::vector<ValueSource> sources = value_sources(facts, host, threads);
  bool may_refuse = false;
  for (std::size_t p = 0; p < host.size(); ++p) {
    const ValueSlots slots = value_slots(*host[p], sources[p], facts.nnz, threads);
    if (slots.elements == 0) continue;
    const Layout& layout = spmvpack::find_layout(device[p]->info().layout);
    PartUpdate part;
    const PartView::Section* const section = device[p]->find(layout.sections[slots.section].name);
    part.section = const_cast<std::byte*>(section->bytes.data());  // NOLINT(*-const-cast): parts are read otherwise
    part.count = slots.elements;
    part.held_by_bits = slots.held_by_bits;
    part.wide = facts.nnz >= no_value - 1;
    std::visit(
        [&]<class Index>(const Array<Index>& value) {
          if (value.empty()) return;
          // By elements, what is written is in order; by values, what is read. Where a part has its rows' entries far
          // apart, as ell has, reading by elements would bring in a sector for each.
          Array<Index> element;
          if (slots.elements <= ~Index{0} - 1 && device[p]->info().nnz > facts.nnz / 2) {
            constexpr double worth = 1.5;
            element = turned(value, facts.nnz, threads);
            part.by_value = sectors_of(value) > worth * sectors_of(element);
          }
          const Array<Index>& places = part.by_value ? element : value;
          part.count = places.size();
          const std::uint64_t bytes = places.size() * sizeof(Index);
          part.places = allocate(bytes);
          require_cuda(cudaMemcpyAsync(part.places.get(), places.data(), bytes, cudaMemcpyHostToDevice, stream),
                       "copying the places of values");
          require_cuda(cudaStreamSynchronize(stream), "copying the places of values");
        },
        slots.value);
    may_refuse = may_refuse || part.held_by_bits;
    updates.parts.push_back(std::move(part));
  }
  if (may_refuse) {
    updates.refused = allocate(2 * sizeof(std::uint32_t));
    require_cuda(cudaMemsetAsync(updates.refused.get(), 0, 2 * sizeof(std::uint32_t), stream), "clearing memory");
  }
  return updates;
}

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
  if (updates.refused == nullptr) return false;
  auto* const since = static_cast<std::uint32_t*>(updates.refused.get()) + 1;
  std::uint32_t refused = 0;
  require_cuda(cudaMemcpyAsync(&refused, since, sizeof refused, cudaMemcpyDeviceToHost, stream), "reading a flag");
  require_cuda(cudaMemsetAsync(since, 0, sizeof refused, stream), "clearing a flag");
  require_cuda(cudaStreamSynchronize(stream), "updating values");
  return refused != 0;
}

}  // namespace spmvpack::gpu_loader
