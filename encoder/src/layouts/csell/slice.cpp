#include "layouts/csell/slice.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <limits>

#include "spmvpack/container/base/parallel.hpp"

namespace spmvpack::encoder::layouts::csell_plans {

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

namespace {

template <class Key>
using Lanes = std::array<Key, lanes>;
template <class Key>
constexpr Key none = std::numeric_limits<Key>::max();

template <class Key>
Key least(const Lanes<Key>& keys) {
  Key low = none<Key>;
  for (const Key k : keys) low = std::min(low, k);
  return low;
}

/// A bit for each lane; without shifts by its number, which the baseline has no vectors for.
constexpr std::array<std::uint32_t, lanes> lane_bits = [] {
  std::array<std::uint32_t, lanes> bits{};
  for (std::uint32_t lane = 0; lane < lanes; ++lane) bits[lane] = 1U << lane;
  return bits;
}();

/// The lanes for whose keys f is true.
template <class Key, class F>
std::uint32_t lanes_where(const Lanes<Key>& keys, F&& f) {
  std::uint32_t mask = 0;
  for (std::uint32_t lane = 0; lane < lanes; ++lane) mask |= lane_bits[lane] & (f(keys[lane]) ? ~0U : 0U);
  return mask;
}

}  // namespace

bool same_shape(const BlockRows& rows, std::uint64_t slice, std::uint64_t other, bool by_value) {
  const CsrView& a = rows.matrix();
  const std::uint64_t height = std::uint64_t{lanes} * rows.block(), first = slice * height, from = other * height;
  const std::uint64_t n = std::min(height, a.rows() - first), begin = a.row_ptr(first), known = a.row_ptr(from);
  if (n != std::min(height, a.rows() - from)) return false;
  const std::uint64_t entries = a.row_ptr(first + n) - begin;
  if (entries != a.row_ptr(from + n) - known) return false;
  const auto shift = static_cast<std::uint32_t>(first - from);
  const std::uint32_t *const columns = a.col_idx() + begin, *const others = a.col_idx() + known;
  if (entries != 0 && columns[0] - others[0] != shift) return false;  // most end here
  for (std::uint64_t r = 1; r < n; ++r)
    if (a.row_ptr(first + r) - begin != a.row_ptr(from + r) - known) return false;
  constexpr std::uint64_t piece = 64;  // a loop that ends early is not vectorised
  for (std::uint64_t k = 0; k < entries; k += piece) {
    std::uint32_t differ = 0;
    for (std::uint64_t i = k; i < std::min(entries, k + piece); ++i) differ |= columns[i] - others[i] - shift;
    if (differ != 0) return false;
  }
  const std::size_t size = size_of(a.value_type());
  const auto* const values = static_cast<const std::byte*>(a.value_bytes());
  // Without entries there may be no array of values, which memcmp must not be given.
  return !by_value || entries == 0 || std::memcmp(values + begin * size, values + known * size, entries * size) == 0;
}

void SliceSteps::load(std::uint64_t slice) {
  slice_ = slice;
  width_ = 0;
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    const std::uint64_t row = slice * lanes + lane;
    const bool has_row = row < rows_.rows();
    length_[lane] = has_row ? rows_.length(row) : 0;
    columns_[lane] = has_row ? rows_.matrix().col_idx() + rows_.begin(row) : nullptr;
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
  // Half as wide, twice as fast; only the last columns of the widest matrices need more.
  return rows_.matrix().cols() < none<std::uint32_t> - lanes ? arrange_pattern_by<std::uint32_t>(by_value, most)
                                                             : arrange_pattern_by<std::uint64_t>(by_value, most);
}

template <class Key>
bool SliceSteps::arrange_pattern_by(bool by_value, std::uint64_t most) {
  steps_.clear();
  entries_.resize(rows_.blocks(slice_));
  taken_.fill(0);
  std::uint32_t used = 0;  // entries
  const auto first_row = static_cast<std::uint32_t>(slice_ * lanes);
  Lanes<Key> distance;  // of each lane's next entry: column - row, from that of the last lane in column 0 on
  const auto next = [&](std::uint32_t lane) {
    distance[lane] = taken_[lane] == length_[lane] ? none<Key> : Key{column(lane)} + (lanes - 1 - lane);
  };
  for (std::uint32_t lane = 0; lane < lanes; ++lane) next(lane);
  while (true) {
    const Key low = least(distance);
    if (low == none<Key>) break;
    std::uint32_t left = lanes_where(distance, [low](Key d) { return d == low; });
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
      steps_.push_back({static_cast<std::uint32_t>(low) - (lanes - 1) - first_row, mask, Columns::pattern, used});
      for (; mask != 0; mask &= mask - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(mask));
        entries_[used++] = taken_[lane]++;
        next(lane);
      }
    }
  }
  groups_ = {{static_cast<std::uint32_t>(div_up(steps_.size(), group_steps)), 0, 0, 0}};
  return true;
}

