#include "layouts/csell/windows.hpp"

#include <bit>

namespace spmvpack::gpu_loader::layouts::csell_kernels {

using spmvpack::layouts::csell::group_steps;

template <class T>
bool WindowPrograms<T>::append(const Slice& slice, unsigned half, Steps& steps) const {
  if (std::uint64_t{slice.first_group()} + slice.counts > patterns_.size()) return false;  // in a file not checked
  const auto value_of = [&](std::size_t g, std::size_t k) {
    const T value = values_.size() == 1 ? values_[0] : values_[(slice.first_group() + g) * group_steps + k];
    return std::bit_cast<bits_of<T>>(value);
  };
  return launch_rules::csell::append_steps(steps, patterns_.subspan(slice.first_group(), slice.counts), half, value_of);
}

template <class T>
void WindowPrograms<T>::make(const Steps& steps) {
  const std::size_t begin = windows_.size();
  WindowProgram program{};
  program.first = static_cast<std::uint32_t>(begin);
  std::array<std::uint32_t, 2> rows{};
  launch_rules::csell::each_in_window(steps, [&](const auto& step, std::int32_t base, std::uint32_t kind, bool is_new) {
    if (is_new) {
      windows_.push_back({});
      windows_.back().base = base;
    }
    Window<T>& window = windows_.back();
    window.kinds |= kind;
    window.value[kind / 2] = std::bit_cast<T>(step.value);
    window.mask[kind / 2] = step.mask;
    for (std::size_t r = 0; r < 2; ++r) rows[r] |= step.mask[r];
  });
  for (std::size_t w = begin; w < windows_.size(); ++w) {
    Window<T>& window = windows_[w];
    bool full = true;
    for (std::uint32_t kind = 0; kind < 3; ++kind)
      full = full && ((window.kinds >> kind & 1U) == 0 || (window.mask[kind][0] & window.mask[kind][1]) == ~0U);
    if (full) window.kinds |= window_full;
  }
  while ((windows_.size() - begin) % window_batch != 0) {  // reads what the last one does
    windows_.push_back({});
    windows_.back().base = windows_[windows_.size() - 2].base;
  }
  program.count = static_cast<std::uint32_t>(windows_.size() - begin);
  if (program.count != 0) windows_[begin].rows = rows;
  if ((rows[0] & rows[1]) == ~0U) program.count |= program_all_rows;
  programs_.push_back(program);
}

template <class T>
std::optional<std::uint16_t> WindowPrograms<T>::program(std::uint64_t pair, const Slice& first, const Slice& second) {
  const auto find_steps = [&](Steps& steps) {
    return first.is_pattern() && second.is_pattern() && append(first, 0, steps) && append(second, 1, steps);
  };
  return numbers_.of_pair(
      pair, {first.pattern, first.counts, second.pattern, second.counts}, find_steps,
      [&](const Steps& steps) { make(steps); },
      [&](std::uint16_t inside) {
        programs_.push_back(programs_[inside]);
        programs_.back().count |= program_at_edge;
      });
}

#define SPMVPACK_INSTANTIATE(T) template class WindowPrograms<T>;
SPMVPACK_VALUE_TYPES(SPMVPACK_INSTANTIATE)
#undef SPMVPACK_INSTANTIATE

}  // namespace spmvpack::gpu_loader::layouts::csell_kernels
