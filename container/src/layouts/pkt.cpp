#include "spmvpack/container/layouts/pkt.hpp"

#include <utility>

#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/container/layouts/pkt_check.hpp"
#include "spmvpack/container/layouts/pkt_entries.hpp"
#include "unpacking.hpp"
#include "value_functions.hpp"
#include "violations.hpp"

namespace spmvpack::layouts::pkt {
namespace {

constexpr std::uint64_t packets_per_task = 4;

void check_shape(const PartView& part) {
  const auto& p = part.info().params;
  const auto require = [&](bool ok, Param param) {
    part.require(ok, {}, [&] { return fmt::format("{} is {}", pkt::parameters.at(param), p.at(param)); });
  };
  require(p[param_packet_rows] <= max_packet_rows, param_packet_rows);
  require(p[param_threads] >= 1 && p[param_threads] <= max_packet_threads, param_threads);
  part.require(part.rows() == part.cols(), {},
               [&] { return fmt::format("packets of {} rows and {} columns", part.rows(), part.cols()); });
  part.require(part.info().counts[section_packet_ptr] != 0, "packet_ptr",
               [] { return std::string("0 elements, not even 0"); });
  const std::uint64_t slots = slots_of(part.info()), nnz = part.info().nnz;
  part.require(slots % p[param_threads] == 0 && slots / p[param_threads] <= max_steps, "local_idx",
               [&] { return fmt::format("{} slots in steps of {}", slots, p[param_threads]); });
  part.require(nnz <= slots, {}, [&] { return fmt::format("{} slots for {} entries", slots, nnz); });
}

constexpr std::array<ViolationText, 12> texts{{
    {"packet_ptr", "packet {}: no rows, or more than packet_rows"},
    {"step_ptr", "packet {}: steps that end before they begin"},
    {"packet_ptr", "the packets do not begin and end with the rows and the steps"},
    {"rows", "element {}: row {} of {}"},
    {"rows", "element {}: row {} comes twice"},
    {"rows", "element {}: row {} does not follow the one before it in its packet"},
    {"local_idx", "packet {}, thread {}, step {}: a row or column that the packet has not"},
    {"local_idx", "packet {}, thread {}, step {}: an entry does not follow the one before it"},
    {"local_idx", "packet {}, thread {}, step {}: a row of another thread"},
    {"local_idx", "packet {}, thread {}, step {}: an entry after padding"},
    {"values", "packet {}, thread {}, step {}: padding with a value"},
    {"local_idx", "packet {} has more steps than its longest thread"},
}};
static_assert(texts.size() == number_of(too_many_steps));

/// Every row is in one packet: as often as there are rows, one is named that was not named before.
template <class T>
void check_rows(const PartView& part, const View<T>& v) {
  CountedVector<bool> marks(part.rows());
  const auto seen = [&](std::uint32_t row) {
    const bool was = marks[row];
    marks[row] = true;
    return was;
  };
  for (std::uint64_t p = 0; p < v.packets; ++p)
    for (std::uint64_t i = v.packet_ptr[p]; i < v.packet_ptr[p + 1]; ++i)
      require_sound(check_row(v, part.rows(), p, i, seen), part, texts, i, v.rows[i], part.rows());
}

void check(const PartView& part, int threads) {
  dispatch(part.info().value_type, [&]<class T>(T) {
    const View<T> v = view<T>(part);
    for (std::uint64_t p = 0; p < v.packets; ++p) require_sound(check_packet(v, p), part, texts, p);
    require_sound(check_end(v, part.rows()), part, texts);
    check_rows(part, v);
    CountedVector<std::uint8_t> marks(part.rows());  // bytes: packets are checked side by side
    const auto taken = [&](std::uint64_t i) { return std::exchange(marks[i], std::uint8_t{1}) != 0; };
    check_pieces(part, v.packets, packets_per_task, threads, [&](std::uint64_t p) {
      std::uint64_t entries = 0;
      for (std::uint32_t thread = 0; thread < v.threads; ++thread) {
        const ThreadCheck of_thread = check_thread(v, p, thread, taken);
        require_sound(of_thread.found, part, texts, p, thread, of_thread.step);
        entries += of_thread.entries;
      }
      require_sound(check_length(v, p), part, texts, p);
      return entries;
    });
  });
}

}  // namespace

const Layout layout{"pkt", sections, parameters, check_shape, check, unpack<Entries>, &value_functions<Entries>};

}  // namespace spmvpack::layouts::pkt
