#include "layouts/csell/windows.hpp"

#include <algorithm>
#include <bit>

namespace spmvpack::gpu_loader::layouts::csell_kernels {

using spmvpack::layouts::csell::group_steps;

template <class T>
bool WindowPrograms<T>::append(const Slice& slice, unsigned number, Steps& steps) const {
  if (std::uint64_t{slice.first_group()} + slice.counts > patterns_.size()) return false;  // in a file not checked
  const auto value_of = [&](std::size_t g, std::size_t k) {
    const T value = values_.size() == 1 ? values_[0] : values_[(slice.first_group() + g) * group_steps + k];
    return std::bit_cast<bits_of<T>>(value);
  };
  return launch_rules::csell::append_steps(steps, patterns_.subspan(slice.first_group(), slice.counts), number,
                                           value_of);
}

template <class T>
void WindowPrograms<T>::make(const Steps& steps) {
  const std::size_t begin = windows_.size();
  WindowProgram program{};
  program.first = static_cast<std::uint32_t>(begin);
  const std::uint32_t row_count = 2 * numbers_.pairs();
  LaneRows all{};  // rows that have entries
  const auto has_all = [&](const LaneRows& some) {
    return std::all_of(some.begin(), some.begin() + row_count, [](std::uint32_t bits) { return bits == ~0U; });
  };
  launch_rules::csell::each_in_window(steps, [&](const auto& step, std::int32_t base, std::uint32_t kind, bool is_new) {
    if (is_new) {
      windows_.push_back({});
      windows_.back().base = base;
      windows_.back().kinds = window_full;
    }
    Window<T>& window = windows_.back();
    window.kinds |= kind;
    window.value[kind / 2] = std::bit_cast<T>(step.value);
    for (std::uint32_t lane = 0; lane < window.rows.size(); ++lane)
      for (std::uint32_t row = 0; row < row_count; ++row)
        if ((step.rows[row] >> lane & 1U) != 0)
          window.rows[lane] = static_cast<std::uint16_t>(window.rows[lane] | row_bit(kind / 2, row));
    if (!has_all(step.rows)) window.kinds &= ~window_full;
    for (std::size_t i = 0; i < all.size(); ++i) all[i] |= step.rows[i];
  });
  while ((windows_.size() - begin) % window_batch != 0) {  // reads what the last one does
    windows_.push_back({});
    windows_.back().base = windows_[windows_.size() - 2].base;
  }
  program.count = static_cast<std::uint32_t>(windows_.size() - begin);
  if (has_all(all)) program.count |= program_all_rows;
  programs_.push_back(program);
}

template <class T>
std::optional<std::uint16_t> WindowPrograms<T>::program(std::uint64_t place, std::span<const Slice> slices) {
  return numbers_.of(
      place, slices, [&](const Slice& slice, unsigned number, Steps& steps) { return append(slice, number, steps); },
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
