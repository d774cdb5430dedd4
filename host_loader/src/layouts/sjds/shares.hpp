#pragma once
// How the work of a multiply with sjds is dealt out to threads. No bit of y depends on it: a row's sum is one slice's,
// and those of pieces are added up in their order.

#include <algorithm>
#include <cstdint>

#include "spmvpack/container/base/array.hpp"
#include "spmvpack/container/base/memory.hpp"
#include "spmvpack/container/layouts/sjds.hpp"
#include "spmvpack/launch_rules/long_rows.hpp"

namespace spmvpack::host_loader::layouts::sjds_sums {

using namespace spmvpack::layouts::sjds;  // what the bytes mean
using namespace launch_rules::long_rows;

/// A piece of a long row in the order of the visits.
struct PieceVisit {
  std::uint32_t piece;
  PieceColumns columns;
};

/// What a thread does: slices of rows [begin, end), of windows from first_window to last_window; visits to pieces.
struct Share {
  std::uint64_t begin, end, first_window, last_window, first_piece, last_piece;
};

/// The work of a slice, in steps; to begin one and to write its sums takes about as long as some.
constexpr std::uint64_t work_of(const Slice& slice) {
  constexpr std::uint64_t beside_steps = 4;
  return slice.full() + slice.tail() + beside_steps;
}

/// Where a share begins: at a slice of rows, and at a visit.
struct Cut {
  std::uint64_t slice, visit;
};

/// Where each of `count` shares begins and the last one ends, so that they have about as much work: off by a slice and
/// a piece at most.
template <class A>
Array<Cut> cuts_of(const View<A>& v, const Array<PieceVisit>& visits, std::uint64_t count) {
  const std::uint64_t slices = v.row_slices();
  const auto slice_work = [&](std::uint64_t s) { return work_of(v.slices[s]); };
  const auto visit_work = [&](std::uint64_t i) { return work_of(v.slices[slices + visits[i].piece]); };
  Array<Cut> cuts(count + 1, Cut{0, 0});
  cuts[count] = {slices, visits.size()};
  if (count == 1) return cuts;
  std::uint64_t of_slices = 0, of_pieces = 0;
  for (std::uint64_t s = 0; s < slices; ++s) of_slices += slice_work(s);
  for (std::uint64_t i = 0; i < visits.size(); ++i) of_pieces += visit_work(i);
  // Pieces first, as they are larger; slices make up for what pieces of a share have too much or too little.
  std::uint64_t before_slice = 0, before_visit = 0;
  for (std::uint64_t i = 1; i < count; ++i) {
    Cut cut = cuts[i - 1];
    const auto cut_where = [](std::uint64_t target, std::uint64_t end, std::uint64_t& at, std::uint64_t& before,
                              auto&& work) {
      for (; at < end; ++at) {
        const std::uint64_t next = work(at);
        if (before + next / 2 >= target) return;
        before += next;
      }
    };
    cut_where(of_pieces * i / count, visits.size(), cut.visit, before_visit, visit_work);
    const std::uint64_t both = (of_slices + of_pieces) * i / count;
    cut_where(both - std::min(both, before_visit), slices, cut.slice, before_slice, slice_work);
    cuts[i] = cut;
  }
  return cuts;
}

/// The rows of each window that are in none of its slices: scaled one by one, or, if they are more than an eighth,
/// with the whole window, which is then one thread's.
struct OtherRows {
  Array<std::uint8_t> as_whole;  ///< of each window
  Array<std::uint64_t> first;    ///< of each window and behind the last one, of `rows`
  Array<std::uint32_t> rows;

  /// Windows that are cut are not scaled as a whole.
  template <class A>
  OtherRows(const View<A>& v, const Array<Cut>& cuts) : as_whole(v.window_count), first(v.window_count + 1) {
    constexpr std::uint64_t few = 8;
    CountedVector<std::uint32_t> listed;
    CountedVector<std::uint8_t> has_slice;
    const Cut* cut = cuts.begin();
    for (std::uint64_t w = 0; w < v.window_count; ++w) {
      first[w] = listed.size();
      as_whole[w] = 0;
      if (!v.windows[w].has_others()) continue;
      const std::uint64_t begin = w * v.window_rows, end = std::min(begin + v.window_rows, v.rows);
      const std::uint64_t first_slice = v.windows[w].first_slice(), end_slice = v.windows[w + 1].first_slice();
      has_slice.assign(end - begin, 0);
      std::uint64_t others = end - begin;
      for (std::uint64_t s = first_slice; s < end_slice; ++s) {
        const SliceView slice = SliceView::of(v, s);
        for (std::uint32_t lane = 0; lane < slice.slice.rows(); ++lane) has_slice[slice.row(lane) - begin] = 1;
        others -= slice.slice.rows();
      }
      while (cut != cuts.end() && cut->slice <= first_slice) ++cut;
      const bool is_cut = cut != cuts.end() && cut->slice < end_slice;
      as_whole[w] = few * others > end - begin && !is_cut ? 1 : 0;
      for (std::uint64_t r = begin; r < end && as_whole[w] == 0; ++r)
        if (has_slice[r - begin] == 0) listed.push_back(static_cast<std::uint32_t>(r));
    }
    first[v.window_count] = listed.size();
    rows = Array<std::uint32_t>(listed.size());
    std::copy(listed.begin(), listed.end(), rows.begin());
  }
};

/// Shares between cuts. Where these are not those of `others`, a window that is scaled as a whole remains one share's.
template <class A>
Array<Share> shares_of(const View<A>& v, const Array<Cut>& cuts, const OtherRows& others) {
  Array<Share> shares(cuts.size() - 1);
  Share next{0, 0, 0, 0, 0, 0};
  for (std::uint64_t i = 0; i < shares.size(); ++i) {
    std::uint64_t slice = cuts[i + 1].slice, window = v.window_count;
    if (i + 1 < shares.size() && slice < v.row_slices()) {
      window = v.slices[slice].row / v.window_rows;
      if (others.as_whole[window] != 0) slice = v.windows[window].first_slice();
    }
    next.end = slice;
    next.last_window = window;
    next.last_piece = cuts[i + 1].visit;
    shares[i] = next;
    next = {next.end, 0, next.last_window, 0, next.last_piece, 0};
  }
  return shares;
}

/// The work of a share, in steps.
template <class A>
std::uint64_t work_of(const View<A>& v, const Array<PieceVisit>& visits, const Share& share) {
  std::uint64_t work = 0;
  for (std::uint64_t s = share.begin; s < share.end; ++s) work += work_of(v.slices[s]);
  for (std::uint64_t i = share.first_piece; i < share.last_piece; ++i)
    work += work_of(v.slices[v.row_slices() + visits[i].piece]);
  return work;
}

}  // namespace spmvpack::host_loader::layouts::sjds_sums
