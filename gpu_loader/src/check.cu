#include <algorithm>
#include <string>

#include "check.hpp"
#include "kernels/launch.cuh"

namespace spmvpack::gpu_loader {
namespace {

// Above the layouts' bits.
constexpr std::uint32_t bad_row_map = 1U << 30, bad_col_map = 1U << 31;

constexpr std::uint32_t word_bits = 32;

/// `seen`: one bit for each of the `size` indices, initially 0. A thread that finds its index's bit set has a
/// repetition.
__global__ void check_map_kernel(const std::uint32_t* list, std::uint64_t count, std::uint64_t size,
                                 std::uint32_t* seen, std::uint32_t bit, std::uint32_t* errors) {
  bool found = false;
  for (std::uint64_t i = first_item(); i < count; i += stride()) {
    const std::uint32_t index = list[i], mask = 1U << index % word_bits;
    if (index >= size || (atomicOr(seen + index / word_bits, mask) & mask) != 0) found = true;
  }
  if (found) atomicOr(errors, bit);
}

void clear(std::uint32_t* words, std::uint64_t count, Stream stream) {
  if (count != 0)
    require_cuda(cudaMemsetAsync(words, 0, count * sizeof(std::uint32_t), stream), "clearing device memory");
}

void check_map(const PartView& part, const IndexMap& map, std::string_view name, std::uint64_t size, std::uint32_t bit,
               std::uint32_t* seen, std::uint32_t* errors, Stream stream) {
  if (map.kind != format::MapKind::list || map.count == 0) return;
  clear(seen, div_up(size, word_bits), stream);
  launch_check(check_map_kernel, map.count, stream, part.get<std::uint32_t>(name).data(), map.count, size, seen, bit,
               errors);
}

/// The rows and columns that a part's lists are of: those of A or of its transpose.
struct MapSizes {
  MapSizes(const PartInfo& part, const MatrixFacts& facts)
      : rows(part.role == format::Role::a ? facts.rows : facts.cols),
        cols(part.role == format::Role::a ? facts.cols : facts.rows) {}
  std::uint64_t rows, cols;
};

/// The most words that the check of a list, one bit per index, or of a layout needs.
std::uint64_t scratch_words(std::span<const DevicePart> parts, const MatrixFacts& facts) {
  std::uint64_t words = 0;
  for (const DevicePart& part : parts) {
    const PartInfo& info = part.view.info();
    const MapSizes sizes(info, facts);
    const LayoutKernels& layout = layout_kernels(part.layout);
    if (info.rows.kind == format::MapKind::list) words = std::max(words, div_up(sizes.rows, word_bits));
    if (info.cols.kind == format::MapKind::list) words = std::max(words, div_up(sizes.cols, word_bits));
    if (layout.check_scratch != nullptr) words = std::max(words, layout.check_scratch(info));
  }
  return words;
}

std::string describe(const LayoutKernels& layout, std::uint32_t bits) {
  std::string text;
  const auto add = [&](std::string_view what) { text += (text.empty() ? "" : "; ") + std::string(what); };
  for (std::size_t i = 0; i < layout.check_names.size(); ++i)
    if ((bits >> i & 1U) != 0) add(layout.check_names[i]);
  if ((bits & bad_row_map) != 0) add("row_map: an index is not below the matrix's rows, or comes twice");
  if ((bits & bad_col_map) != 0) add("col_map: an index is not below the matrix's columns, or comes twice");
  return text;
}

}  // namespace

StructureCheck::StructureCheck(std::span<const DevicePart> parts, const MatrixFacts& facts, Stream stream,
                               const std::function<std::shared_ptr<void>(std::uint64_t bytes)>& allocate)
    : parts_(parts), stream_(stream) {
  if (parts.empty()) return;
  const std::size_t words = parts.size() * check_words;
  errors_ = allocate(words * sizeof(std::uint32_t));
  scratch_ = allocate(scratch_words(parts, facts) * sizeof(std::uint32_t));
  auto* const errors = static_cast<std::uint32_t*>(errors_.get());
  auto* const scratch = static_cast<std::uint32_t*>(scratch_.get());
  clear(errors, words, stream);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const PartView& part = parts[i].view;
    std::uint32_t* const word = errors + i * check_words;
    const LayoutKernels& layout = layout_kernels(parts[i].layout);
    if (layout.check_scratch != nullptr) clear(scratch, layout.check_scratch(part.info()), stream);
    layout.check(part, word, scratch, stream);
    const MapSizes sizes(part.info(), facts);
    check_map(part, part.info().rows, "row_map", sizes.rows, bad_row_map, scratch, word, stream);
    check_map(part, part.info().cols, "col_map", sizes.cols, bad_col_map, scratch, word, stream);
  }
}

void StructureCheck::finish(const std::string& name) {
  CountedVector<std::uint32_t> words(parts_.size() * check_words);
  if (words.empty()) return;
  require_cuda(cudaMemcpyAsync(words.data(), errors_.get(), words.size() * sizeof(std::uint32_t),
                               cudaMemcpyDeviceToHost, stream_),
               "reading what the check found");
  require_cuda(cudaStreamSynchronize(stream_), "checking the structure");
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const std::uint32_t bits = words[i * check_words];
    if (bits == 0) continue;
    throw Error(errc::corrupt, describe(layout_kernels(parts_[i].layout), bits), name + ": part " + std::to_string(i),
                "get the file again, or encode it again");
  }
}

}  // namespace spmvpack::gpu_loader
