#include "spmvpack/container/layouts/amb.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include "falling_sort.hpp"
#include "layouts/layouts.hpp"
#include "spmvpack/container/parallel.hpp"
#include "spmvpack/encoder/survey.hpp"
#include "spmvpack/launch_rules/amb.hpp"
#include "spmvpack/launch_rules/host_tasks.hpp"

namespace spmvpack::encoder::layouts {
namespace amb_plans {
namespace {

using namespace spmvpack::layouts::amb;  // what the bytes mean

namespace host_tasks = launch_rules::host_tasks;
namespace rules = launch_rules::amb;

constexpr std::array<Setting, 4> settings{
    Setting{"amb.segment", "1 to 65536", "columns of a segment, 65536 unless set"},
    Setting{"amb.c", "1 to 1024", "rows of a chunk (C), 32 unless set"},
    Setting{"amb.sigma", "1 and more", "rows that are sorted together, 32768 unless set"},
    Setting{"amb.block", "auto, or 1 to 8", "columns of a block; auto minimises device bytes"}};

constexpr std::uint64_t default_chunk_rows = 32, default_sigma = 32768;

/// For every block size from 1 to max_block.
using PerBlock = std::array<std::uint64_t, max_block>;

struct Choices {
  std::uint64_t segment_cols, chunk_rows, sigma;
  std::optional<std::uint64_t> block;

  explicit Choices(const PlanOptions& options)
      : segment_cols(
            read_setting(options, "amb.segment", 1, max_segment_cols, {}).value_or(std::uint64_t{max_segment_cols})),
        chunk_rows(read_setting(options, "amb.c", 1, max_chunk_rows, {}).value_or(default_chunk_rows)),
        sigma(read_setting(options, "amb.sigma", 1, max_dimension, {}).value_or(default_sigma)),
        block(read_setting(options, "amb.block", 1, max_block, "auto")) {}
};

/// The entries of one row in one segment.
struct RowPiece {
  std::uint32_t to = 0;  ///< LaneRow; partial sums are counted from the window's first
  /// Blocks for each block size, less one: there are at most as many as columns, 65,536.
  std::array<std::uint16_t, max_block> more{};

  [[nodiscard]] std::uint32_t entries() const { return more[0] + std::uint32_t{1}; }
};

struct Chunk {
  std::uint32_t segment = 0;
  std::array<std::uint32_t, max_block> steps{};  ///< for each block size
};

/// What sigma rows become, before the block size is known.
struct RowWindow {
  CountedVector<Chunk> chunks;          ///< by segment
  CountedVector<std::uint32_t> lanes;   ///< chunk by chunk
  CountedVector<std::uint32_t> shared;  ///< the row of each partial sum
  CountedVector<std::uint32_t> empty;   ///< rows without entries
  PerBlock steps{}, blocks{};           ///< of all chunks; of all rows

  void clear() {
    for (auto* const list : {&lanes, &shared, &empty}) list->clear();
    chunks.clear();
    steps = blocks = {};
  }
};

/// Cuts windows of rows into chunks. One for each thread: it keeps its memory between windows.
class WindowCutter {
 public:
  WindowCutter(const CsrView& a, const Choices& choices)
      : a_(a),
        choices_(choices),
        segment_cols_(static_cast<std::uint32_t>(choices.segment_cols)),
        shift_(std::has_single_bit(segment_cols_) ? std::countr_zero(segment_cols_) : -1),
        pieces_(div_up(a.cols(), choices.segment_cols)) {}

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
      const std::uint64_t begin = segment * choices_.segment_cols, end = begin + choices_.segment_cols;
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
    for (std::size_t begin = 0; begin < order_.size(); begin += choices_.chunk_rows) {
      const std::size_t end = std::min(order_.size(), begin + choices_.chunk_rows);
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
      window_.lanes.resize(window_.chunks.size() * choices_.chunk_rows, LaneRow::none);
      for (std::size_t b = 0; b < max_block; ++b) {
        chunk.steps[b] = longest[b] + std::uint32_t{1};
        window_.steps[b] += chunk.steps[b];
        window_.blocks[b] += blocks[b];
      }
    }
  }

