#include "layouts/csell/windows.hpp"

#include <algorithm>
#include <bit>

namespace spmvpack::gpu_loader::layouts::csell_kernels {
namespace {

using spmvpack::layouts::csell::group_steps;

/// Every second bit of a slice's mask, from `first` on, as those of the warp's half.
std::uint32_t rows_of_half(std::uint32_t mask, unsigned first, unsigned half) {
  std::uint32_t bits = 0;
  for (unsigned lane = 0; lane < 16; ++lane) bits |= (mask >> (2 * lane + first) & 1U) << (16 * half + lane);
  return bits;
}

template <class T>
bool same_bits(T a, T b) {
  return std::bit_cast<bits_of<T>>(a) == std::bit_cast<bits_of<T>>(b);
}

}  // namespace

template <class T>
bool WindowPrograms<T>::append_steps(const Slice& slice, unsigned half) {
  const std::size_t begin = steps_.size();
  if (std::uint64_t{slice.first_group()} + slice.counts > patterns_.size()) return false;  // in a file not checked
  for (std::uint32_t g = 0; g < slice.counts; ++g) {
    const Group& group = patterns_[slice.first_group() + g];
    for (std::uint32_t k = 0; k < group_steps && group.mask[k] != 0; ++k) {
      const auto base = static_cast<std::int32_t>(group.base[k]);
      if (steps_.size() > begin && base < steps_.back().base) return false;
      const T value = values_.size() == 1 ? values_[0] : values_[(slice.first_group() + g) * group_steps + k];
      steps_.push_back({base, value, {rows_of_half(group.mask[k], 0, half), rows_of_half(group.mask[k], 1, half)}});
    }
  }
  return true;
}

template <class T>
auto WindowPrograms<T>::build(const Slice& first, const Slice& second) -> std::optional<Known> {
  steps_.clear();
  if (!append_steps(first, 0) || !append_steps(second, 1)) return std::nullopt;
  std::stable_sort(steps_.begin(), steps_.end(), [](const Step& a, const Step& b) { return a.base < b.base; });
  // Steps of the two slices that differ in their rows alone become one. Those of one column may come in any order, as
  // no row has two of them.
  std::size_t merged = 0;
  for (const Step& step : steps_) {
    std::size_t at = merged;
    while (at > 0 && steps_[at - 1].base == step.base && !same_bits(steps_[at - 1].value, step.value)) --at;
    if (at > 0 && steps_[at - 1].base == step.base)
      for (std::size_t odd = 0; odd < 2; ++odd) steps_[at - 1].mask[odd] |= step.mask[odd];
    else
      steps_[merged++] = step;
  }
  steps_.resize(merged);

  const std::size_t begin = windows_.size();
  WindowProgram program{};
  program.first = static_cast<std::uint32_t>(begin);
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    const bool odd = (step.base & 1) != 0, is_open = windows_.size() > begin;
    // The last window takes the step if that is the next of its kinds.
    std::uint32_t kind = odd ? window_before : window_at;
    if (is_open && step.base == windows_.back().base + 1) kind = window_after;
    const std::int32_t base = step.base + (kind == window_before ? 1 : kind == window_after ? -1 : 0);
    if (!is_open || windows_.back().base != base || windows_.back().kinds >= kind) {
      windows_.push_back({});
      windows_.back().base = base;
    }
    Window<T>& window = windows_.back();
    window.kinds |= kind;
    window.value[kind / 2] = step.value;
    window.mask[kind / 2] = step.mask;
    for (std::size_t r = 0; r < 2; ++r) program.rows[r] |= step.mask[r];
  }
  Known known{static_cast<std::uint16_t>(programs_.size()), none};
  for (std::size_t w = begin; w < windows_.size(); ++w) {
    Window<T>& window = windows_[w];
    bool full = true;
    for (std::uint32_t kind = 0; kind < 3; ++kind)
      full = full && ((window.kinds >> kind & 1U) == 0 || (window.mask[kind][0] & window.mask[kind][1]) == ~0U);
    if (full) window.kinds |= window_full;
    known.least = std::min(known.least, window.base - 1);
    known.most = std::max(known.most, window.base);
  }
  while ((windows_.size() - begin) % window_batch != 0) {  // reads what the last one does
    windows_.push_back({});
    windows_.back().base = windows_[windows_.size() - 2].base;
  }
  program.count = static_cast<std::uint32_t>(windows_.size() - begin);
  if ((program.rows[0] & program.rows[1]) == ~0U) program.count |= program_all_rows;
  if (windows_.size() > most_windows_ || programs_.size() >= none) return std::nullopt;
  programs_.push_back(program);
  furthest_ = std::max(furthest_, known.most);
  return known;
}

template <class T>
std::optional<std::uint16_t> WindowPrograms<T>::program(std::uint64_t pair, const Slice& first, const Slice& second) {
  const Key key{first.pattern, first.counts, second.pattern, second.counts};
  if (latest_ == known_.end() || latest_->first != key) {
    latest_ = known_.find(key);
    if (latest_ == known_.end()) {
      if (!first.is_pattern() || !second.is_pattern()) return std::nullopt;
      const std::optional<Known> built = build(first, second);
      if (!built) return std::nullopt;
      latest_ = known_.emplace(key, *built).first;
    }
  }
  Known& known = latest_->second;
  const std::int64_t row = static_cast<std::int64_t>(pair) * pair_rows;
  // The last odd row reads the element after its own.
  if (row + known.least >= 0 && row + known.most + pair_rows < static_cast<std::int64_t>(columns_)) return known.inside;
  if (known.at_edge == none) {
    if (programs_.size() >= none) return std::nullopt;
    known.at_edge = static_cast<std::uint16_t>(programs_.size());
    programs_.push_back(programs_[known.inside]);
    programs_.back().count |= program_at_edge;
  }
  return known.at_edge;
}

#define SPMVPACK_INSTANTIATE(T) template class WindowPrograms<T>;
SPMVPACK_VALUE_TYPES(SPMVPACK_INSTANTIATE)
#undef SPMVPACK_INSTANTIATE

}  // namespace spmvpack::gpu_loader::layouts::csell_kernels
