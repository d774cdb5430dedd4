#pragma once
// Where loops find the values of csell's entries, and how slices are dealt out.

#include <algorithm>

#include "layouts/kernels.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/container/layouts/csell.hpp"

namespace spmvpack::host_loader::layouts {

using namespace spmvpack::layouts::csell;  // what the bytes mean

/// A task has at most so many slices; few slices make several tasks if those have so many entries.
constexpr std::uint64_t most_slices = 64, least_entries = 1U << 14U, tasks_per_thread = 4;

/// Slices of a task, or parts of slices. `entries`: of a slice.
inline std::uint64_t slices_of_task(std::uint64_t slices, std::uint64_t entries, int threads) {
  const std::uint64_t tasks = tasks_per_thread * static_cast<std::uint64_t>(thread_count(threads)),
                      least = std::min(most_slices, least_entries / std::max<std::uint64_t>(entries, 1) + 1);
  return std::clamp(slices / tasks, least, most_slices);
}

/// The values of a step of one source, but for mirrors.
template <Source source, std::uint32_t block, class A>
struct StepValues {
  const A* values;                 ///< raw: of the step's first entry; table: the table; else the step's
  const std::byte* ids = nullptr;  ///< table: of lane 0 and a block's first value, for the step
  std::uint32_t id_bytes = 0;  ///< of an id; the ids of lanes are group_steps apart, those of a block's values a group

  /// Step k of group g. `from`: values_of() the slice, but of raw ones those of the step.
  SPMVPACK_INLINE StepValues(const SliceView& slice, std::uint64_t g, std::uint32_t k, const A* from)
      : values(from), id_bytes(slice.id_bytes) {
    if constexpr (source == Source::table)
      ids = slice.stream + slice.at.ids * unit + (g * block * block * lanes * group_steps + k) * id_bytes;
    if constexpr (source == Source::step) values += (g * group_steps + k) * block * block;
  }
  /// Of an element of the block of the entry in `lane`, which is number `rank` of the step's n.
  [[nodiscard]] SPMVPACK_INLINE A of(std::uint32_t element, std::uint32_t lane, std::uint32_t n,
                                     std::uint32_t rank) const {
    if constexpr (source == Source::raw) {
      return values[raw_place(element, n, rank)];
    } else if constexpr (source == Source::table) {
      const std::byte* const id = ids + (std::size_t{element} * lanes + lane) * group_steps * id_bytes;
      return values[id_bytes == 1 ? *reinterpret_cast<const std::uint8_t*>(id)
                                  : *reinterpret_cast<const std::uint16_t*>(id)];
    } else {
      return values[source == Source::step ? element : 0];
    }
  }
};

}  // namespace spmvpack::host_loader::layouts
