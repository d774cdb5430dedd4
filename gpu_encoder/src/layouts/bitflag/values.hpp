#pragma once
// The distinct values of a matrix, as long as they fit into a table of bytes.

#include <algorithm>
#include <vector>

#include "csr_arrays.hpp"
#include "execution/group.hpp"
#include "memory.hpp"
#include "spmvpack/container/layouts/bitflag.hpp"
#include "spmvpack/encoder/value_table.hpp"

namespace spmvpack::gpu_encoder::bitflag {

/// Open addressing by the bits of values. Bits of 0 have the last slot, so that 0 means an empty one elsewhere.
struct ValueSlots {
  static constexpr std::uint32_t hashed = 1024, zero = hashed, count = hashed + 1;

  std::uint64_t* keys;  ///< `hashed` of them

  [[nodiscard]] SPMVPACK_HOST_DEVICE static std::uint32_t home(std::uint64_t key) {
    return static_cast<std::uint32_t>(encoder::hash_of_key(key) >> 54U);
  }
  /// Of a value that is there.
  [[nodiscard]] SPMVPACK_HOST_DEVICE std::uint32_t find(std::uint64_t key) const {
    if (key == 0) return zero;
    std::uint32_t slot = home(key);
    while (keys[slot] != key) slot = (slot + 1) % hashed;
    return slot;
  }
};

struct DistinctValues {
  std::uint64_t count = 0;           ///< layouts::bitflag::max_table + 1 if there are more
  Buffer<std::uint64_t> keys;        ///< of ValueSlots
  Buffer<std::uint8_t> ids;          ///< of each slot: its place in `table`
  std::vector<std::uint64_t> table;  ///< most frequent first, ties: smaller bits first; none if there are more
};

template <class Bits, class Execution>
DistinctValues distinct_values_of(const Execution& run, const Csr& a) {
  constexpr std::uint32_t most = layouts::bitflag::max_table;
  DistinctValues found;
  found.keys = run.template allocate<std::uint64_t>(ValueSlots::hashed);
  run.zero(found.keys.data(), found.keys.bytes());
  const ValueSlots slots{found.keys.data()};
  // Values are put there until there are too many.
  const Buffer<std::uint32_t> counter = run.template allocate<std::uint32_t>(2);  // hashed ones; whether 0 is there
  run.zero(counter.data(), counter.bytes());
  std::uint32_t* const counted = counter.data();
  const Bits* const values = a.values<Bits>();
  run.each(a.nnz, [=] SPMVPACK_HOST_DEVICE(std::uint64_t k) {
    if (*counted > most) return;
    const std::uint64_t key = values[k];
    if (key == 0) {
      counted[1] = 1;
      return;
    }
    std::uint32_t slot = ValueSlots::home(key);
    for (std::uint32_t probes = 0; probes < ValueSlots::hashed; ++probes, slot = (slot + 1) % ValueSlots::hashed) {
      if (slots.keys[slot] == key) return;
      if (slots.keys[slot] != 0) continue;
      const std::uint64_t before = atomic_exchange_if(slots.keys + slot, std::uint64_t{0}, key);
      if (before == 0) atomic_add(counted, 1U);
      if (before == 0 || before == key) return;
    }
    atomic_add(counted, most + 1);  // full
  });
  const auto seen = run.read(counted, 2);
  found.count = std::min<std::uint64_t>(std::uint64_t{seen[0]} + seen[1], most + 1);
  if (seen[0] > most) found.count = most + 1;
  if (found.count > most || found.count == 0) return found;

  // Groups count shares of the entries, each for itself.
  const std::uint64_t groups = std::clamp<std::uint64_t>(div_up(a.nnz, 4096), 1, 1024), share = div_up(a.nnz, groups);
  const Buffer<std::uint32_t> shares = run.template allocate<std::uint32_t>(groups * ValueSlots::count);
  std::uint32_t* const of_group = shares.data();
  run.zero(of_group, shares.bytes());
  run.each_group(groups, [=] SPMVPACK_HOST_DEVICE(std::uint64_t g, Group group) {
    const std::uint64_t end = (g + 1) * share < a.nnz ? (g + 1) * share : a.nnz;
    std::uint32_t slot = 0, in_turn = 0;
    for (std::uint64_t k = g * share + group.lane; k < end; k += Group::lanes()) {
      const std::uint32_t here = slots.find(values[k]);
      if (here != slot && in_turn != 0) {
        atomic_add(of_group + g * ValueSlots::count + slot, in_turn);
        in_turn = 0;
      }
      slot = here;
      ++in_turn;
    }
    if (in_turn != 0) atomic_add(of_group + g * ValueSlots::count + slot, in_turn);
  });
  const Buffer<std::uint64_t> sums = run.template allocate<std::uint64_t>(ValueSlots::count);
  std::uint64_t* const sum = sums.data();
  run.each_group(ValueSlots::count, [=] SPMVPACK_HOST_DEVICE(std::uint64_t slot, Group group) {
    std::uint64_t n = 0;
    for (std::uint64_t g = group.lane; g < groups; g += Group::lanes()) n += of_group[g * ValueSlots::count + slot];
    n = group.sum(n);
    if (group.lane == 0) sum[slot] = n;
  });
  std::vector<std::uint64_t> keys = run.read(found.keys.data(), ValueSlots::hashed);
  keys.push_back(0);
  const std::vector<std::uint64_t> counts = run.read(sum, ValueSlots::count);
  std::vector<std::uint32_t> order;
  for (std::uint32_t slot = 0; slot < ValueSlots::count; ++slot)
    if (counts[slot] != 0) order.push_back(slot);
  std::sort(order.begin(), order.end(), [&](std::uint32_t i, std::uint32_t j) {
    return counts[i] != counts[j] ? counts[i] > counts[j] : keys[i] < keys[j];
  });
  std::vector<std::uint8_t> ids(ValueSlots::count);
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    ids[order[i]] = static_cast<std::uint8_t>(i);
    found.table.push_back(keys[order[i]]);
  }
  found.ids = run.template allocate<std::uint8_t>(ValueSlots::count);
  run.write(found.ids.data(), ids.data(), ids.size());
  return found;
}

template <class Execution>
DistinctValues distinct_values_of(const Execution& run, const Csr& a) {
  return dispatch_bits(a.type, [&](auto zero) { return distinct_values_of<decltype(zero)>(run, a); });
}

}  // namespace spmvpack::gpu_encoder::bitflag