bool SliceSteps::align(bool windows, std::uint64_t most) {
  steps_.clear();
  taken_.fill(0);
  kinds_ = {};
  Lanes<std::uint32_t> at;  // the column of each lane's next entry
  const auto next = [&](std::uint32_t lane) {
    at[lane] = taken_[lane] == length_[lane] ? none<std::uint32_t> : column(lane);
  };
  for (std::uint32_t lane = 0; lane < lanes; ++lane) next(lane);
  for (std::uint32_t low = least(at); low != none<std::uint32_t>; low = least(at)) {
    const std::uint32_t last =
        windows ? low + std::min(0xFFFFU, none<std::uint32_t> - 1 - low) : none<std::uint32_t> - 1;
    // Lanes only leave a window: most of its steps have few.
    for (std::uint32_t active = lanes_where(at, [last](std::uint32_t c) { return c <= last; }); active != 0;) {
      Step step{none<std::uint32_t>, active, Columns::offset_8};
      std::uint32_t high = 0;
      for (std::uint32_t mask = step.mask; mask != 0; mask &= mask - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(mask));
        step.base = std::min(step.base, at[lane]);
        high = std::max(high, at[lane]);
        ++taken_[lane];
        next(lane);
        active ^= at[lane] > last ? 1U << lane : 0;
      }
      const std::uint32_t spread = high - step.base;
      step.columns = spread < 256 ? Columns::offset_8 : spread < 65536 ? Columns::offset_16 : Columns::offset_32;
      ++kinds_.at(static_cast<std::size_t>(step.columns));
      steps_.push_back(step);
      if (active == 0 || (active & (active - 1)) != 0) continue;  // has_single_bit() is a call in the baseline
      // The rest of the only row that is left, as after the few long ones of a graph.
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(active));
      for (; at[lane] <= last; next(lane)) {
        ++kinds_[static_cast<std::size_t>(Columns::offset_8)];
        steps_.push_back({at[lane], active, Columns::offset_8});
        ++taken_[lane];
      }
      active = 0;
    }
    // Later steps only add to full groups of narrow steps, and to all groups of wider ones.
    const SliceGroups so_far{
        {0, kinds_[1] / group_steps, static_cast<std::uint32_t>(div_up(kinds_[2], group_steps)), 0}};
    if (windows && stream_layout(so_far, 0).end >= most) return false;
  }
  PerKind n = kinds_;
  widened_ = {};
  for (std::size_t kind = 1; kind < 3; ++kind) {
    const std::uint32_t over = n.at(kind) % group_steps, room = group_steps - n.at(kind + 1) % group_steps;
    if (over == 0 || room == group_steps || over > room) continue;
    widened_.at(kind) = over;
    n.at(kind) -= over;
    n.at(kind + 1) += over;
  }
  groups_ = groups_of(n);
  return units() < most;
}

SliceGroups SliceSteps::groups_of(const PerKind& steps) {
  SliceGroups groups{};
  for (std::size_t kind = 0; kind < 4; ++kind)
    groups.of[kind] = static_cast<std::uint32_t>(div_up(steps.at(kind), group_steps));
  return groups;
}

StepRange SliceSteps::find_offsets(std::uint64_t slice, OffsetSteps& to) {
  load(slice);
  align(false, ~std::uint64_t{0});
  if (groups_.of[static_cast<std::size_t>(Columns::offset_32)] != 0) {
    // Entries far apart may take fewer bytes in steps of their own.
    const SliceGroups groups = groups_;
    const PerKind widened = widened_;
    std::swap(steps_, others_);
    if (!align(true, units())) {
      std::swap(steps_, others_);
      groups_ = groups;
      widened_ = widened;
    }
  }
  for (std::size_t kind = 1; kind < 3; ++kind) {
    std::uint32_t left = widened_.at(kind);
    for (auto step = steps_.rbegin(); left != 0; ++step)
      if (step->columns == static_cast<Columns>(kind)) step->columns = static_cast<Columns>(kind + 1), --left;
  }
  const StepRange range{to.masks.size(), steps_.size()};
  for (const Step& step : steps_) {
    to.masks.push_back(step.mask);
    to.columns.push_back(step.columns);
  }
  return range;
}

void SliceSteps::arrange_offsets(std::uint64_t slice, const OffsetSteps& from, StepRange range) {
  load(slice);
  const std::uint64_t end = range.first + range.count;
  kinds_ = {};
  for (std::uint64_t i = range.first; i < end; ++i) ++kinds_[static_cast<std::size_t>(from.columns[i])];
  groups_ = groups_of(kinds_);
  std::array<std::size_t, 4> place{0, 0, kinds_[1], kinds_[1] + std::size_t{kinds_[2]}};
  steps_.resize(range.count);
  entries_.resize(rows_.blocks(slice));
  taken_.fill(0);
  std::uint32_t used = 0;
  for (std::uint64_t i = range.first; i < end; ++i) {
    Step& step = steps_[place[static_cast<std::size_t>(from.columns[i])]++];
    step = {none<std::uint32_t>, from.masks[i], from.columns[i], used};
    for (std::uint32_t mask = step.mask; mask != 0; mask &= mask - 1) {
      const auto lane = static_cast<std::uint32_t>(std::countr_zero(mask));
      step.base = std::min(step.base, column(lane));
      entries_[used++] = taken_[lane]++;
    }
  }
}

}  // namespace spmvpack::encoder::layouts::csell_plans
