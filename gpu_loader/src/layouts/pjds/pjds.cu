// Layout `pjds` on the GPU: listing 2 of Kreutzer et al.

#include "kernels/padded_rows.cuh"
#include "spmvpack/container/layouts/pjds.hpp"

namespace spmvpack::gpu_loader::layouts {
namespace pjds_kernels {
namespace {

using spmvpack::layouts::no_column;
using spmvpack::layouts::PjdsGeometry;
using spmvpack::layouts::pjds::geometry;

constexpr std::uint32_t lists_differ = padded_rows::own << 1U;
constexpr auto names = [] {
  const auto shared = padded_rows::check_names(
      "col_start: it does not start at 0 or end at the slots, or a jagged column is longer than the one before it or "
      "ends inside a block",
      "col_idx: a row is shorter than the next, or the first of a block and has padding");
  std::array<std::string_view, shared.size() + 1> all{};
  for (std::size_t i = 0; i < shared.size(); ++i) all[i] = shared[i];
  all[shared.size()] = "col_map: it is not the list of rows";
  return all;
}();

__global__ void check_starts_kernel(PjdsGeometry geometry, std::uint64_t rows, std::uint64_t slots,
                                    std::uint32_t* errors) {
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  const std::uint64_t first = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::uint64_t* const start = geometry.col_start;
  bool found = first == 0 && (start[0] != 0 || start[geometry.width] != slots);
  for (std::uint64_t s = first; s < geometry.width; s += stride) {
    const std::uint64_t length = start[s + 1] - start[s];  // a fall makes it longer than the rows
    const std::uint64_t before = s == 0 ? rows : start[s] - start[s - 1];
    found = found || length == 0 || length > before || (length != rows && length % geometry.block_rows != 0);
  }
  if (found) atomicOr(errors, padded_rows::bad_geometry);
}

__global__ void check_order_kernel(PjdsGeometry geometry, const std::uint32_t* col_idx, std::uint64_t rows,
                                   std::uint32_t* errors) {
  if ((*errors & padded_rows::bad_geometry) != 0) return;
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  bool found = false;
  for (std::uint64_t r = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; r < rows; r += stride) {
    const auto row = geometry(r), next = geometry(r + 1);
    const std::uint64_t length = spmvpack::layouts::row_entries(col_idx, row);
    found = found || (r % geometry.block_rows == 0 && row.has(length));
    found = found || (r + 1 < rows && next.has(length) && col_idx[next.slot(length)] != no_column);
  }
  if (found) atomicOr(errors, padded_rows::own);
}

__global__ void check_lists_kernel(const std::uint32_t* rows, const std::uint32_t* cols, std::uint64_t count,
                                   std::uint32_t* errors) {
  const std::uint64_t stride = std::uint64_t{gridDim.x} * blockDim.x;
  bool found = false;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += stride)
    found = found || rows[i] != cols[i];
  if (found) atomicOr(errors, lists_differ);
}

void check(const PartView& part, std::uint32_t* errors, std::uint32_t* /*scratch*/, Stream stream) {
  using namespace spmvpack::layouts::pjds;
  constexpr unsigned threads = tuning::check_threads;
  const std::uint64_t width = width_of(part.info());
  launch(check_starts_kernel, stride_blocks(width + 1, threads), threads, stream, geometry(part), part.rows(),
         slots_of(part.info()), errors);
  padded_rows::check(part, geometry(part), part.rows(), width, errors, stream, column_order(part));
  if (part.rows() == 0) return;
  const unsigned blocks = stride_blocks(part.rows(), threads);
  launch(check_order_kernel, blocks, threads, stream, geometry(part), part.get<std::uint32_t>("col_idx").data(),
         part.rows(), errors);
  if (const std::uint32_t* const cols = column_order(part); cols != nullptr)
    launch(check_lists_kernel, blocks, threads, stream, part.get<std::uint32_t>("row_map").data(), cols, part.rows(),
           errors);
}

void multiply(const DevicePart& part, const MultiplyCall& call) {
  padded_rows::multiply(part.view, geometry(part.view), call);
}

}  // namespace
}  // namespace pjds_kernels

const LayoutKernels pjds{
    .check_names = pjds_kernels::names, .check = pjds_kernels::check, .multiply = pjds_kernels::multiply};

}  // namespace spmvpack::gpu_loader::layouts
