#include "spmvpack/container/layouts/amb.hpp"

#include <algorithm>
#include <atomic>
#include <optional>
#include <vector>

#include "spmvpack/container/parallel.hpp"
#include "stored_zeros.hpp"

namespace spmvpack::layouts::amb {
namespace {

constexpr std::uint64_t chunks_per_task = 64;

/// The arrays of a part in memory.
struct Arrays {
  std::span<const std::uint32_t> cl, cs, row_idx, shared_rows, empty_rows;
  std::span<const std::uint16_t> col_idx;
  std::uint64_t cols, segment_cols, block, chunk_rows;

  explicit Arrays(const PartView& part)
      : cl(part.get<std::uint32_t>("cl")),
        cs(part.get<std::uint32_t>("cs")),
        row_idx(part.get<std::uint32_t>("row_idx")),
        shared_rows(part.get<std::uint32_t>("shared_rows")),
        empty_rows(part.get<std::uint32_t>("empty_rows")),
        col_idx(part.get<std::uint16_t>("col_idx")),
        cols(part.cols()),
        segment_cols(part.info().params[param_segment_cols]),
        block(part.info().params[param_block]),
        chunk_rows(part.info().params[param_chunk_rows]) {}

  [[nodiscard]] std::uint64_t segment_begin(std::uint64_t chunk) const {
    return ChunkLength{cl[chunk]}.segment() * segment_cols;
  }
  [[nodiscard]] std::uint64_t place(std::uint64_t chunk, std::uint64_t step, std::uint64_t lane) const {
    return (cs[chunk] + step) * chunk_rows + lane;
  }
  /// The value of column i of a block.
  [[nodiscard]] std::uint64_t slot(std::uint64_t chunk, std::uint64_t step, std::uint64_t i, std::uint64_t lane) const {
    return ((cs[chunk] + step) * block + i) * chunk_rows + lane;
  }
  /// Blocks of a lane: up to the first whose column does not rise.
  [[nodiscard]] std::uint64_t blocks(std::uint64_t chunk, std::uint64_t lane) const {
    if (LaneRow{row_idx[chunk * chunk_rows + lane]}.is_none()) return 0;
    std::uint64_t n = 1;
    while (n < ChunkLength{cl[chunk]}.steps() && col_idx[place(chunk, n, lane)] > col_idx[place(chunk, n - 1, lane)])
      ++n;
    return n;
  }
  /// Calls f(slot, column) for the entries of a lane, from left to right.
  template <class T, class F>
  void each_entry(const Slots<T>& slots, std::uint64_t chunk, std::uint64_t lane, F&& f) const {
    const std::uint64_t n = blocks(chunk, lane), begin = segment_begin(chunk);
    for (std::uint64_t step = 0; step < n; ++step)
      for (std::uint64_t i = 0; i < block; ++i)
        if (const std::uint64_t at = slot(chunk, step, i, lane); block == 1 || slots.has_entry(at))
          f(at, begin + col_idx[place(chunk, step, lane)] + i);
  }
};

void check_shape(const PartView& part) {
  const auto& p = part.info().params;
  const auto require = [&](bool ok, std::string_view name, Param param) {
    part.require(ok, {}, [&] { return fmt::format("{} is {}", name, p.at(param)); });
  };
  require(p[param_segment_cols] >= 1 && p[param_segment_cols] <= max_segment_cols, "segment_cols", param_segment_cols);
  require(p[param_block] >= 1 && p[param_block] <= max_block, "block", param_block);
  require(p[param_chunk_rows] >= 1 && p[param_chunk_rows] <= max_chunk_rows, "chunk_rows", param_chunk_rows);
  require(p[param_steps] <= max_steps, "steps", param_steps);
  require(p[param_shared] <= max_shared, "shared", param_shared);
  part.require(part.rows() <= max_rows, {}, [&] { return fmt::format("{} rows", part.rows()); });
  part.require(p[param_block] > 1 || part.find("stored_zeros") == nullptr, "stored_zeros",
               [] { return std::string("in a part with blocks of one column"); });
}

/// cl and cs: the chunks fill the steps, in order, and their segments exist.
void check_chunks(const PartView& part, const Arrays& a) {
  std::uint64_t steps = 0;
  const std::uint64_t segments = div_up(a.cols, a.segment_cols);
  for (std::uint64_t c = 0; c < a.cl.size(); ++c) {
    part.require(a.cs[c] == steps, "cs", [&] { return fmt::format("chunk {} does not start at step {}", c, steps); });
    part.require(ChunkLength{a.cl[c]}.segment() < segments, "cl",
                 [&] { return fmt::format("chunk {}: a segment out of range", c); });
    steps += ChunkLength{a.cl[c]}.steps();
  }
  const std::uint64_t said = part.info().params[param_steps];
  part.require(steps == said, "cl", [&] { return fmt::format("{} steps, the part table says {}", steps, said); });
}

/// Every row is in one place, every partial sum has one lane, and those of a row are in the order of their segments.
void check_rows(const PartView& part, const Arrays& a) {
  const std::uint64_t rows = part.rows();
  CountedVector<bool> placed(rows);
  const auto place = [&](std::uint64_t row, std::string_view section) {
    part.require(row < rows, section, [&] { return fmt::format("row {} of {}", row, rows); });
    part.require(!placed[row], section, [&] { return fmt::format("row {} comes twice", row); });
    placed[row] = true;
  };
  constexpr std::uint32_t no_segment = 0xFFFFFFFF;
  CountedVector<std::uint32_t> segment_of(a.shared_rows.size(), no_segment);
  for (std::uint64_t lane = 0; lane < a.row_idx.size(); ++lane) {
    const LaneRow to{a.row_idx[lane]};
    if (to.is_none()) continue;
    if (!to.is_shared()) {
      place(to.index(), "row_idx");
      continue;
    }
    part.require(to.index() < segment_of.size() && segment_of[to.index()] == no_segment, "row_idx",
                 [&] { return fmt::format("partial sum {} is out of range, or comes twice", to.index()); });
    segment_of[to.index()] = ChunkLength{a.cl[lane / a.chunk_rows]}.segment();
  }
  const auto same_row = [&](std::size_t i, std::size_t k) {
    return k < segment_of.size() && a.shared_rows[i] == a.shared_rows[k];
  };
  for (std::size_t i = 0; i < segment_of.size(); ++i) {
    part.require(segment_of[i] != no_segment, "row_idx", [&] { return fmt::format("partial sum {} has no lane", i); });
    const bool goes_on = i != 0 && same_row(i, i - 1);
    if (!goes_on) place(a.shared_rows[i], "shared_rows");
    part.require(goes_on || same_row(i, i + 1), "shared_rows",
                 [&] { return fmt::format("row {} has one partial sum", a.shared_rows[i]); });
    part.require(i == 0 || a.shared_rows[i] >= a.shared_rows[i - 1], "shared_rows",
                 [&] { return fmt::format("falls at {}", i); });
    part.require(!goes_on || segment_of[i] > segment_of[i - 1], "row_idx",
                 [&] { return fmt::format("partial sum {} is not of a later segment", i); });
  }
  for (std::size_t i = 0; i < a.empty_rows.size(); ++i) {
    part.require(i == 0 || a.empty_rows[i] > a.empty_rows[i - 1], "empty_rows",
                 [&] { return fmt::format("does not rise at {}", i); });
    place(a.empty_rows[i], "empty_rows");
  }
  const auto lost = std::find(placed.begin(), placed.end(), false);
  part.require(lost == placed.end(), "row_idx",
               [&] { return fmt::format("row {} is nowhere", lost - placed.begin()); });
}

/// One lane's blocks and padding. Returns its number of entries.
template <class T>
std::uint64_t check_lane(const PartView& part, const Arrays& a, const Slots<T>& slots, std::uint64_t chunk,
                         std::uint64_t lane) {
  const std::uint64_t blocks = a.blocks(chunk, lane), begin = a.segment_begin(chunk);
  const std::uint64_t segment_cols = std::min(a.segment_cols, a.cols - begin);
  const auto require = [&](bool ok, std::string_view section, std::uint64_t step, std::string_view what) {
    part.require(ok, section, [&] { return fmt::format("chunk {}, step {}, lane {}: {}", chunk, step, lane, what); });
  };
  for (std::uint64_t step = 0; step < ChunkLength{a.cl[chunk]}.steps(); ++step) {
    const std::uint16_t column = a.col_idx[a.place(chunk, step, lane)];
    require(column + a.block <= segment_cols, "col_idx", step, "a block that leaves its segment");
    if (step < blocks) continue;
    const std::uint16_t last = blocks == 0 ? 0 : a.col_idx[a.place(chunk, blocks - 1, lane)];
    require(column == last, "col_idx", step, "padding of another column");
    for (std::uint64_t i = 0; i < a.block; ++i)
      require(!slots.has_entry(a.slot(chunk, step, i, lane)), "values", step, "padding with a value");
  }
  std::uint64_t entries = 0, blocks_with = 0;
  std::optional<std::uint64_t> before;
  std::uint64_t last_step = 0;
  a.each_entry(slots, chunk, lane, [&](std::uint64_t slot, std::uint64_t column) {
    const std::uint64_t step = slot / a.chunk_rows / a.block - a.cs[chunk];
    require(!before || column > *before, "col_idx", step, "columns of entries do not rise");
    if (!before || step != last_step) ++blocks_with;
    before = column, last_step = step;
    ++entries;
  });
  part.require(blocks_with == blocks, "values",
               [&] { return fmt::format("chunk {}, lane {}: a block without an entry", chunk, lane); });
  return entries;
}

void check(const PartView& part, int threads) {
  const Arrays a(part);
  check_chunks(part, a);
  check_rows(part, a);
  std::atomic<std::uint64_t> entries{0};
  dispatch(part.info().value_type, [&]<class T>(T) {
    const Slots<T> slots(part);
    slots.check_zeros(part);
    parallel_pieces(a.cl.size(), chunks_per_task, threads, [&](std::uint64_t first, std::uint64_t last) {
      std::uint64_t sum = 0;
      for (std::uint64_t c = first; c < last; ++c) {
        std::uint64_t most = 0;
        for (std::uint64_t lane = 0; lane < a.chunk_rows; ++lane) {
          sum += check_lane(part, a, slots, c, lane);
          most = std::max(most, a.blocks(c, lane));
        }
        part.require(most == ChunkLength{a.cl[c]}.steps(), "cl",
                     [&] { return fmt::format("chunk {} has more steps than its longest lane", c); });
      }
      entries += sum;
    });
  });
  const std::uint64_t nnz = part.info().nnz;
  part.require(entries == nnz, {},
               [&] { return fmt::format("{} entries, the part table says {}", entries.load(), nnz); });
}

/// Chunks are in the order of their segments or not; each row's entries go behind those of its earlier segments.
CsrMatrix unpack(const PartView& part, int threads) {
  const Arrays a(part);
  CsrMatrix m = allocate_csr(part.rows(), part.cols(), part.info().nnz, part.info().value_type);
  dispatch(m.value_type(), [&]<class T>(T) {
    const Slots<T> slots(part);
    const auto from = part.get<T>("values");
    auto& to = std::get<Array<T>>(m.values);
    // Entries of each lane; then, for shared rows, of each partial sum, by which the row's entries are in order.
    const auto each_lane = [&](auto&& f) {
      parallel_pieces(a.cl.size(), chunks_per_task, threads, [&](std::uint64_t first, std::uint64_t last) {
        for (std::uint64_t c = first; c < last; ++c)
          for (std::uint64_t lane = 0; lane < a.chunk_rows; ++lane)
            if (!LaneRow{a.row_idx[c * a.chunk_rows + lane]}.is_none()) f(c, lane);
      });
    };
    Array<std::uint64_t> partial(a.shared_rows.size());
    std::fill(m.row_ptr.begin(), m.row_ptr.end(), 0);
    each_lane([&](std::uint64_t c, std::uint64_t lane) {
      std::uint64_t n = 0;
      a.each_entry(slots, c, lane, [&](std::uint64_t, std::uint64_t) { ++n; });
      const LaneRow row{a.row_idx[c * a.chunk_rows + lane]};
      (row.is_shared() ? partial[row.index()] : m.row_ptr[row.index() + std::uint64_t{1}]) = n;
    });
    for (std::uint64_t i = 0; i < partial.size(); ++i) m.row_ptr[a.shared_rows[i] + std::uint64_t{1}] += partial[i];
    for (std::uint64_t r = 0; r < m.rows; ++r) m.row_ptr[r + 1] += m.row_ptr[r];
    for (std::uint64_t i = 0, begin = 0; i < partial.size(); ++i) {  // now the place of its first entry
      begin = i != 0 && a.shared_rows[i] == a.shared_rows[i - 1] ? begin : m.row_ptr[a.shared_rows[i]];
      begin += std::exchange(partial[i], begin);
    }
    each_lane([&](std::uint64_t c, std::uint64_t lane) {
      const LaneRow row{a.row_idx[c * a.chunk_rows + lane]};
      std::uint64_t k = row.is_shared() ? partial[row.index()] : m.row_ptr[row.index()];
      a.each_entry(slots, c, lane, [&](std::uint64_t slot, std::uint64_t column) {
        m.col_idx[k] = static_cast<std::uint32_t>(column);
        std::memcpy(&to[k++], &from[slot], sizeof(T));
      });
    });
  });
  return m;
}

}  // namespace

const Layout layout{"amb", sections, parameters, check_shape, check, unpack};

}  // namespace spmvpack::layouts::amb
