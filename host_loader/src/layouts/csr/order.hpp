#pragma once
// In which order rows of csr are visited, and how they are shared out. Each row is added up by itself, so that no sum
// depends on it.

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>

#include "layouts/kernels.hpp"
#include "spmvpack/container/base/array.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/launch_rules/long_rows.hpp"

namespace spmvpack::host_loader::layouts {

/// The rows of each window of neighbouring rows as they follow each other; or, where lengths vary so that a processor
/// cannot guess where a row ends, which costs the time of some ten entries, by falling length.
struct RowOrder final : LayoutState {
  static constexpr std::uint64_t window = 256;
  /// Entries of the pieces of longer rows, which threads share.
  static constexpr std::uint64_t piece = launch_rules::long_rows::csr_piece;

  /// What rows of a run have in common: up to 7 their number of entries; from `by_fours` on how many fours of entries
  /// they have, the last of which need not be full, plus that; that they follow each other and have any lengths; or
  /// that their last four would end behind the arrays.
  enum Kind : std::uint16_t { by_fours = 8, mixed = 0xFFFD, at_end = 0xFFFE, in_pieces = 0xFFFF };
  struct Run {
    std::uint32_t first;  ///< element of `row`
    std::uint16_t kind;
    std::uint8_t rows_less_1;
    std::uint8_t shape;
  };
  /// Of a run: rows that are listed; that follow each other, as their entries do; whose columns are, besides, one
  /// higher in each, as in stencils.
  enum Shape : std::uint8_t { listed, in_order, shifted };
  struct Piece {
    std::uint32_t row, number;
    std::uint32_t place;  ///< among all pieces, by row and number
  };

  Array<std::uint8_t> row;  ///< in the order of the visits, from the first one of the window
  Array<Run> runs;
  Array<Piece> pieces;  ///< by their first columns, so that those which follow each other share elements of x
  Array<std::uint32_t> piece_row;    ///< by place
  std::uint64_t entries = 0;         ///< of the matrix
  Array<std::uint64_t> cost_before;  ///< of each run, then of each piece, about in entries; last, of all of them

  /// The first item of a share: a run, or, from runs.size() on, a piece.
  [[nodiscard]] std::uint64_t first_of(int share, int shares) const {
    const auto before =
        cost_before[cost_before.size() - 1] * static_cast<std::uint64_t>(share) / static_cast<std::uint64_t>(shares);
    return static_cast<std::uint64_t>(std::lower_bound(cost_before.begin(), cost_before.end() - 1, before) -
                                      cost_before.begin());
  }
};

/// Builds a RowOrder.
template <class Pointer>
class RowOrderOf {
 public:
  RowOrderOf(std::span<const Pointer> row_ptr, std::span<const std::uint32_t> col_idx, int threads)
      : row_ptr_(row_ptr),
        col_idx_(col_idx.data()),
        rows_(row_ptr.size() - 1),
        windows_((rows_ + RowOrder::window - 1) / RowOrder::window),
        most_(std::clamp<std::uint64_t>(row_ptr[rows_] / parts, least_run, most_run)),
        of_windows_(windows_),
        order_(std::make_unique<RowOrder>()) {
    order_->entries = row_ptr_[rows_];
    order_->row = Array<std::uint8_t>(rows_);
    Array<std::uint64_t> first_run(windows_ + 1), first_piece(windows_ + 1);
    first_run[0] = first_piece[0] = 0;
    parallel_pieces(windows_, windows_per_task, threads, [&](std::uint64_t begin, std::uint64_t end) {
      Foresight foresight;
      for (std::uint64_t w = begin; w < end; ++w) {
        sort(w, foresight);
        first_run[w + 1] = first_piece[w + 1] = 0;
        each_item(
            w, [&](const RowOrder::Run&, std::uint64_t) { ++first_run[w + 1]; },
            [&](const RowOrder::Piece&) { ++first_piece[w + 1]; });
      }
    });
    std::partial_sum(first_run.begin(), first_run.end(), first_run.begin());
    std::partial_sum(first_piece.begin(), first_piece.end(), first_piece.begin());
    const std::uint64_t runs = first_run[windows_], pieces = first_piece[windows_];
    order_->runs = Array<RowOrder::Run>(runs);
    order_->pieces = Array<RowOrder::Piece>(pieces);
    order_->piece_row = Array<std::uint32_t>(pieces);
    Array<std::uint64_t>& cost = order_->cost_before;
    cost = Array<std::uint64_t>(runs + pieces + 1);
    cost[0] = 0;
    parallel_pieces(windows_, windows_per_task, threads, [&](std::uint64_t begin, std::uint64_t end) {
      std::uint64_t run = first_run[begin], piece = first_piece[begin];
      for (std::uint64_t w = begin; w < end; ++w)
        each_item(
            w,
            [&](const RowOrder::Run& r, std::uint64_t of_run) {
              cost[run + 1] = of_run;
              order_->runs[run++] = r;
            },
            [&](const RowOrder::Piece& p) {
              order_->piece_row[piece] = p.row;
              order_->pieces[piece] = {p.row, p.number, static_cast<std::uint32_t>(piece)};
              ++piece;
            });
    });
    sort_pieces();
    for (std::uint64_t i = 0; i < pieces; ++i) cost[runs + i + 1] = entries_of(order_->pieces[i]) + of_item;
    std::partial_sum(cost.begin(), cost.end(), cost.begin());
  }

