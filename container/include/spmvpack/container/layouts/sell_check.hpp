#pragma once
/// What a part of sell must be like beside its rows (padded_rows_check.hpp), for host and device. Once check_ends(),
/// and check_slice() of all slices, have found nothing, neither check_steps() nor what looks at rows reads anything
/// outside the part's sections.

#include "spmvpack/container/layouts/padded_rows_check.hpp"

namespace spmvpack::layouts::sell {

enum Violation : std::uint32_t {
  sound = 0,
  wrong_ends = violation(1, padded_rows::kind_of_geometry),
  steps_fall = violation(2, padded_rows::kind_of_geometry),
  too_many_steps = violation(3, padded_rows::own_kind),
};

/// So many slices begin with the steps, and end where these do.
inline SPMVPACK_HOST_DEVICE Violation check_ends(const SellGeometry& g, std::uint64_t slices, std::uint64_t steps) {
  return g.slice_ptr[0] == 0 && g.slice_ptr[slices] == steps ? sound : wrong_ends;
}

/// The steps of slice s do not end before they begin.
inline SPMVPACK_HOST_DEVICE Violation check_slice(const SellGeometry& g, std::uint64_t s) {
  return g.slice_ptr[s + 1] >= g.slice_ptr[s] ? sound : steps_fall;
}

/// In the last step of slice s, at least one row has an entry.
inline SPMVPACK_HOST_DEVICE Violation check_steps(const SellGeometry& g, const std::uint32_t* columns,
                                                  std::uint64_t s) {
  const std::uint64_t end = g.slice_ptr[s + 1];
  if (end == g.slice_ptr[s]) return sound;
  for (std::uint32_t lane = 0; lane < g.slice_rows; ++lane)
    if (columns[(end - 1) * g.slice_rows + lane] != no_column) return sound;
  return too_many_steps;
}

}  // namespace spmvpack::layouts::sell
