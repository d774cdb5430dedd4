#pragma once
// How many windows of x the kernel for patterns would have: encoder's ColumnsPlan::windows(). Programs are counted on
// the host, from slices that differ: of those alike, the first and the last matter, which may be at an end of x.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "layouts/csell/columns.hpp"
#include "layouts/csell/fill.hpp"
#include "spmvpack/launch_rules/csell_windows.hpp"

namespace spmvpack::gpu_encoder::csell {

namespace windows_detail {

using Numbers = launch_rules::csell::ProgramNumbers<std::uint64_t>;
inline constexpr std::uint32_t most_slices = 2 * launch_rules::csell::most_pairs;
/// A list in a key takes so many bits: its number plus 1, and 0 where there is no slice.
inline constexpr std::uint32_t list_bits = 64 / most_slices;

struct MarkOwners {
  SlicePlans plans;
  std::uint32_t* number;
  SPMVPACK_HOST_DEVICE void operator()(std::uint64_t s) const { number[s] = plans.is_owner(s) ? 1 : 0; }
};
struct ListSlices {
  SlicePlans plans;
  const std::uint32_t* number;
  Slice* lists;
  SPMVPACK_HOST_DEVICE void operator()(std::uint64_t s) const {
    if (plans.is_owner(s)) lists[number[s]] = {plans.first_group(s), 0, 0, plans.groups(s).counts()};
  }
};
/// What the slices of a program are.
struct MakeKeys {
  SlicePlans plans;
  const std::uint32_t* number;
  std::uint64_t slices;
  std::uint32_t together;
  std::uint64_t* keys;
  std::uint32_t* places;
  SPMVPACK_HOST_DEVICE void operator()(std::uint64_t i) const {
    std::uint64_t key = 0;
    for (std::uint32_t k = 0; k < together; ++k) {
      const std::uint64_t s = i * together + k;
      if (s < slices) key |= std::uint64_t{number[plans.owner[s]] + 1} << (list_bits * k);
    }
    keys[i] = key;
    places[i] = static_cast<std::uint32_t>(i);
  }
};
struct MarkEnds {
  const std::uint64_t* keys;
  std::uint64_t count;
  std::uint8_t* is_end;  ///< whether it is the first or the last with its key
  SPMVPACK_HOST_DEVICE void operator()(std::uint64_t i) const {
    is_end[i] = i == 0 || i + 1 == count || keys[i] != keys[i - 1] || keys[i] != keys[i + 1] ? 1 : 0;
  }
};
struct Program {
  std::uint64_t key;
  std::uint64_t place;
};
struct TakeEnds {
  const std::uint64_t* keys;
  const std::uint32_t *places, *ends;
  Program* programs;
  SPMVPACK_HOST_DEVICE void operator()(std::uint64_t i) const { programs[i] = {keys[ends[i]], places[ends[i]]}; }
};

}  // namespace windows_detail

/// Of blocks of one entry, whose slices all have patterns; 0 if there are none for so many pairs of slices.
template <class Execution>
std::uint64_t count_windows(const Execution& run, const Rows& rows, const ColumnsPlan& columns,
                            std::uint64_t multiprocessors, std::uint32_t pairs) {
  using namespace windows_detail;
  namespace launch = launch_rules::csell;
  const launch::WindowLimits limits = launch::window_limits(columns.slices, multiprocessors, pairs);
  const std::uint32_t together = 2 * pairs;
  // A program has so many lists at most, and unless all are without steps, a batch of windows at least.
  if ((columns.sums.lists - 1) / together * launch::window_batch > limits.of_part) return 0;
  if (columns.sums.lists >= std::uint64_t{1} << list_bits)
    throw Error(errc::unsupported, "csell: too many patterns to look for windows of x", {},
                "name csell.values, or encode on the host");
  const SlicePlans plans = columns.plans();
  const std::uint64_t count = div_up(columns.slices, std::uint64_t{together});
  const Buffer<std::uint32_t> number = run.template allocate<std::uint32_t>(columns.slices),
                              ends = run.template allocate<std::uint32_t>(count);
  const Buffer<Slice> lists = run.template allocate<Slice>(columns.sums.lists);
  const Buffer<Group> dictionary = run.template allocate<Group>(columns.sums.dictionary_groups);
  const Buffer<std::byte> step_values = run.template allocate<std::byte>(columns.step_value_bytes);
  Buffer<std::uint64_t> keys = run.template allocate<std::uint64_t>(count);
  Buffer<std::uint32_t> places = run.template allocate<std::uint32_t>(count);
  const Buffer<std::uint8_t> is_end = run.template allocate<std::uint8_t>(count);
  write_patterns(run, rows, columns, dictionary.data(), step_values.data());
  run.each(columns.slices, MarkOwners{plans, number.data()});
  run.sum_before(number.data(), number.data(), columns.slices);
  run.each(columns.slices, ListSlices{plans, number.data(), lists.data()});
  run.each(count, MakeKeys{plans, number.data(), columns.slices, together, keys.data(), places.data()});
  run.sort_pairs(keys, places, count, static_cast<int>(list_bits * together));
  run.each(count, MarkEnds{keys.data(), count, is_end.data()});
  const std::uint64_t found = run.select(is_end.data(), count, ends.data());
  const Buffer<Program> programs = run.template allocate<Program>(found);
  run.each(found, TakeEnds{keys.data(), places.data(), ends.data(), programs.data()});
  const std::vector<Program> known = run.read(programs.data(), found);
  const std::vector<Slice> slices = run.read(lists.data(), lists.size());
  const std::vector<Group> patterns = run.read(dictionary.data(), dictionary.size());
  const std::vector<std::byte> bytes = run.read(step_values.data(), step_values.size());

  const Words bits{bytes.data(), rows.values.size};
  const auto append = [&](const Slice& slice, unsigned of_pairs, Numbers::Steps& steps) {
    const auto pattern = std::span(patterns).subspan(slice.first_group(), slice.counts);
    return launch::append_steps(steps, pattern, of_pairs, [&](std::size_t g, std::size_t k) {
      return bytes.empty() ? std::uint64_t{0} : bits[(slice.first_group() + g) * group_steps + k];
    });
  };
  Numbers numbers(rows.a.cols, limits, pairs);
  std::vector<Slice> some(together);
  for (const Program& program : known) {
    for (std::uint32_t k = 0; k < together; ++k) {
      const std::uint64_t list = program.key >> (list_bits * k) & ((std::uint64_t{1} << list_bits) - 1);
      some[k] = list == 0 ? Slice{} : slices[list - 1];
    }
    const auto program_number = numbers.of(
        program.place, some, append, [](const Numbers::Steps&) {}, [](std::uint16_t) {});
    if (!program_number) return 0;
  }
  return numbers.longest();
}

}  // namespace spmvpack::gpu_encoder::csell