  std::unique_ptr<RowOrder> take() { return std::move(order_); }

 private:
  static constexpr std::uint64_t windows_per_task = 256;
  /// What a row and an item cost besides their entries, in entries. Runs are cut at `most_` entries: parts of a matrix,
  /// so that shares can be equal, but no smaller and no larger than these.
  static constexpr std::uint64_t of_row = 4, of_item = 16, parts = 128, least_run = 256, most_run = 8192;
  static constexpr std::uint64_t least_shifted = 8, least_alike = 16;  ///< rows of a run
  /// Of a row: what it costs if its length is not foreseen; if it does not follow the one before, besides half of its
  /// entries, up to so many.
  static constexpr std::uint64_t of_surprise = 15, of_jump = 5, most_jumped = 48;
  static constexpr std::uint8_t by_length = 0xFF;  ///< a window whose rows are sorted

  [[nodiscard]] std::uint64_t length(std::uint64_t r) const { return row_ptr_[r + 1] - row_ptr_[r]; }
  [[nodiscard]] std::uint16_t kind(std::uint64_t r) const {
    const std::uint64_t n = length(r), fours = (n + 3) / 4;
    if (n < RowOrder::by_fours) return static_cast<std::uint16_t>(n);
    if (n > RowOrder::piece) return RowOrder::in_pieces;
    if (row_ptr_[r] + 4 * fours > row_ptr_[rows_]) return RowOrder::at_end;
    return static_cast<std::uint16_t>(RowOrder::by_fours + fours);
  }
  [[nodiscard]] std::uint64_t cost_of_jump(std::uint64_t r) const {
    return of_jump + std::min(length(r), most_jumped) / 2;
  }
  [[nodiscard]] std::uint64_t rows_of(std::uint64_t w) const {
    return std::min(RowOrder::window, rows_ - w * RowOrder::window);
  }

  /// What a processor foresees of rows' lengths: as a predictor of branches, what followed the last time that the same
  /// kinds came before.
  class Foresight {
   public:
    /// Whether it foresees the next row's.
    bool foresees(std::uint16_t kind) {
      constexpr std::uint64_t factor = 0x9E3779B97F4A7C15;  // of a multiplicative hash
      std::uint16_t& next = followed_[last_ * factor >> (64U - bits)];
      last_ = last_ << 16U | kind;
      return std::exchange(next, kind) == kind;
    }

   private:
    static constexpr std::uint32_t bits = 12;
    std::uint64_t last_ = 0;  ///< four kinds
    std::array<std::uint16_t, 1U << bits> followed_{};
  };

  void sort(std::uint64_t w, Foresight& foresight) {
    std::array<std::uint32_t, RowOrder::window> keys;  // kinds, the highest first, then rows
    constexpr std::uint32_t kinds = 1U << 16U, places = 256;
    const std::uint64_t first = w * RowOrder::window, rows = rows_of(w);
    std::uint64_t surprises = 0, jumps = 0;  // what they cost in either order
    for (std::uint64_t i = 0; i < rows; ++i) {
      const std::uint16_t k = kind(first + i);
      keys[i] = (kinds - 1 - k) * places + static_cast<std::uint32_t>(i);
      if (!foresight.foresees(k)) surprises += of_surprise;
      jumps += cost_of_jump(first + i);
    }
    of_windows_[w] = jumps < surprises ? by_length : static_cast<std::uint8_t>(surprises / rows);
    if (of_windows_[w] == by_length) std::sort(keys.begin(), keys.begin() + rows);
    for (std::uint64_t i = 0; i < rows; ++i) order_->row[first + i] = static_cast<std::uint8_t>(keys[i] % places);
  }

