#include "layouts/sjds/slices.hpp"

#include <algorithm>
#include <cstring>

namespace spmvpack::encoder::layouts::sjds_plans {
namespace {

constexpr std::uint32_t narrow_columns = 65536;

/// The least and the greatest column of a step.
struct Columns {
  std::uint32_t least = ~std::uint32_t{0}, greatest = 0;

  void take(std::uint32_t column) {
    least = std::min(least, column);
    greatest = std::max(greatest, column);
  }
  [[nodiscard]] bool within(std::uint32_t reach_of) const { return greatest - least < reach_of; }
};

/// Calls f(step, lanes, columns, is_window) for the steps of a slice in order, and full_step(step, columns of the
/// lanes) before those of all lanes.
template <class F, class FullStep>
void each_step(const CsrView& a, const Lanes& from, F&& f, FullStep&& full_step) {
  const bool has_windows = a.cols() >= reach;
  for (std::uint32_t step = 0; step < from.full_steps(); ++step) {
    launch_rules::sjds::StepColumns of_lanes;
    Columns columns;
    for (std::uint32_t lane = 0; lane < lanes; ++lane) {
      of_lanes[lane] = a.col_idx()[from.entry(lane, step)];
      columns.take(of_lanes[lane]);
    }
    full_step(step, of_lanes);
    f(step, lanes, columns, has_windows && columns.within(reach));
  }
  for (std::uint32_t step = from.full_steps(); step < from.steps(); ++step) {
    const std::uint32_t n = from.lanes_of(step);
    Columns columns;
    for (std::uint32_t lane = 0; lane < n; ++lane) columns.take(a.col_idx()[from.entry(lane, step)]);
    f(step, n, columns, false);
  }
}
template <class F>
void each_step(const CsrView& a, const Lanes& from, F&& f) {
  each_step(a, from, f, [](std::uint32_t, const launch_rules::sjds::StepColumns&) {});
}

/// Makes `element` element i of the array that the bytes are.
template <class Element>
void put(std::span<std::byte> bytes, std::uint64_t i, Element element) {
  std::memcpy(&bytes[i * sizeof element], &element, sizeof element);
}

}  // namespace

Lanes Lanes::of_rows(const CsrView& a, std::uint64_t first_row, std::span<const std::uint16_t> rows) {
  Lanes from;
  for (std::size_t lane = 0; lane < rows.size(); ++lane) {
    from.first_.at(lane) = a.row_ptr(first_row + rows[lane]);
    from.length_.at(lane) = static_cast<std::uint32_t>(a.row_length(first_row + rows[lane]));
  }
  return from;
}

Lanes Lanes::of_piece(std::uint64_t begin, std::uint64_t count) {
  Lanes from;
  from.stride_ = lanes;
  for (std::uint32_t lane = 0; lane < lanes && lane < count; ++lane) {
    from.first_[lane] = begin + lane;
    from.length_[lane] = static_cast<std::uint32_t>(div_up(count - lane, lanes));
  }
  return from;
}

Slice measure(const CsrView& a, const Lanes& from, FullSteps* full) {
  std::uint32_t windows = 0, steps = 0, tail = 0, tail_entries = 0, last_base = 0;
  Columns others;
  launch_rules::sjds::CommonColumns common;
  bool is_open = full != nullptr;
  each_step(
      a, from,
      [&](std::uint32_t step, std::uint32_t n, const Columns& columns, bool is_window) {
        if (is_window) {
          ++windows;
          last_base = std::max(last_base, columns.least);
          return;
        }
        others.take(columns.least);
        others.take(columns.greatest);
        if (step < from.full_steps())
          ++steps;
        else
          ++tail, tail_entries += n;
      },
      [&](std::uint32_t step, const launch_rules::sjds::StepColumns& columns) {
        if (!is_open) return;
        if (launch_rules::sjds::CommonColumns::is_look(step)) is_open = common.is_open();
        common.take(columns);
      });
  if (full != nullptr) *full = {common, last_base};
  Slice slice{};
  const bool any = steps + tail != 0, wide = any && !others.within(narrow_columns);
  slice.column = any && !wide ? others.least : 0;
  slice.set(windows, steps, tail, tail_entries);
  slice.set_kind(1, wide, false, false);
  return slice;
}

void write_stream(const CsrView& a, const Slice& slice, const Lanes& from, std::span<const std::uint16_t> rows,
                  std::span<std::byte> out) {
  const StreamLayout at = stream_layout(slice);
  if (slice.is_listed())
    for (std::size_t lane = 0; lane < rows.size(); ++lane) put(out, lane, rows[lane]);
  std::uint64_t window = at.windows, column = 0, tail = at.tail;  // the next of each kind
  each_step(a, from, [&](std::uint32_t step, std::uint32_t n, const Columns& columns, bool is_window) {
    if (is_window) {
      WindowStep w{std::min(columns.least, static_cast<std::uint32_t>(a.cols() - reach)), 0};
      for (std::uint32_t lane = 0; lane < n; ++lane)
        w.places |= (a.col_idx()[from.entry(lane, step)] - w.base) << 4 * lane;
      std::memcpy(&out[window], &w, sizeof w);
      window += sizeof w;
      return;
    }
    for (std::uint32_t lane = 0; lane < n; ++lane, ++column) {
      const std::uint32_t of_entry = a.col_idx()[from.entry(lane, step)];
      if (slice.is_wide())
        put(out.subspan(at.columns), column, of_entry);
      else
        put(out.subspan(at.columns), column, static_cast<std::uint16_t>(of_entry - slice.column));
    }
    if (step >= from.full_steps()) out[tail++] = static_cast<std::byte>(n);
  });
}

void write_values(const CsrView& a, const Slice& slice, const Lanes& from, std::span<std::byte> out) {
  dispatch(a.value_type(), [&]<class T>(T) {
    const auto* const values = static_cast<const bits_of<T>*>(a.value_bytes());  // as bits, which a copy of a NaN keeps
    std::uint64_t window = 0, other = std::uint64_t{slice.windows()} * lanes;    // the next value of each kind of steps
    each_step(a, from, [&](std::uint32_t step, std::uint32_t n, const Columns& /*columns*/, bool is_window) {
      std::uint64_t& next = is_window ? window : other;
      for (std::uint32_t lane = 0; lane < n; ++lane) put(out, next++, values[from.entry(lane, step)]);
    });
  });
}

void write_codes(const CsrView& a, const Slice& slice, const Lanes& from, const ValueIds& ids,
                 std::span<std::byte> out) {
  dispatch(a.value_type(), [&]<class T>(T) {
    const auto* const values = static_cast<const bits_of<T>*>(a.value_bytes());
    std::uint64_t window = 0, other = slice.windows();  // the next of each kind of steps
    each_step(a, from, [&](std::uint32_t step, std::uint32_t n, const Columns& /*columns*/, bool is_window) {
      std::uint32_t codes = 0;
      for (std::uint32_t lane = 0; lane < n; ++lane)
        codes |= static_cast<std::uint32_t>(ids.find(values[from.entry(lane, step)])) << 4 * lane;
      put(out, is_window ? window++ : other++, codes);
    });
  });
}

}  // namespace spmvpack::encoder::layouts::sjds_plans
