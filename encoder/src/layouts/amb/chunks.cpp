#include "layouts/amb/chunks.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <numeric>

#include "falling_sort.hpp"
#include "spmvpack/container/base/parallel.hpp"

namespace spmvpack::encoder::layouts::amb_plans {
namespace {

/// The entries of one row in one segment.
struct RowPiece {
  std::uint32_t to = 0;  ///< LaneRow
  /// Blocks for each block size, less one: there are at most as many as columns, 65,536.
  std::array<std::uint16_t, max_block> more{};

  [[nodiscard]] std::uint32_t entries() const { return more[0] + std::uint32_t{1}; }
};

/// Cuts windows of rows into chunks. One for each thread: it keeps its memory between windows.
class WindowCutter {
 public:
  WindowCutter(const CsrView& a, const ChunkOptions& options)
      : a_(a),
        options_(options),
        segment_cols_(static_cast<std::uint32_t>(options.segment_cols)),
        shift_(std::has_single_bit(segment_cols_) ? std::countr_zero(segment_cols_) : -1),
        pieces_(div_up(a.cols(), options.segment_cols)) {}

  RowWindow cut(std::uint64_t first, std::uint64_t last) {
    window_.clear();
    for (std::uint64_t r = first; r < last; ++r) cut_row(r);
    for (std::uint32_t segment = 0; segment < pieces_.size(); ++segment) {
      if (pieces_[segment].empty()) continue;
      add_chunks(segment);
      pieces_[segment].clear();
    }
    return window_;  // a copy has no more memory than it needs, and the next window finds room
  }

 private:
  /// Adds a piece for each segment in which the row has entries.
  void cut_row(std::uint64_t r) {
    const std::uint32_t* const columns = a_.col_idx();
    const std::uint64_t stop = a_.row_ptr(r + 1);
    of_row_.clear();
    for (std::uint64_t k = a_.row_ptr(r); k < stop;) {
      const std::uint64_t segment = shift_ < 0 ? columns[k] / segment_cols_ : columns[k] >> shift_;
      const std::uint64_t begin = segment * options_.segment_cols, end = begin + options_.segment_cols;
      // Blocks of every size are counted at once: `open` is the end of the current one.
      std::array<std::int32_t, max_block> open{}, blocks{};
      for (; k < stop && columns[k] < end; ++k) {
        const auto column = static_cast<std::int32_t>(columns[k] - begin);
        for (std::size_t b = 0; b < max_block; ++b) {
          const bool opens = column >= open[b];
          blocks[b] += opens ? 1 : 0;
          open[b] = opens ? column + static_cast<std::int32_t>(b) + 1 : open[b];
        }
      }
      RowPiece& p = pieces_[segment].emplace_back();
      for (std::size_t b = 0; b < max_block; ++b) p.more[b] = static_cast<std::uint16_t>(blocks[b] - 1);
      p.to = static_cast<std::uint32_t>(r);
      of_row_.push_back(static_cast<std::uint32_t>(segment));
    }
    if (of_row_.empty()) window_.empty.push_back(static_cast<std::uint32_t>(r));
    if (of_row_.size() < 2) return;
    for (const std::uint32_t segment : of_row_) {
      pieces_[segment].back().to = LaneRow::shared_bit | static_cast<std::uint32_t>(window_.shared.size());
      window_.shared.push_back(static_cast<std::uint32_t>(r));
    }
  }

  /// The chunks of one segment, by falling number of entries.
  void add_chunks(std::uint32_t segment) {
    const CountedVector<RowPiece>& pieces = pieces_[segment];
    order_.resize(pieces.size());
    std::iota(order_.begin(), order_.end(), 0);
    sort_(order_, [&](std::uint32_t i) { return pieces[i].entries(); });
    for (std::size_t begin = 0; begin < order_.size(); begin += options_.chunk_rows) {
      const std::size_t end = std::min(order_.size(), begin + options_.chunk_rows);
      std::array<std::uint16_t, max_block> longest{};
      std::array<std::uint32_t, max_block> blocks{};
      for (std::size_t i = begin; i < end; ++i) {
        const RowPiece& p = pieces[order_[i]];
        window_.lanes.push_back(p.to);
        for (std::size_t b = 0; b < max_block; ++b) {
          longest[b] = std::max(longest[b], p.more[b]);
          blocks[b] += p.more[b] + std::uint32_t{1};  // of at most 1,024 rows and 65,536 columns
        }
      }
      Chunk& chunk = window_.chunks.emplace_back();
      chunk.segment = segment;
      window_.lanes.resize(window_.chunks.size() * options_.chunk_rows, LaneRow::none);
      for (std::size_t b = 0; b < max_block; ++b) {
        chunk.steps[b] = longest[b] + std::uint32_t{1};
        window_.steps[b] += chunk.steps[b];
        window_.blocks[b] += blocks[b];
      }
    }
  }

