// What load() builds for new values.

#include <cuda_runtime_api.h>

#include <algorithm>

#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/container/layouts/registry.hpp"
#include "spmvpack/gpu_cuda/cuda_error.hpp"
#include "updates.hpp"

namespace spmvpack::gpu_loader {
namespace {

/// Values in a sector of 32 bytes.
constexpr std::uint64_t of_sector = 4;

/// How many sectors blocks touch on the far side of their places, a block in so many looked at.
template <class Index>
double sectors_of(const Array<Index>& places) {
  constexpr std::uint64_t apart = 64;
  std::vector<Index> sectors;
  double touched = 0;
  for (std::uint64_t begin = 0; begin < places.size(); begin += apart * places_of_block) {
    sectors.clear();
    for (std::uint64_t k = begin; k < std::min<std::uint64_t>(begin + places_of_block, places.size()); ++k)
      if (places[k] != no_value<Index>) sectors.push_back(places[k] / of_sector);
    std::sort(sectors.begin(), sectors.end());
    touched += static_cast<double>(std::unique(sectors.begin(), sectors.end()) - sectors.begin());
  }
  return touched;
}

/// The places of values in a section, of the values' places by its elements.
template <class Index>
Array<Index> turned(const Array<Index>& value, std::uint64_t nnz, int threads) {
  Array<Index> element(nnz, no_value<Index>);
  constexpr std::uint64_t piece = std::uint64_t{1} << 16;
  parallel_items(value.size(), piece, threads, [&](std::uint64_t k) {
    if (value[k] != no_value<Index>) element[value[k]] = static_cast<Index>(k);
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
    part.wide = are_wide_numbers(facts.nnz);
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

}  // namespace spmvpack::gpu_loader
