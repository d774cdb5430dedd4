#include "layouts/csell_slice.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <limits>

#include "spmvpack/container/parallel.hpp"

namespace spmvpack::encoder::layouts::sliced {

bool full_blocks(const CsrView& a, std::uint32_t block, int threads) {
  if (a.rows() % block != 0 || a.cols() % block != 0) return false;
  constexpr std::uint64_t rows_per_task = 4096;
  std::atomic<bool> full{true};
  parallel_pieces(a.rows() / block, rows_per_task, threads, [&](std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t row = first; row < last && full; ++row) {
      const std::uint64_t begin = a.row_ptr(row * block), length = a.row_length(row * block);
      bool ok = length % block == 0;
      const std::uint32_t* const columns = a.col_idx() + begin;
      for (std::uint64_t j = 0; ok && j < length; j += block) {
        ok = columns[j] % block == 0;
        for (std::uint32_t c = 1; c < block; ++c) ok = ok && columns[j + c] == columns[j] + c;
      }
      for (std::uint32_t r = 1; ok && r < block; ++r)
        ok = a.row_length(row * block + r) == length &&
             std::equal(columns, columns + length, a.col_idx() + a.row_ptr(row * block + r));
      if (!ok) full = false;
    }
  });
  return full;
}

void SliceSteps::load(std::uint64_t slice) {
  slice_ = slice;
  width_ = 0;
  steps_.clear();
  entries_.clear();
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    const std::uint64_t row = slice * lanes + lane;
    const bool has_row = row < rows_.rows();
    length_[lane] = has_row ? rows_.length(row) : 0;
    columns_[lane] = has_row ? rows_.matrix().col_idx() + rows_.begin(row) : nullptr;
    taken_[lane] = 0;
    width_ = std::max(width_, length_[lane]);
  }
}

bool SliceSteps::same_value(std::uint32_t lane, std::uint32_t other) const {
  const std::size_t size = size_of(rows_.matrix().value_type()), bytes = rows_.block() * size;
  const auto* const values = static_cast<const std::byte*>(rows_.matrix().value_bytes());
  for (std::uint32_t r = 0; r < rows_.block(); ++r) {
    const auto at = [&](std::uint32_t l) {
      return values + (rows_.begin(slice_ * lanes + l, r) + std::uint64_t{taken_[l]} * rows_.block()) * size;
    };
    if (std::memcmp(at(lane), at(other), bytes) != 0) return false;
  }
  return true;
}

bool SliceSteps::arrange_pattern(std::uint64_t slice, bool by_value, std::uint64_t most) {
  load(slice);
  const std::uint32_t block = rows_.block();
  constexpr auto none = std::numeric_limits<std::int64_t>::max();
  std::array<std::int64_t, lanes> distance{};  // column - row of each lane's next entry
  const auto next = [&](std::uint32_t lane) {
    const std::uint64_t row = slice * lanes + lane;
    distance[lane] = taken_[lane] == length_[lane]
                         ? none
                         : static_cast<std::int64_t>(columns_[lane][std::size_t{taken_[lane]} * block] / block) -
                               static_cast<std::int64_t>(row);
  };
  for (std::uint32_t lane = 0; lane < lanes; ++lane) next(lane);
  while (true) {
    std::int64_t least = none;
    for (const std::int64_t d : distance) least = std::min(least, d);
    if (least == none) break;
    std::uint32_t left = 0;
    for (std::uint32_t lane = 0; lane < lanes; ++lane) left |= (distance[lane] == least ? 1U : 0U) << lane;
    while (left != 0) {
      std::uint32_t mask = left;
      if (by_value)
        for (std::uint32_t others = left & (left - 1); others != 0; others &= others - 1) {
          const auto other = static_cast<std::uint32_t>(std::countr_zero(others));
          if (!same_value(static_cast<std::uint32_t>(std::countr_zero(left)), other)) mask &= ~(1U << other);
        }
      left &= ~mask;
      if (steps_.size() == most) {
        steps_.clear();
        return false;
      }
      steps_.push_back(
          {static_cast<std::uint32_t>(least), mask, Columns::pattern, static_cast<std::uint32_t>(entries_.size())});
      for (; mask != 0; mask &= mask - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(mask));
        entries_.push_back(taken_[lane]++);
        next(lane);
      }
    }
  }
  groups_ = {{static_cast<std::uint32_t>(div_up(steps_.size(), group_steps)), 0, 0, 0}};
  return true;
}

