#include "layouts/sjds_slices.hpp"

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

/// Calls f(step, lanes, columns, is_window) for the steps of a slice in order.
template <class F>
void each_step(const CsrView& a, const Lanes& from, F&& f) {
  const bool has_windows = a.cols() >= reach;
  for (std::uint32_t step = 0; step < from.steps(); ++step) {
    const bool full = step < from.full_steps();
    const std::uint32_t n = full ? lanes : from.lanes_of(step);
    Columns columns;
    for (std::uint32_t lane = 0; lane < n; ++lane) columns.take(a.col_idx()[from.entry(lane, step)]);
    f(step, n, columns, full && has_windows && columns.within(reach));
  }
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

Slice measure(const CsrView& a, const Lanes& from) {
  std::uint32_t windows = 0, steps = 0, tail = 0, tail_entries = 0;
  Columns others;
  each_step(a, from, [&](std::uint32_t step, std::uint32_t n, const Columns& columns, bool is_window) {
    if (is_window) {
      ++windows;
      return;
    }
    others.take(columns.least);
    others.take(columns.greatest);
    if (step < from.full_steps())
      ++steps;
    else
      ++tail, tail_entries += n;
  });
  Slice slice{};
  const bool any = steps + tail != 0, wide = any && !others.within(narrow_columns);
  slice.column = any && !wide ? others.least : 0;
  slice.set(windows, steps, tail, tail_entries);
  slice.set_kind(1, wide, false, false);
  return slice;
}

void write_slice(const CsrView& a, const Slice& slice, const Lanes& from, std::span<const std::uint16_t> rows,
                 Source source, const ValueIds& ids, std::span<std::byte> out) {
  dispatch(a.value_type(), [&]<class T>(T) {
    const StreamLayout at = stream_layout(slice, source, sizeof(T));
    const auto put = [&](std::uint64_t byte, const auto& element) {
      std::memcpy(&out[byte], &element, sizeof element);
    };
    if (slice.is_listed())
      for (std::size_t lane = 0; lane < rows.size(); ++lane) put(lane * sizeof(std::uint16_t), rows[lane]);
    std::uint64_t window = 0, column = 0, other = 0, tail = 0;  // the next of each kind; column: of those one by one
    each_step(a, from, [&](std::uint32_t step, std::uint32_t n, const Columns& columns, bool is_window) {
      // Window steps stand first, whatever came before them in the rows.
      const std::uint64_t place = is_window ? window : slice.windows() + other,
                          before = is_window ? window * lanes : std::uint64_t{slice.windows()} * lanes + column;
      std::uint32_t places = 0, codes = 0;
      const auto base = std::min(columns.least, static_cast<std::uint32_t>(a.cols() - (is_window ? reach : 0)));
      for (std::uint32_t lane = 0; lane < n; ++lane) {
        const std::uint64_t k = from.entry(lane, step);
        const std::uint32_t of_entry = a.col_idx()[k];
        if (is_window)
          places |= (of_entry - base) << 4 * lane;
        else if (slice.is_wide())
          put(at.columns + (column + lane) * sizeof of_entry, of_entry);
        else
          put(at.columns + (column + lane) * sizeof(std::uint16_t),
              static_cast<std::uint16_t>(of_entry - slice.column));
        const bits_of<T> bits = static_cast<const bits_of<T>*>(a.value_bytes())[k];
        if (source == Source::raw)
          put(at.values + (before + lane) * sizeof bits, bits);
        else
          codes |= static_cast<std::uint32_t>(ids.find(bits)) << 4 * lane;
      }
      if (source == Source::code) put(at.codes + place * sizeof codes, codes);
      if (is_window) {
        put(at.windows + window++ * sizeof(WindowStep), WindowStep{base, places});
        return;
      }
      if (step >= from.full_steps()) put(at.tail + tail++, static_cast<std::uint8_t>(n));
      column += n;
      ++other;
    });
  });
}

}  // namespace spmvpack::encoder::layouts::sjds_plans
