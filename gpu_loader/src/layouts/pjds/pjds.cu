// Layout `pjds` on the GPU: listing 2 of Kreutzer et al.

#include "kernels/padded_rows.cuh"
#include "layouts/layout.hpp"
#include "spmvpack/container/layouts/pjds.hpp"
#include "spmvpack/container/layouts/pjds_check.hpp"

namespace spmvpack::gpu_loader::layouts {
namespace pjds_kernels {
namespace {

using namespace spmvpack::layouts::pjds;
using spmvpack::layouts::PjdsGeometry;

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

__global__ void check_columns_kernel(PjdsGeometry geometry, std::uint64_t rows, std::uint64_t slots,
                                     std::uint32_t* errors) {
  std::uint32_t found = first_item() == 0 ? check_ends(geometry, slots) : sound;
  for (std::uint64_t s = first_item(); s < geometry.width; s += stride()) found |= check_column(geometry, rows, s);
  if (found != 0) atomicOr(errors, found & violation_kinds);
}

__global__ void check_lengths_kernel(PjdsGeometry geometry, const std::uint32_t* col_idx, std::uint64_t rows,
                                     std::uint32_t* errors) {
  if ((*errors & padded_rows::bad_geometry) != 0) return;
  std::uint32_t found = 0;
  for (std::uint64_t r = first_item(); r < rows; r += stride()) found |= check_length(geometry, col_idx, rows, r);
  if (found != 0) atomicOr(errors, found & violation_kinds);
}

__global__ void check_lists_kernel(const std::uint32_t* rows, const std::uint32_t* cols, std::uint64_t count,
                                   std::uint32_t* errors) {
  bool found = false;
  for (std::uint64_t i = first_item(); i < count; i += stride()) found = found || rows[i] != cols[i];
  if (found) atomicOr(errors, lists_differ);
}

void check(const PartView& part, std::uint32_t* errors, std::uint32_t* /*scratch*/, Stream stream) {
  const PjdsGeometry g = geometry(part);
  launch_check(check_columns_kernel, g.width + 1, stream, g, part.rows(), slots_of(part.info()), errors);
  padded_rows::check(part, g, part.rows(), g.width, errors, stream, column_order(part));
  if (part.rows() == 0) return;
  launch_check(check_lengths_kernel, part.rows(), stream, g, part.get<std::uint32_t>("col_idx").data(), part.rows(),
               errors);
  if (const std::uint32_t* const cols = column_order(part); cols != nullptr)
    launch_check(check_lists_kernel, part.rows(), stream, part.get<std::uint32_t>("row_map").data(), cols, part.rows(),
                 errors);
}

void multiply(const DevicePart& part, const MultiplyCall& call) {
  padded_rows::multiply(part.view, geometry(part.view), call, true);
}

}  // namespace
}  // namespace pjds_kernels

const LayoutKernels pjds{
    .check_names = pjds_kernels::names, .check = pjds_kernels::check, .multiply = pjds_kernels::multiply};

}  // namespace spmvpack::gpu_loader::layouts
