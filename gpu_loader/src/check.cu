#include <string>

#include "check.hpp"
#include "kernels/launch.cuh"

namespace spmvpack::gpu_loader {
namespace {

// Above the layouts' bits.
constexpr std::uint32_t bad_row_map = 1U << 30, bad_col_map = 1U << 31;

__global__ void check_map_kernel(const std::uint32_t* list, std::uint64_t count, std::uint64_t size, std::uint32_t bit,
                                 std::uint32_t* errors) {
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  bool found = false;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride)
    found = found || list[i] >= size || (i != 0 && list[i] <= list[i - 1]);
  if (found) atomicOr(errors, bit);
}

void check_map(const PartView& part, const IndexMap& map, std::string_view name, std::uint64_t size, std::uint32_t bit,
               std::uint32_t* errors, Stream stream) {
  if (map.kind != format::MapKind::list || map.count == 0) return;
  launch(check_map_kernel, stride_blocks(map.count, tuning::check_threads), tuning::check_threads, stream,
         part.get<std::uint32_t>(name).data(), map.count, size, bit, errors);
}

std::string describe(const LayoutKernels& layout, std::uint32_t bits) {
  std::string text;
  const auto add = [&](std::string_view what) { text += (text.empty() ? "" : "; ") + std::string(what); };
  for (std::size_t i = 0; i < layout.check_names.size(); ++i)
    if ((bits >> i & 1U) != 0) add(layout.check_names[i]);
  if ((bits & bad_row_map) != 0) add("row_map: indices do not increase, or are not below the matrix's rows");
  if ((bits & bad_col_map) != 0) add("col_map: indices do not increase, or are not below the matrix's columns");
  return text;
}

}  // namespace

void check_shape(const PartView& part) {
  const auto map = [&](const IndexMap& m, std::string_view name) {
    if (m.kind != format::MapKind::list) return;
    const std::uint64_t size = part.get<std::uint32_t>(name).size();
    part.require(size == m.count, name,
                 [&] { return std::to_string(size) + " elements, expected " + std::to_string(m.count); });
  };
  map(part.info().rows, "row_map");
  map(part.info().cols, "col_map");
  find_layout_kernels(part.info().layout).check_shape(part);
}

StructureCheck::StructureCheck(std::span<const DevicePart> parts, const MatrixFacts& facts, Stream stream)
    : parts_(parts), stream_(stream) {
  if (parts.empty()) return;
  const std::size_t bytes = parts.size() * check_words * sizeof(std::uint32_t);
  void* memory = nullptr;
  require_cuda(cudaMalloc(&memory, bytes), "allocating device memory");
  errors_.reset(static_cast<std::uint32_t*>(memory), [](std::uint32_t* p) { cudaFree(p); });
  require_cuda(cudaMemsetAsync(errors_.get(), 0, bytes, stream), "clearing device memory");
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const PartView& part = parts[i].view;
    std::uint32_t* const word = errors_.get() + i * check_words;
    find_layout_kernels(part.info().layout).check(part, word, stream);
    check_map(part, part.info().rows, "row_map", facts.rows, bad_row_map, word, stream);
    check_map(part, part.info().cols, "col_map", facts.cols, bad_col_map, word, stream);
  }
}

void StructureCheck::finish(const std::string& name) {
  std::vector<std::uint32_t> words(parts_.size() * check_words);
  if (words.empty()) return;
  require_cuda(cudaMemcpyAsync(words.data(), errors_.get(), words.size() * sizeof(std::uint32_t),
                               cudaMemcpyDeviceToHost, stream_),
               "reading what the check found");
  require_cuda(cudaStreamSynchronize(stream_), "checking the structure");
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const std::uint32_t bits = words[i * check_words];
    if (bits == 0) continue;
    throw Error(errc::corrupt, describe(find_layout_kernels(parts_[i].view.info().layout), bits),
                name + ": part " + std::to_string(i), "get the file again, or encode it again");
  }
}

}  // namespace spmvpack::gpu_loader
