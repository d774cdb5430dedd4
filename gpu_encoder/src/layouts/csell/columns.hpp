#pragma once
// How csell stores the columns of each slice, found on the device: encoder's plan_columns() by passes.
//
// A slice's steps are hashed by a warp; equal hashes come together by a sort that keeps the order of slices, so that
// the first of each run owns its list, and the others are compared with it. Lists are numbered by the first slice that
// has them, as the host numbers them.

#include <cstdint>
#include <optional>

#include "layouts/csell/column_passes.hpp"
#include "memory.hpp"

namespace spmvpack::gpu_encoder::csell {

/// How the columns of all slices are stored, for one size of blocks.
struct ColumnsPlan {
  bool by_value = false;
  SliceSums sums = {};
  std::uint64_t slices = 0, step_value_bytes = 0;
  Buffer<std::uint32_t> steps, uneven, width, owner;
  Buffer<OffsetKinds> kinds;
  Buffer<std::uint64_t> place;

  [[nodiscard]] SlicePlans plans() const {
    return {steps.data(), kinds.data(), uneven.data(), width.data(), owner.data(), place.data()};
  }
  [[nodiscard]] std::uint64_t bytes() const {
    return slices * sizeof(Slice) + sums.dictionary_groups * sizeof(Group) + sums.units * unit + step_value_bytes;
  }
  [[nodiscard]] std::uint64_t offset_groups() const { return sums.groups[1] + sums.groups[2] + sums.groups[3]; }
};

/// Calls f with a value of the type that holds column - row.
template <class F>
void with_key(const Rows& rows, F&& f) {
  if (rows.a.cols < no_key<std::uint32_t> - lanes)
    f(std::uint32_t{});
  else
    f(std::uint64_t{});
}

/// Bytes that hold the columns, or values, of most slices near a warp; 0 if they are too many.
inline std::uint32_t near_bytes(const Rows& rows, std::uint64_t entry_bytes) {
  constexpr std::uint64_t most = 12288;
  if (rows.slices() == 0) return 0;
  const std::uint64_t average = rows.a.nnz / rows.slices() * entry_bytes, wanted = average + average / 4 + 256;
  return average > most ? 0 : static_cast<std::uint32_t>((wanted < most ? wanted : most) / 16 * 16);
}

/// What a test may change: the bits of hashes that count. Lists of equal hashes are compared in any case, and hashed
/// anew with another seed if they differ.
struct Hashing {
  std::uint64_t mask = ~std::uint64_t{0};
  int attempts = 4;
};

/// Decides slice by slice between a pattern, which may be shared, and offsets, as encoder's plan_columns() does.
template <class Execution>
std::optional<ColumnsPlan> plan_columns(const Execution& run, const Rows& rows, bool by_value,
                                        const Hashing& hashing = {}) {
  constexpr std::uint64_t slices_per_task = 128;
  const std::uint64_t slices = rows.slices();
  ColumnsPlan plan;
  plan.by_value = by_value;
  plan.slices = slices;
  plan.steps = run.template allocate<std::uint32_t>(slices);
  plan.uneven = run.template allocate<std::uint32_t>(slices);
  plan.width = run.template allocate<std::uint32_t>(slices);
  plan.owner = run.template allocate<std::uint32_t>(slices);
  plan.kinds = run.template allocate<OffsetKinds>(by_value ? 0 : slices);
  plan.place = run.template allocate<std::uint64_t>(slices);
  const SlicePlans plans = plan.plans();
  const Buffer<std::uint32_t> flags = run.template allocate<std::uint32_t>(3);
  const Buffer<SliceSums> sums = run.template allocate<SliceSums>(1);
  const std::uint64_t block_bytes = std::uint64_t{rows.block} * rows.block * rows.values.size;
  for (int attempt = 0;; ++attempt) {
    if (attempt == hashing.attempts)
      throw Error(errc::unsupported, "csell: different patterns of slices have the same hash, with every seed", {},
                  "encode on the host");
    Buffer<std::uint64_t> hashes = run.template allocate<std::uint64_t>(slices);
    Buffer<std::uint32_t> order = run.template allocate<std::uint32_t>(slices);
    run.zero(flags.data(), flags.bytes());
    run.zero(sums.data(), sums.bytes());
    const std::uint64_t seed = 0x2545F4914F6CDD1D * static_cast<std::uint64_t>(attempt + 1);
    with_key(rows, [&]<class Key>(Key) {
      run.each_warp(
          slices, near_bytes(rows, sizeof(std::uint32_t)),
          FindPattern<Key>{rows, plans, by_value, seed, hashing.mask, hashes.data(), order.data(), flags.data()});
    });
    const std::vector<std::uint32_t> found = run.read(flags.data(), 2);
    const bool some_patterns = found[0] != 0, some_offsets = found[1] != 0;
    if (by_value && some_offsets) return {};
    Buffer<std::uint8_t> is_new;
    if (some_patterns) {
      run.sort_pairs(hashes, order, slices, 64);
      const Buffer<std::uint32_t> is_first = run.template allocate<std::uint32_t>(slices),
                                  runs_before = run.template allocate<std::uint32_t>(slices),
                                  first_of_run = run.template allocate<std::uint32_t>(slices);
      if (by_value) is_new = run.template allocate<std::uint8_t>(slices);
      run.each(slices, MarkRuns{hashes.data(), is_first.data()});
      run.sum_before(is_first.data(), runs_before.data(), slices);
      run.each(slices, NoteFirst{is_first.data(), runs_before.data(), order.data(), first_of_run.data()});
      run.each(slices, NoteOwner{hashes.data(), is_first.data(), runs_before.data(), order.data(), first_of_run.data(),
                                 plans.owner, is_new.data(), slices_per_task});
      run.each_warp(slices, 0, CompareWithOwner{rows, plans, by_value, sums.data()});
    }
    if (some_offsets) run.each_warp(slices, 0, FindOffsets{rows, plans});
    run.each(slices, CountGroups{plans});
    run.sum_before(plan.place.data(), plan.place.data(), slices);
    if (by_value)
      run.each(div_up(slices, slices_per_task),
               WeighSteps{rows, plans, is_new.data(), slices_per_task, block_bytes, flags.data() + 2});
    run.each_warp(div_up(slices, AddUp::stretch), 0, AddUp{rows, plans, block_bytes, sums.data()});
    plan.sums = run.read(sums.data());
    if (plan.sums.collisions != 0) continue;
    if (by_value && run.read(flags.data() + 2) != 0) return {};
    break;
  }
  if (plan.sums.dictionary_groups > max_patterns)
    throw Error(errc::unsupported, "csell: a dictionary of more than 2^30 - 1 groups", {}, "use another layout");
  if (by_value) plan.step_value_bytes = plan.sums.dictionary_groups * group_steps * block_bytes;
  return plan;
}

/// Writes the dictionary, and the values of its steps if they have any.
template <class Execution>
void write_patterns(const Execution& run, const Rows& rows, const ColumnsPlan& plan, Group* patterns,
                    void* step_values) {
  with_key(rows, [&]<class Key>(Key) {
    run.each_warp(plan.slices, 0, WritePattern<Key>{rows, plan.plans(), plan.by_value, patterns, step_values});
  });
}

}  // namespace spmvpack::gpu_encoder::csell
