// The values of a matrix from those of a list: a thread adds up an entry's.

#include "kernels/launch.cuh"
#include "matrix.hpp"
#include "spmvpack/gpu_loader/device.hpp"
#include "spmvpack/gpu_loader/device_assembly.hpp"

namespace spmvpack::gpu_loader {
namespace {

constexpr unsigned sum_threads = 256;

/// list: null: zeros.
template <class T, class Position>
__global__ void __launch_bounds__(sum_threads)
    sum_kernel(const Position* first, const Position* position, std::uint64_t nnz, const T* list, T* values, bool add) {
  const std::uint64_t k = first_item();
  if (k >= nnz) return;
  std::uint64_t i = first[k];
  const std::uint64_t end = first[k + 1];
  if (i == end || list == nullptr) {
    if (!add) values[k] = 0;
    return;
  }
  T total = list[position[i]];
  while (++i < end) total = total + list[position[i]];
  values[k] = add ? values[k] + total : total;
}

/// Copies `first`, then the positions.
template <class Position>
std::shared_ptr<void> on_device(const AssemblyMap& map, const Array<Position>& position, Stream stream,
                                const DeviceAllocator& allocator, std::uint64_t& bytes) {
  Array<Position> first(map.first.size());
  for (std::uint64_t k = 0; k < first.size(); ++k) first[k] = static_cast<Position>(map.first[k]);
  bytes = (first.size() + position.size()) * sizeof(Position);
  std::shared_ptr<void> memory = allocate(allocator, bytes);
  auto* const to = static_cast<Position*>(memory.get());
  const auto copy = [&](Position* place, const Array<Position>& from) {
    if (!from.empty())
      require_cuda(cudaMemcpyAsync(place, from.data(), from.size() * sizeof(Position), cudaMemcpyHostToDevice, stream),
                   "copying the positions of a list");
  };
  copy(to, first);
  copy(to + first.size(), position);
  require_cuda(cudaStreamSynchronize(stream), "copying the positions of a list");
  return memory;
}

}  // namespace

DeviceAssembly DeviceAssembly::of(const AssemblyMap& map, Stream stream, const DeviceAllocator& allocator) {
  require_device_code();
  DeviceAssembly all;
  all.nnz_ = map.nnz();
  all.list_size_ = map.list_size;
  std::visit(
      [&]<class Position>(const Array<Position>& position) {
        all.wide_ = sizeof(Position) == 8;
        all.memory_ = on_device(map, position, stream, allocator, all.bytes_);
      },
      map.position);
  return all;
}

template <class T>
void DeviceAssembly::sum(std::span<const T> list, std::span<T> values, InsertMode mode, Stream stream) const {
  require_sum_sizes(list.size(), list_size_, values.size(), nnz_);
  if (nnz_ == 0) return;
  const auto run = [&]<class Position>(const Position* first) {
    launch(sum_kernel<T, Position>, blocks_for(nnz_, sum_threads), sum_threads, stream, first, first + nnz_ + 1, nnz_,
           list.empty() ? nullptr : list.data(), values.data(), mode == InsertMode::add);
  };
  if (wide_)
    run(static_cast<const std::uint64_t*>(memory_.get()));
  else
    run(static_cast<const std::uint32_t*>(memory_.get()));
}

#define SPMVPACK_INSTANTIATE_SUM(T) \
  template void DeviceAssembly::sum(std::span<const T>, std::span<T>, InsertMode, Stream) const;
SPMVPACK_VALUE_TYPES(SPMVPACK_INSTANTIATE_SUM)
#undef SPMVPACK_INSTANTIATE_SUM

}  // namespace spmvpack::gpu_loader