  CsrView a_;
  const Choices& choices_;
  std::uint32_t segment_cols_;
  int shift_;  ///< log2 of segment_cols_, as a division takes longer; -1: no power of two
  RowWindow window_;
  std::vector<CountedVector<RowPiece>> pieces_;  ///< of each segment
  std::vector<std::uint32_t> of_row_, order_;    ///< the segments of a row; the pieces of a segment
  FallingSort sort_;
};

/// A part cut into chunks.
struct Blocked {
  std::uint64_t segment_cols = 0, chunk_rows = 0, block = 1;
  CountedVector<std::uint32_t> cl, cs, lanes, shared, empty;
  CountedVector<std::uint64_t> zeros;
};

/// Its entries, where they go.
class BlockedEntries {
 public:
  BlockedEntries(const Blocked& part, const CsrView& a) : p_(part), a_(a) {}

  void fill_columns(std::uint64_t begin, std::span<std::byte> out) const {
    each_lane(begin / 2, div_up(begin + out.size(), 2), 1, [&](std::uint64_t chunk, std::uint64_t lane) {
      std::uint64_t step = 0;
      std::uint16_t column = 0;
      const auto put = [&] {
        copy_overlap(begin, out, ((p_.cs[chunk] + step) * p_.chunk_rows + lane) * 2,
                     std::as_bytes(std::span(&column, 1)));
      };
      each_block(chunk, lane, [&](std::uint64_t start, std::uint64_t, std::uint64_t) {
        column = static_cast<std::uint16_t>(start);
        put();
        ++step;
      });
      for (const std::uint64_t steps = ChunkLength{p_.cl[chunk]}.steps(); step < steps; ++step) put();
    });
  }

  template <class T>
  void fill_values(std::uint64_t begin, std::span<std::byte> out) const {
    if (out.empty()) return;
    std::memset(out.data(), 0, out.size());
    each_lane(begin / sizeof(T), div_up(begin + out.size(), sizeof(T)), p_.block,
              [&](std::uint64_t chunk, std::uint64_t lane) {
                each_slot(chunk, lane, [&](std::uint64_t slot, std::uint64_t k) {
                  copy_overlap(begin, out, slot * sizeof(T), std::as_bytes(std::span(bits<T>() + k, 1)));
                });
              });
  }

  /// Slots of entries that are +0, in increasing order.
  template <class T>
  [[nodiscard]] CountedVector<std::uint64_t> zeros() const {
    CountedVector<std::uint64_t> slots;
    const bits_of<T>* const values = bits<T>();
    for (std::uint64_t c = 0; c < p_.cl.size(); ++c) {
      const auto first = static_cast<std::ptrdiff_t>(slots.size());
      for (std::uint64_t lane = 0; lane < p_.chunk_rows; ++lane)
        each_slot(c, lane, [&](std::uint64_t slot, std::uint64_t k) {
          if (values[k] == 0) slots.push_back(slot);
        });
      std::sort(slots.begin() + first, slots.end());  // chunks are in order
    }
    return slots;
  }

 private:
  template <class T>
  [[nodiscard]] const bits_of<T>* bits() const {
    return static_cast<const bits_of<T>*>(a_.value_bytes());
  }

  /// Calls f(chunk, lane) for the lanes of all chunks that have any of the elements [begin, end) of a section with
  /// `per_lane` elements for a step of a lane.
  template <class F>
  void each_lane(std::uint64_t begin, std::uint64_t end, std::uint64_t per_lane, F&& f) const {
    const std::uint64_t step = begin / per_lane / p_.chunk_rows;
    auto chunk = static_cast<std::uint64_t>(std::upper_bound(p_.cs.begin(), p_.cs.end(), step) - p_.cs.begin());
    for (chunk = chunk == 0 ? 0 : chunk - 1; chunk < p_.cs.size() && p_.cs[chunk] * p_.chunk_rows * per_lane < end;
         ++chunk)
      for (std::uint64_t lane = 0; lane < p_.chunk_rows; ++lane) f(chunk, lane);
  }

  /// Calls f(column in the segment, first entry, end of entries) for the blocks of a lane.
  template <class F>
  void each_block(std::uint64_t chunk, std::uint64_t lane, F&& f) const {
    const LaneRow to{p_.lanes[chunk * p_.chunk_rows + lane]};
    if (to.is_none()) return;
    const std::uint64_t row = to.is_shared() ? p_.shared[to.index()] : to.index();
    const std::uint64_t begin = ChunkLength{p_.cl[chunk]}.segment() * p_.segment_cols;
    const std::uint64_t cols = std::min(p_.segment_cols, a_.cols() - begin);
    const std::uint32_t* const columns = a_.col_idx();
    std::uint64_t k = a_.row_ptr(row);
    const std::uint64_t stop = a_.row_ptr(row + 1);
    if (to.is_shared()) k = static_cast<std::uint64_t>(std::lower_bound(columns + k, columns + stop, begin) - columns);
    while (k < stop && columns[k] < begin + cols) {
      const std::uint64_t start = std::min(columns[k] - begin, cols - p_.block), first = k;
      while (k < stop && columns[k] < begin + start + p_.block) ++k;
      f(start, first, k);
    }
  }