void SliceSteps::align(bool windows) {
  const std::uint32_t block = rows_.block();
  steps_.clear();
  entries_.clear();
  taken_.fill(0);
  const auto column = [&](std::uint32_t lane, std::uint32_t j) {
    return columns_[lane][std::size_t{j} * block] / block;
  };
  while (true) {
    std::array<std::uint32_t, lanes> end{};
    std::uint64_t low = ~std::uint64_t{0};
    for (std::uint32_t lane = 0; lane < lanes; ++lane)
      if (taken_[lane] < length_[lane]) low = std::min<std::uint64_t>(low, column(lane, taken_[lane]));
    if (low == ~std::uint64_t{0}) break;
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      end[lane] = windows ? taken_[lane] : length_[lane];
      while (end[lane] < length_[lane] && column(lane, end[lane]) - low < 65536) ++end[lane];
    }
    while (true) {
      Step step{~0U, 0, Columns::offset_8, static_cast<std::uint32_t>(entries_.size())};
      std::uint32_t high = 0;
      for (std::uint32_t lane = 0; lane < lanes; ++lane) {
        if (taken_[lane] == end[lane]) continue;
        const std::uint32_t at = column(lane, taken_[lane]);
        step.base = std::min(step.base, at);
        high = std::max(high, at);
        step.mask |= 1U << lane;
        entries_.push_back(taken_[lane]++);
      }
      if (step.mask == 0) break;
      const std::uint32_t spread = high - step.base;
      step.columns = spread < 256 ? Columns::offset_8 : spread < 65536 ? Columns::offset_16 : Columns::offset_32;
      steps_.push_back(step);
    }
  }
  choose_columns();
}

/// Puts narrow steps first. What is left over of a kind joins the next wider one where that has room in its last group.
void SliceSteps::choose_columns() {
  std::array<std::uint32_t, 4> n{};
  for (const Step& step : steps_) ++n.at(static_cast<std::size_t>(step.columns));
  for (std::size_t kind = 1; kind < 3; ++kind) {
    const std::uint32_t over = n.at(kind) % group_steps, used = n.at(kind + 1) % group_steps;
    if (over == 0 || used == 0 || over > group_steps - used) continue;
    std::uint32_t left = over;
    for (auto step = steps_.rbegin(); left != 0; ++step)
      if (step->columns == static_cast<Columns>(kind)) step->columns = static_cast<Columns>(kind + 1), --left;
    n.at(kind) -= over;
    n.at(kind + 1) += over;
  }
  std::stable_sort(steps_.begin(), steps_.end(), [](const Step& a, const Step& b) { return a.columns < b.columns; });
  for (std::size_t kind = 0; kind < 4; ++kind)
    groups_.of[kind] = static_cast<std::uint32_t>(div_up(n.at(kind), group_steps));
}

std::uint64_t SliceSteps::units() const { return stream_layout(groups_, 0).end; }

void SliceSteps::arrange_offsets(std::uint64_t slice) {
  load(slice);
  align(false);
  if (groups_.of[static_cast<std::size_t>(Columns::offset_32)] == 0) return;
  // Entries far apart may take fewer bytes in steps of their own.
  const std::uint64_t plain = units();
  std::swap(steps_, other_steps_);
  std::swap(entries_, other_entries_);
  std::swap(groups_, other_groups_);
  align(true);
  if (units() < plain) return;
  std::swap(steps_, other_steps_);
  std::swap(entries_, other_entries_);
  std::swap(groups_, other_groups_);
}

}  // namespace spmvpack::encoder::layouts::sliced
