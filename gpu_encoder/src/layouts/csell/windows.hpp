#pragma once
// How many windows of x the kernel for patterns would have: encoder's ColumnsPlan::windows(), on the host, from the
// slices' headers and the dictionary.

#include <cstdint>
#include <span>
#include <vector>

#include "layouts/csell/columns.hpp"
#include "layouts/csell/fill.hpp"
#include "spmvpack/launch_rules/csell_windows.hpp"

namespace spmvpack::gpu_encoder::csell {

/// Of blocks of one entry; 0 if there are none for so many pairs of slices.
template <class Execution>
std::uint64_t count_windows(const Execution& run, const Rows& rows, const ColumnsPlan& columns,
                            std::uint64_t multiprocessors, std::uint32_t pairs) {
  using Numbers = launch_rules::csell::ProgramNumbers<std::uint64_t>;
  Numbers numbers(rows.a.cols, launch_rules::csell::window_limits(columns.slices, multiprocessors, pairs), pairs);
  const Buffer<Slice> on_device = run.template allocate<Slice>(columns.slices);
  const Buffer<Group> dictionary = run.template allocate<Group>(columns.sums.dictionary_groups);
  const Buffer<std::byte> values = run.template allocate<std::byte>(columns.step_value_bytes);
  run.each(columns.slices, WriteSlices{columns.plans(), nullptr, nullptr, on_device.data()});
  write_patterns(run, rows, columns, dictionary.data(), values.data());
  const std::vector<Slice> slices = run.read(on_device.data(), on_device.size());
  const std::vector<Group> patterns = run.read(dictionary.data(), dictionary.size());
  const std::vector<std::byte> bytes = run.read(values.data(), values.size());
  const Words bits{bytes.data(), rows.values.size};
  const auto append = [&](const Slice& slice, unsigned number, Numbers::Steps& steps) {
    const auto pattern = std::span(patterns).subspan(slice.first_group(), slice.counts);
    return launch_rules::csell::append_steps(steps, pattern, number, [&](std::size_t g, std::size_t k) {
      return bytes.empty() ? std::uint64_t{0} : bits[(slice.first_group() + g) * group_steps + k];
    });
  };
  std::vector<Slice> some(std::size_t{2} * pairs);
  for (std::uint64_t s = 0; s < slices.size(); s += some.size()) {
    for (std::uint64_t i = 0; i < some.size(); ++i) some[i] = s + i < slices.size() ? slices[s + i] : Slice{};
    const auto number = numbers.of(
        s / some.size(), some, append, [](const Numbers::Steps&) {}, [](std::uint16_t) {});
    if (!number) return 0;
  }
  return numbers.longest();
}

}  // namespace spmvpack::gpu_encoder::csell