  /// Calls f(element of `values`, entry) for the entries of a lane.
  template <class F>
  void each_slot(std::uint64_t chunk, std::uint64_t lane, F&& f) const {
    const std::uint64_t begin = ChunkLength{p_.cl[chunk]}.segment() * p_.segment_cols;
    std::uint64_t step = p_.cs[chunk];
    each_block(chunk, lane, [&](std::uint64_t start, std::uint64_t first, std::uint64_t last) {
      for (std::uint64_t k = first; k < last; ++k)
        f((step * p_.block + (a_.col_idx()[k] - begin - start)) * p_.chunk_rows + lane, k);
      ++step;
    });
  }

  const Blocked& p_;
  CsrView a_;
};

/// How many partial sums the row with most of them has; 1 if there are none. Those of a row are neighbours.
std::uint64_t most_of_a_row(std::span<const std::uint32_t> shared_rows) {
  std::uint64_t most = 1, first = 0;
  for (std::uint64_t i = 0; i < shared_rows.size(); ++i) {
    if (shared_rows[i] != shared_rows[first]) first = i;
    most = std::max(most, i + 1 - first);
  }
  return most;
}

class AmbPlanner {
 public:
  AmbPlanner(const PartMatrix& part, const PlanOptions& options)
      : a_(part.a), choices_(options), segments_(div_up(a_.cols(), choices_.segment_cols)) {
    const auto refuse = [&](std::string what, const char* remedy) {
      throw Error(errc::unsupported, "amb: " + std::move(what), {}, remedy);
    };
    if (segments_ > max_segments)
      refuse(fmt::format("{} segments of {} columns", segments_, choices_.segment_cols), "use a larger amb.segment");
    if (a_.rows() > max_rows) refuse(fmt::format("{} rows", a_.rows()), "use another layout");
    out_.segment_cols = choices_.segment_cols;
    out_.chunk_rows = choices_.chunk_rows;
    cut(options.threads);
    choose_block();
    if (out_.shared.size() > max_shared || steps_ > max_steps)
      refuse(fmt::format("{} partial sums, {} steps", out_.shared.size(), steps_), "use a larger amb.segment");
    assemble();
    if (out_.block > 1 && stores_zeros(a_, options.threads))
      dispatch(a_.value_type(), [&]<class T>(T) { out_.zeros = BlockedEntries(out_, a_).zeros<T>(); });
  }

