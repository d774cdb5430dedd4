#pragma once
// The distinct values of a matrix, compared by their bits, up to a limit: in a hash table that grows no more beyond it.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "execution/group.hpp"
#include "layouts/csell/rows.hpp"
#include "memory.hpp"
#include "spmvpack/encoder/value_table.hpp"

namespace spmvpack::gpu_encoder::csell {

/// The bits of a free slot, which are a NaN's: that value is noted beside the slots.
inline constexpr std::uint64_t free_slot = ~std::uint64_t{0};

/// Whether it is more than `limit`. Lanes may see it at different times, but go on together.
template <class Warp>
SPMVPACK_HOST_DEVICE bool is_beyond(Warp& w, const std::uint32_t* place, std::uint64_t limit) {
  return w.where([&](unsigned lane) { return lane == 0 && newest(place) > limit; }) != 0;
}

/// A hash table of distinct values, which grows no more beyond a limit.
struct ValueSet {
  std::uint64_t* slots;
  std::uint64_t size;            ///< slots: more than limit + 1, with room for what many lanes add before they see it
  std::uint32_t* found;          ///< values so far
  std::uint32_t* has_free_slot;  ///< whether free_slot is one
  std::uint64_t limit;

  /// Adds values[first], ..., values[end - 1]. False if the set is beyond its limit, by these or by others'.
  template <class Warp>
  [[nodiscard]] SPMVPACK_HOST_DEVICE bool add(Warp& w, const Words& values, std::uint64_t first,
                                              std::uint64_t end) const {
    typename Warp::template PerLane<std::uint64_t> latest;
    w.each([&](unsigned lane) { latest[lane] = free_slot; });
    for (std::uint64_t k = first; k < end; k += warp_lanes) {
      const std::uint32_t added = w.where([&](unsigned lane) {
        if (k + lane >= end) return false;
        const std::uint64_t bits = values[k + lane];
        if (bits == latest[lane]) return false;
        latest[lane] = bits;
        return add(bits);
      });
      if (added != 0 && is_beyond(w, found, limit)) return false;
    }
    return true;
  }

 private:
  /// Whether it was not there.
  SPMVPACK_HOST_DEVICE bool add(std::uint64_t bits) const {
    if (bits == free_slot) {
      if (newest(has_free_slot) != 0 || atomic_exchange_if(has_free_slot, 0U, 1U) != 0) return false;
      atomic_add(found, 1U);
      return true;
    }
    std::uint64_t slot = (encoder::hash_of_key(bits) >> 32U) * size >> 32U;
    for (std::uint64_t probes = 1;; ++probes, slot = slot + 1 == size ? 0 : slot + 1) {
      std::uint64_t there = slots[slot];
      if (there == free_slot) {
        there = atomic_exchange_if(slots + slot, free_slot, bits);
        if (there == free_slot) {
          atomic_add(found, 1U);
          return true;
        }
      }
      if (there == bits) return false;
      if (probes % 16 == 0 && newest(found) > limit) return true;  // there may be no free slot left
    }
  }
};

struct AddDistinct {
  static constexpr std::uint64_t entries_of_warp = 1024;
  Words values;
  std::uint64_t entries;
  ValueSet set;

  template <class Warp>
  SPMVPACK_HOST_DEVICE void operator()(std::uint64_t i, Warp& w) const {
    const std::uint64_t first = i * entries_of_warp,
                        end = first + entries_of_warp < entries ? first + entries_of_warp : entries;
    if (!is_beyond(w, set.found, set.limit)) static_cast<void>(set.add(w, values, first, end));
  }
};

struct Distinct {
  std::uint64_t count = 0;  ///< at least limit + 1 if they are more
  Buffer<std::uint64_t> slots;
  bool has_free_slot = false;

  /// All values, rising.
  template <class Execution>
  [[nodiscard]] std::vector<std::uint64_t> sorted(const Execution& run) const {
    std::vector<std::uint64_t> all = run.read(slots.data(), slots.size());
    std::erase(all, free_slot);
    if (has_free_slot) all.push_back(free_slot);
    std::sort(all.begin(), all.end());
    return all;
  }
};

struct FreeSlots {
  std::uint64_t* slots;
  SPMVPACK_HOST_DEVICE void operator()(std::uint64_t i) const { slots[i] = free_slot; }
};

/// Reads the values once, or less if they are more than `limit`.
template <class Execution>
Distinct count_distinct(const Execution& run, const Csr& a, std::uint64_t limit) {
  // A table that is at most half full, even where many lanes add a value before they see that there are too many.
  constexpr std::uint64_t least_slots = 16384;
  std::uint64_t size = least_slots;
  while (size < 2 * std::min(limit, a.nnz)) size *= 2;
  Distinct distinct;
  distinct.slots = run.template allocate<std::uint64_t>(size);
  const Buffer<std::uint32_t> found = run.template allocate<std::uint32_t>(2);  // and whether free_slot is one
  run.zero(found.data(), found.bytes());
  run.each(size, FreeSlots{distinct.slots.data()});
  const Words values{a.value_bits, static_cast<std::uint32_t>(size_of(a.type))};
  run.each_warp(
      div_up(a.nnz, AddDistinct::entries_of_warp), 0,
      AddDistinct{values, a.nnz, ValueSet{distinct.slots.data(), size, found.data(), found.data() + 1, limit}});
  const std::vector<std::uint32_t> counts = run.read(found.data(), 2);
  distinct.count = std::min<std::uint64_t>(counts[0], limit + 1);
  distinct.has_free_slot = counts[1] != 0;
  return distinct;
}

}  // namespace spmvpack::gpu_encoder::csell
