#pragma once
// What several layouts count of rows.

#include "csr_arrays.hpp"
#include "execution/group.hpp"
#include "memory.hpp"

namespace spmvpack::gpu_encoder {

/// 0 if there are no rows. Reads the row pointers.
template <class Execution>
std::uint64_t longest_row(const Execution& run, const Csr& a) {
  const Buffer<std::uint64_t> longest = run.template allocate<std::uint64_t>(1);
  run.zero(longest.data(), longest.bytes());
  std::uint64_t* const most = longest.data();
  constexpr std::uint64_t rows_of_group = 1024;
  run.each_group(div_up(a.rows, rows_of_group), [=] SPMVPACK_HOST_DEVICE(std::uint64_t i, Group group) {
    const std::uint64_t first = i * rows_of_group,
                        end = first + rows_of_group < a.rows ? first + rows_of_group : a.rows;
    std::uint64_t here = 0;
    for (std::uint64_t r = first + group.lane; r < end; r += Group::lanes()) {
      const std::uint64_t length = a.row_length(r);
      here = here < length ? length : here;
    }
    here = group.max(here);
    if (group.lane == 0) atomic_max(most, here);
  });
  return run.read(most);
}

}  // namespace spmvpack::gpu_encoder