  void describe(PartPlan& plan) const {
    plan.info.params[param_segment_cols] = choices_.segment_cols;
    plan.info.params[param_block] = out_.block;
    plan.info.params[param_chunk_rows] = choices_.chunk_rows;
    plan.info.counts[section_cl] = out_.cl.size();
    plan.info.counts[section_col_idx] = steps_ * choices_.chunk_rows;
    plan.info.counts[section_shared_rows] = out_.shared.size();
    plan.info.counts[section_empty_rows] = out_.empty.size();
    plan.info.counts[section_stored_zeros] = out_.zeros.size();
    const std::uint64_t slots = steps_ * choices_.chunk_rows * out_.block;
    plan.padding = slots - a_.nnz();
    plan.fill_reads_x = blocks_ * out_.block > a_.nnz();
    std::uint64_t longest = 0;
    for (const std::uint32_t length : out_.cl) longest = std::max<std::uint64_t>(longest, ChunkLength{length}.steps());
    const std::uint64_t lanes = out_.lanes.size(), shared = out_.shared.size(), most_lanes = most_of_a_row(out_.shared);
    const bool takes_rows = most_lanes <= rules::most_lanes_of_thread &&
                            rules::may_take_rows(a_.rows(), lanes, out_.block, a_.value_type() == ValueType::f32);
    const bool adds = shared != 0 && !takes_rows;
    plan.work = {{"amb.multiplies", 1},
                 {"amb.slots", slots},
                 {"amb.steps", steps_ * choices_.chunk_rows},
                 {"amb.lanes", lanes},
                 {"amb.partial_sums", shared},
                 {"amb.chain", chain_of(longest * out_.block, rules::values_in_flight) * (adds ? 1 : most_lanes)},
                 {"amb.sum_multiplies", std::uint64_t{adds ? 1U : 0U}},
                 {"amb.added_sums", adds ? shared : 0},
                 {"amb.sum_chain", adds ? chain_of(most_lanes, rules::sums_in_flight) : 0},
                 {"amb.alone", host_tasks::alone(slots, out_.cl.size(), host_tasks::amb_chunks)},
                 {"amb.empty_rows", out_.empty.size()}};
    plan.counters = {
        {"block", out_.block},        {"chunks", out_.cl.size()},           {"segments", segments_},
        {"lanes", out_.lanes.size()}, {"lanes.shared", out_.shared.size()}, {"rows.empty", out_.empty.size()}};
    // Table 2 of the paper counts these arrays; the lists of shared and of empty rows are ours.
    plan.counters.push_back(
        {"published.bytes", out_.cl.size() * 8 + out_.lanes.size() * 4 + block_bytes(out_.block, steps_)});
    for (std::uint64_t b = 1; b <= max_block; ++b)
      plan.counters.push_back({fmt::format("block_{}.bytes", b), considered_.at(b - 1)});
  }

  /// Once it is described.
  Blocked take() { return std::move(out_); }

 private:
  [[nodiscard]] std::uint64_t block_bytes(std::uint64_t block, std::uint64_t steps) const {
    return steps * choices_.chunk_rows * (2 + block * size_of(a_.value_type()));
  }

  void cut(int threads) {
    windows_.resize(div_up(a_.rows(), choices_.sigma));
    std::vector<std::unique_ptr<WindowCutter>> cutters(static_cast<std::size_t>(thread_count(threads)));
    parallel_for(windows_.size(), threads, [&](std::uint64_t w, std::uint64_t worker) {
      if (cutters[worker] == nullptr) cutters[worker] = std::make_unique<WindowCutter>(a_, choices_);
      const std::uint64_t first = w * choices_.sigma;
      windows_[w] = cutters[worker]->cut(first, std::min(a_.rows(), first + choices_.sigma));
    });
  }

  void choose_block() {
    PerBlock steps{}, blocks{};
    for (const RowWindow& w : windows_)
      for (std::size_t b = 0; b < max_block; ++b) steps[b] += w.steps[b], blocks[b] += w.blocks[b];
    // A block stays inside its segment: the narrowest, which is the last, must have room for it.
    const std::uint64_t narrowest =
        segments_ == 0 ? 1 : std::min(choices_.segment_cols, a_.cols() - (segments_ - 1) * choices_.segment_cols);
    if (choices_.block && *choices_.block > narrowest)
      throw Error(errc::unsupported,
                  fmt::format("amb: blocks of {} columns in a segment of {}", *choices_.block, narrowest), {},
                  "use a smaller amb.block, or another amb.segment");
    out_.block = choices_.block.value_or(1);
    for (std::uint64_t b = 1; b <= max_block; ++b) {
      considered_.at(b - 1) = block_bytes(b, steps.at(b - 1));
      if (!choices_.block && b <= narrowest && considered_.at(b - 1) < considered_.at(out_.block - 1)) out_.block = b;
    }
    steps_ = steps.at(out_.block - 1);
    blocks_ = blocks.at(out_.block - 1);
  }

