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

/// The entries with the value of each slot. numbers: of the slots, below `count`, in any order.
template <class Bits, class Execution>
std::vector<std::uint64_t> count_values(const Execution& run, const Csr& a, ValueSlots slots,
                                        const std::uint32_t* numbers, std::uint32_t count) {
  // Groups count shares of the entries, each for itself.
  constexpr std::uint64_t least_share = 1024, most_groups = 16384, groups_of_sum = 256;
  const std::uint64_t groups = std::clamp<std::uint64_t>(div_up(a.nnz, least_share), 1, most_groups),
                      share = div_up(a.nnz, groups);
  const Buffer<std::uint32_t> counts = run.template allocate<std::uint32_t>(groups * count);
  const Buffer<std::uint64_t> sums = run.template allocate<std::uint64_t>(count);
  std::uint32_t* const of_groups = counts.data();
  std::uint64_t* const sum = sums.data();
  run.zero(of_groups, counts.bytes());
  run.zero(sum, sums.bytes());
  const Bits* const values = a.values<Bits>();
  run.each_group(groups, [=] SPMVPACK_HOST_DEVICE(std::uint64_t g, Group group) {
    std::uint32_t* const own = of_groups + g * count;
    const std::uint64_t end = (g + 1) * share < a.nnz ? (g + 1) * share : a.nnz;
    std::uint32_t number = 0, in_turn = 0;
    for (std::uint64_t k = g * share + group.lane; k < end; k += Group::lanes()) {
      const std::uint32_t here = numbers[slots.find(values[k])];
      if (here != number && in_turn != 0) {
        atomic_add(own + number, in_turn);
        in_turn = 0;
      }
      number = here;
      ++in_turn;
    }
    if (in_turn != 0) atomic_add(own + number, in_turn);
  });
  run.each(div_up(groups, groups_of_sum) * count, [=] SPMVPACK_HOST_DEVICE(std::uint64_t i) {
    const std::uint64_t first = i / count * groups_of_sum,
                        last = first + groups_of_sum < groups ? first + groups_of_sum : groups;
    std::uint64_t n = 0;
    for (std::uint64_t g = first; g < last; ++g) n += of_groups[g * count + i % count];
    atomic_add(sum + i % count, n);
  });
  return run.read(sum, count);
}

template <class Bits, class Execution>
DistinctValues distinct_values_of(const Execution& run, const Csr& a) {
  constexpr std::uint32_t most = layouts::bitflag::max_table;
  DistinctValues found;
  found.keys = run.template allocate<std::uint64_t>(ValueSlots::hashed);
  run.zero(found.keys.data(), found.keys.bytes());
  const ValueSlots slots{found.keys.data()};
  const Buffer<std::uint32_t> numbers = run.template allocate<std::uint32_t>(ValueSlots::count),
                              counter = run.template allocate<std::uint32_t>(2);  // values but 0; whether 0 is one
  run.zero(counter.data(), counter.bytes());
  run.zero(numbers.data(), numbers.bytes());
  std::uint32_t *const counted = counter.data(), *const number = numbers.data();
  const Bits* const values = a.values<Bits>();
  // Values are put there until there are too many.
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
      if (before == 0) number[slot] = atomic_add(counted, 1U);
      if (before == 0 || before == key) return;
    }
    atomic_add(counted, most + 1);  // full
  });
  const auto seen = run.read(counted, 2);
  found.count = seen[0] > most ? most + 1 : seen[0] + seen[1];
  if (found.count > most || found.count == 0) return found;
  if (seen[1] != 0) run.write(number + ValueSlots::zero, seen.data(), 1);  // the last number

  const std::vector<std::uint64_t> counts =
      count_values<Bits>(run, a, slots, number, static_cast<std::uint32_t>(found.count));
  const std::vector<std::uint32_t> number_of = run.read(number, ValueSlots::count);
  std::vector<std::uint64_t> keys = run.read(found.keys.data(), ValueSlots::hashed);
  keys.push_back(0);
  std::vector<std::uint32_t> order;  // slots with values
  for (std::uint32_t slot = 0; slot < ValueSlots::count; ++slot)
    if (slot == ValueSlots::zero ? seen[1] != 0 : keys[slot] != 0) order.push_back(slot);
  std::sort(order.begin(), order.end(), [&](std::uint32_t i, std::uint32_t j) {
    const std::uint64_t of_i = counts[number_of[i]], of_j = counts[number_of[j]];
    return of_i != of_j ? of_i > of_j : keys[i] < keys[j];
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