  CsrView a_;
  const ChunkOptions& options_;
  std::uint32_t segment_cols_;
  int shift_;  ///< log2 of segment_cols_, as a division takes longer; -1: no power of two
  RowWindow window_;
  CountedVector<CountedVector<RowPiece>> pieces_;  ///< of each segment
  CountedVector<std::uint32_t> of_row_, order_;    ///< the segments of a row; the pieces of a segment
  FallingSort sort_;
};

}  // namespace

CountedVector<RowWindow> cut_rows(const CsrView& a, const ChunkOptions& options, int threads) {
  CountedVector<RowWindow> windows(div_up(a.rows(), options.sigma));
  std::vector<std::unique_ptr<WindowCutter>> cutters(static_cast<std::size_t>(thread_count(threads)));
  parallel_for(windows.size(), threads, [&](std::uint64_t w, std::uint64_t worker) {
    if (cutters[worker] == nullptr) cutters[worker] = std::make_unique<WindowCutter>(a, options);
    const std::uint64_t first = w * options.sigma;
    windows[w] = cutters[worker]->cut(first, std::min(a.rows(), first + options.sigma));
  });
  return windows;
}

Blocked join_windows(CountedVector<RowWindow> windows, const ChunkOptions& options, std::uint64_t block) {
  struct Run {  // chunks of one window in one segment
    std::uint32_t segment;
    std::uint64_t window, first, last;
  };
  Blocked out;
  out.segment_cols = options.segment_cols;
  out.chunk_rows = options.chunk_rows;
  out.block = block;
  CountedVector<Run> runs;
  CountedVector<std::uint32_t> shared_before(windows.size());
  std::size_t chunks = 0, shared_rows = 0;
  for (const RowWindow& window : windows) chunks += window.chunks.size(), shared_rows += window.shared.size();
  for (auto* const list : {&out.cl, &out.cs}) list->reserve(chunks);
  out.lanes.reserve(chunks * options.chunk_rows);
  out.shared.reserve(shared_rows);
  for (std::size_t w = 0; w < windows.size(); ++w) {
    const RowWindow& window = windows[w];
    shared_before[w] = static_cast<std::uint32_t>(out.shared.size());
    out.shared.insert(out.shared.end(), window.shared.begin(), window.shared.end());
    out.empty.insert(out.empty.end(), window.empty.begin(), window.empty.end());
    for (std::size_t c = 0; c < window.chunks.size(); ++c) {
      if (c == 0 || window.chunks[c].segment != window.chunks[c - 1].segment)
        runs.push_back({window.chunks[c].segment, w, c, c});
      ++runs.back().last;
    }
  }
  std::stable_sort(runs.begin(), runs.end(), [](const Run& r, const Run& s) { return r.segment < s.segment; });
  std::uint32_t step = 0;
  for (const Run& run : runs) {
    const RowWindow& window = windows[run.window];
    for (std::uint64_t c = run.first; c < run.last; ++c) {
      const std::uint32_t steps = window.chunks[c].steps.at(block - 1);
      out.cl.push_back(ChunkLength::of(steps, run.segment).bits);
      out.cs.push_back(step);
      step += steps;
    }
    for (std::uint64_t i = run.first * options.chunk_rows; i < run.last * options.chunk_rows; ++i) {
      const LaneRow to{window.lanes[i]};
      out.lanes.push_back(to.is_shared() && !to.is_none() ? to.bits + shared_before[run.window] : to.bits);
    }
  }
  return out;
}

}  // namespace spmvpack::encoder::layouts::amb_plans