  [[nodiscard]] std::uint64_t entries_of(RowOrder::Piece p) const {
    return std::min(length(p.row) - p.number * RowOrder::piece, RowOrder::piece);
  }
  void sort_pieces() {
    const auto first_column = [&](RowOrder::Piece p) { return col_idx_[row_ptr_[p.row] + p.number * RowOrder::piece]; };
    std::stable_sort(order_->pieces.begin(), order_->pieces.end(),
                     [&](RowOrder::Piece a, RowOrder::Piece b) { return first_column(a) < first_column(b); });
  }

  /// Calls on_run(run, cost) and on_piece(piece) for those of a window.
  template <class OnRun, class OnPiece>
  void each_item(std::uint64_t w, OnRun&& on_run, OnPiece&& on_piece) const {
    const std::uint64_t first = w * RowOrder::window, rows = rows_of(w);
    const auto row = [&](std::uint64_t i) { return first + order_->row[first + i]; };
    for (std::uint64_t i = 0, next = 0; i < rows; i = next) {
      const std::uint16_t k = kind(row(i));
      if (k == RowOrder::in_pieces) {
        const auto pieces = (length(row(i)) + RowOrder::piece - 1) / RowOrder::piece;
        for (std::uint64_t number = 0; number < pieces; ++number)
          on_piece(RowOrder::Piece{static_cast<std::uint32_t>(row(i)), static_cast<std::uint32_t>(number), 0});
        next = i + 1;
        continue;
      }
      std::uint64_t cost = of_item;
      const auto take = [&](std::uint64_t count) {
        for (; count != 0 && cost < most_; --count) {
          const std::uint64_t r = row(next++);
          cost += length(r) + of_row + (of_windows_[w] == by_length ? cost_of_jump(r) : of_windows_[w]);
        }
      };
      const auto of_kind = [&] { return next < rows && cost < most_ && kind(row(next)) == k; };
      next = i;
      if (of_windows_[w] != by_length && k != RowOrder::at_end) {
        std::uint64_t alike = i + 1;  // rows of up to 7 entries as many as the first
        while (k < RowOrder::by_fours && alike < rows && alike < i + least_alike && kind(first + alike) == k) ++alike;
        const auto begins_another = [&] {
          const std::uint16_t other = kind(first + next);
          return other >= RowOrder::mixed ||
                 shifted_rows(w, next, std::min(rows, next + least_shifted)) == least_shifted;
        };
        if (alike != i + least_alike && !begins_another()) {
          do take(1);
          while (next < rows && cost < most_ && !begins_another());
          on_run(RowOrder::Run{static_cast<std::uint32_t>(first + i), RowOrder::mixed,
                               static_cast<std::uint8_t>(next - i - 1), RowOrder::in_order},
                 cost);
          continue;
        }
      }
      auto shape = RowOrder::shifted;
      if (const std::uint64_t together = shifted_rows(w, i, rows); together >= least_shifted) {
        take(together);
      } else {
        while (of_kind()) {
          const std::uint64_t more = shifted_rows(w, next, rows);
          if (next != i && more >= least_shifted) break;
          take(more);
        }
        shape = row(next - 1) - row(i) == next - i - 1 ? RowOrder::in_order : RowOrder::listed;
      }
      on_run(RowOrder::Run{static_cast<std::uint32_t>(first + i), k, static_cast<std::uint8_t>(next - i - 1), shape},
             cost);
    }
  }

  /// How many rows of one length, from visit i of a window on, follow each other with columns that are one higher in
  /// each.
  [[nodiscard]] std::uint64_t shifted_rows(std::uint64_t w, std::uint64_t i, std::uint64_t rows) const {
    const std::uint64_t first = w * RowOrder::window, begin = i;
    for (; i + 1 < rows; ++i) {
      const std::uint64_t r = first + order_->row[first + i], n = length(r);
      if (first + order_->row[first + i + 1] != r + 1 || length(r + 1) != n) break;
      const std::uint32_t *const a = col_idx_ + row_ptr_[r], *const b = a + n;
      bool shifted = true;
      for (std::uint64_t k = 0; shifted && k < n; ++k) shifted = b[k] == a[k] + 1;
      if (!shifted) break;
    }
    return i + 1 - begin;
  }

  std::span<const Pointer> row_ptr_;
  const std::uint32_t* col_idx_;
  std::uint64_t rows_, windows_, most_;
  Array<std::uint8_t> of_windows_;  ///< by_length; or what surprises cost a row of it
  std::unique_ptr<RowOrder> order_;
};

}  // namespace spmvpack::host_loader::layouts
