#pragma once
/// Mirrors of csell: which entries have the bits of their transposed ones, in which slot the others are, and which
/// slices then refer to slots step by step.

#include <optional>
#include <span>
#include <vector>

#include "layouts/csell/slice.hpp"
#include "spmvpack/encoding_rules/csell.hpp"

namespace spmvpack::encoder::layouts::csell_plans {

struct Mirrors {
  CountedVector<std::uint16_t> references;      ///< of each block, in the matrix's order
  CountedVector<std::uint32_t> slots;           ///< of each slice
  CountedVector<std::uint8_t> reference_bytes;  ///< of each slice: Slice::reference_bytes()
  // The dictionary, and each slice's place in it. Patterns of the same steps differ where their references do.
  CountedVector<Group> patterns;
  CountedVector<std::uint16_t> step_references;
  CountedVector<std::uint32_t> place;
  std::uint64_t lists = 0;

  std::uint64_t mirrored = 0, by_steps = 0;  ///< blocks: mirrors, and those of them in slices that refer step by step

  /// Of everything, for slices of these groups.
  [[nodiscard]] std::uint64_t bytes(std::span<const SliceGroups> groups, std::uint32_t block,
                                    std::size_t value_size) const;
};

/// Of some of the slices.
MirrorSample sample_mirrors(const BlockRows& rows, Source source);

/// For slices whose columns are planned: a dictionary of `patterns`, whose places are in `slices`. None if no block has
/// a mirror, or a slice would have more than max_slots slots. O(nnz log(row length)), parallel.
std::optional<Mirrors> plan_mirrors(const BlockRows& rows, Source source, std::span<const Slice> slices,
                                    std::span<const SliceGroups> groups, std::span<const Group> patterns, int threads);

}  // namespace spmvpack::encoder::layouts::csell_plans