  /// Puts the windows' chunks together, segment by segment: neighbours in time then read the same part of x.
  void assemble() {
    struct Run {  // chunks of one window in one segment
      std::uint32_t segment;
      std::uint64_t window, first, last;
    };
    std::vector<Run> runs;
    std::vector<std::uint32_t> shared_before(windows_.size());
    std::size_t chunks = 0, shared_rows = 0;
    for (const RowWindow& window : windows_) chunks += window.chunks.size(), shared_rows += window.shared.size();
    for (auto* const list : {&out_.cl, &out_.cs}) list->reserve(chunks);
    out_.lanes.reserve(chunks * choices_.chunk_rows);
    out_.shared.reserve(shared_rows);
    for (std::size_t w = 0; w < windows_.size(); ++w) {
      const RowWindow& window = windows_[w];
      shared_before[w] = static_cast<std::uint32_t>(out_.shared.size());
      out_.shared.insert(out_.shared.end(), window.shared.begin(), window.shared.end());
      out_.empty.insert(out_.empty.end(), window.empty.begin(), window.empty.end());
      for (std::size_t c = 0; c < window.chunks.size(); ++c) {
        if (c == 0 || window.chunks[c].segment != window.chunks[c - 1].segment)
          runs.push_back({window.chunks[c].segment, w, c, c});
        ++runs.back().last;
      }
    }
    std::stable_sort(runs.begin(), runs.end(), [](const Run& r, const Run& s) { return r.segment < s.segment; });
    std::uint32_t step = 0;
    for (const Run& run : runs) {
      const RowWindow& window = windows_[run.window];
      for (std::uint64_t c = run.first; c < run.last; ++c) {
        const std::uint32_t steps = window.chunks[c].steps.at(out_.block - 1);
        out_.cl.push_back(ChunkLength::of(steps, run.segment).bits);
        out_.cs.push_back(step);
        step += steps;
      }
      for (std::uint64_t i = run.first * choices_.chunk_rows; i < run.last * choices_.chunk_rows; ++i) {
        const LaneRow to{window.lanes[i]};
        out_.lanes.push_back(to.is_shared() && !to.is_none() ? to.bits + shared_before[run.window] : to.bits);
      }
    }
    windows_.clear();
    windows_.shrink_to_fit();
  }

  CsrView a_;
  Choices choices_;
  std::uint64_t segments_, steps_ = 0, blocks_ = 0;
  Blocked out_;
  PerBlock considered_{};  ///< bytes of columns and values for every block size
  CountedVector<RowWindow> windows_;
};

PartPlan plan(const PartMatrix& part, const PlanOptions& options) {
  AmbPlanner planner(part, options);
  PartPlan plan = begin_plan(layout, part);
  planner.describe(plan);
  const auto blocked = std::make_shared<const Blocked>(planner.take());
  add_sections(plan, std::span(sections).first(blocked->zeros.empty() ? 7 : 8));
  plan.choices = blocked;
  share_by_section(plan);
  return plan;
}

void fill(const PartPlan& plan, const CsrView& a, std::size_t section, std::uint64_t begin, std::span<std::byte> out) {
  const auto& part = choices_of<Blocked>(plan);
  const BlockedEntries entries(part, a);
  if (section == 3) return entries.fill_columns(begin, out);
  if (section == 4) return dispatch(a.value_type(), [&]<class T>(T) { entries.fill_values<T>(begin, out); });
  const std::array<const void*, 8> arrays{part.cl.data(), part.cs.data(),     part.lanes.data(), nullptr,
                                          nullptr,        part.shared.data(), part.empty.data(), part.zeros.data()};
  copy_from(arrays.at(section), begin, out);
}

Least least(const Survey& s) {
  static_assert(max_segment_cols == Survey::segment_columns && max_block <= Survey::far_columns);
  const std::uint64_t nnz = s.a.nnz(), segments = std::max<std::uint64_t>(div_up(s.a.cols(), max_segment_cols), 1);
  std::uint64_t block_bytes = ~std::uint64_t{0};
  for (std::uint64_t b = 1; b <= max_block; ++b)
    block_bytes = std::min(block_bytes, std::max(s.far_apart, div_up(nnz, b)) * (2 + b * size_of(s.a.value_type())));
  return {block_bytes + (s.pieces + s.shared_pieces) * 4,
          false,
          {{"amb.multiplies", 1},
           {"amb.slots", nnz},
           {"amb.steps", std::max(s.far_apart, div_up(nnz, max_block))},
           {"amb.partial_sums", s.shared_pieces},
           {"amb.chain", chain_of(div_up(s.longest_row, segments), rules::values_in_flight)}}};
}

}  // namespace
}  // namespace amb_plans

extern const LayoutEncoder amb{.name = "amb",
                               .summary = "adaptive multi-level blocking: 16-bit columns in segments, blocks in rows",
                               .suits = "blocks of neighbouring columns; x larger than a cache",
                               .settings = amb_plans::settings,
                               .plan = amb_plans::plan,
                               .fill = amb_plans::fill,
                               .least = amb_plans::least,
                               .reproduction = true,
                               .without_fill = {"amb.block", "1"}};

}  // namespace spmvpack::encoder::layouts
