#include <algorithm>
#include <utility>

#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/container/layouts/amb_check.hpp"
#include "spmvpack/container/layouts/amb_entries.hpp"
#include "stored_zeros.hpp"
#include "unpacking.hpp"
#include "value_functions.hpp"
#include "violations.hpp"

namespace spmvpack::layouts::amb {
namespace {

constexpr std::uint64_t chunks_per_task = 64;

void check_shape(const PartView& part) {
  const auto& p = part.info().params;
  const auto require = [&](bool ok, Param param) {
    part.require(ok, {}, [&] { return fmt::format("{} is {}", amb::parameters.at(param), p.at(param)); });
  };
  require(p[param_segment_cols] >= 1 && p[param_segment_cols] <= max_segment_cols, param_segment_cols);
  require(p[param_block] >= 1 && p[param_block] <= max_block, param_block);
  require(p[param_chunk_rows] >= 1 && p[param_chunk_rows] <= max_chunk_rows, param_chunk_rows);
  const std::uint64_t blocks = amb::blocks_of(part.info()), shared = shared_of(part.info());
  part.require(blocks % p[param_chunk_rows] == 0 && steps_of(part.info()) <= max_steps, "col_idx",
               [&] { return fmt::format("{} blocks in steps of {}", blocks, p[param_chunk_rows]); });
  part.require(shared <= max_shared, "shared_rows", [&] { return fmt::format("{} partial sums", shared); });
  part.require(part.rows() <= max_rows, {}, [&] { return fmt::format("{} rows", part.rows()); });
  part.require(p[param_block] > 1 || part.find("stored_zeros") == nullptr, "stored_zeros",
               [] { return std::string("in a part with blocks of one column"); });
}

constexpr std::array<ViolationText, 18> texts{{
    {"cs", "chunk {} does not start at step {}"},
    {"cl", "chunk {}: a segment out of range"},
    {"cl", "{} steps, the part table says {}"},
    {"", "row {1} of {2}"},
    {"", "row {1} comes twice"},
    {"row_idx", "partial sum {1} is out of range, or comes twice"},
    {"row_idx", "partial sum {0} has no lane"},
    {"shared_rows", "row {1} has one partial sum"},
    {"shared_rows", "falls at {0}"},
    {"row_idx", "partial sum {0} is not of a later segment"},
    {"empty_rows", "does not rise at {0}"},
    {"row_idx", "row {} is nowhere"},
    {"col_idx", "chunk {}, step {}, lane {}: a block that leaves its segment"},
    {"col_idx", "chunk {}, step {}, lane {}: padding of another column"},
    {"values", "chunk {}, step {}, lane {}: padding with a value"},
    {"col_idx", "chunk {}, step {}, lane {}: columns of entries do not rise"},
    {"values", "chunk {0}, lane {2}: a block without an entry"},
    {"cl", "chunk {} has more steps than its longest lane"},
}};
static_assert(texts.size() == number_of(too_many_steps));

/// Every row is in one place, every partial sum has one lane, and those of a row are in the order of their segments.
template <class T>
void check_rows(const PartView& part, const View<T>& v, const Sizes& n) {
  CountedVector<bool> placed(n.rows);
  CountedVector<std::uint32_t> segments(v.shared);
  const auto seen = [&](std::uint32_t row) {
    const bool was = placed[row];
    placed[row] = true;
    return was;
  };
  const auto claim = [&](std::uint32_t i, std::uint32_t segment) { return std::exchange(segments[i], segment); };
  // `section`: that of the row, which may be in any of three.
  const auto require = [&](Violation found, std::string_view section, std::uint64_t i, std::uint32_t row) {
    if (found == row_out_of_range || found == row_twice)
      part.fail(fmt::format(fmt::runtime(texts[number_of(found) - 1].text), i, row, n.rows), section);
    require_sound(found, part, texts, i, row);
  };
  for (std::uint64_t lane = 0; lane < v.chunks * v.chunk_rows; ++lane)
    require(check_target(v, n, lane, seen, claim), "row_idx", lane, LaneRow{v.row_idx[lane]}.index());
  for (std::uint64_t i = 0; i < v.shared; ++i)
    require(check_shared(v, n, i, segments.data(), seen), "shared_rows", i, v.shared_rows[i]);
  for (std::uint64_t i = 0; i < v.empty; ++i) require(check_empty(v, n, i, seen), "empty_rows", i, v.empty_rows[i]);
  const auto lost = std::find(placed.begin(), placed.end(), false);
  require_sound(lost == placed.end() ? sound : row_nowhere, part, texts, lost - placed.begin());
}

void check(const PartView& part, int threads) {
  dispatch(part.info().value_type, [&]<class T>(T) {
    const View<T> v = view<T>(part);
    const Sizes n = sizes_of(part);
    for (std::uint64_t c = 0; c < v.chunks; ++c) require_sound(check_chunk(v, n, c), part, texts, c, step_begin(v, c));
    require_sound(check_steps(v), part, texts, step_begin(v, v.chunks), v.steps);
    check_rows(part, v, n);
    const auto slots = HeldSlots<T>::of(part);
    checked_zeros(part, slots);
    const auto has_entry = [&](std::uint64_t slot) { return slots.has_entry(slot); };
    check_pieces(part, v.chunks, chunks_per_task, threads, [&](std::uint64_t c) {
      std::uint64_t entries = 0;
      for (std::uint64_t lane = 0; lane < v.chunk_rows; ++lane) {
        const LaneCheck of_lane = check_lane(v, n, c, lane, has_entry, true);
        require_sound(of_lane.found, part, texts, c, of_lane.step, lane);
        entries += of_lane.entries;
      }
      require_sound(check_length(v, c), part, texts, c);
      return entries;
    });
  });
}

}  // namespace

const Layout layout{
    .name = "amb",
    .sections = sections,
    .parameters = parameters,
    .check_shape = check_shape,
    .check = check,
    .unpack = unpack<Entries>,
    .values = &value_functions_by_bits<Entries>,
    .part_values = [](const PartInfo& part) { return PartValues{.hold_by_bits = part.params[param_block] != 1}; }};

}  // namespace spmvpack::layouts::amb
