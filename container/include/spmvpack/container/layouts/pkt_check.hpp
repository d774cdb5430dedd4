#pragma once
/// What a part of pkt must be like, for host and device: each predicate looks at one packet, row or thread and its
/// neighbours, and returns what is violated first. Once check_packet() of all packets and check_end() have found
/// nothing, the others read nothing outside the part's sections.

#include <cstring>

#include "spmvpack/container/base/types.hpp"
#include "spmvpack/container/layouts/pkt.hpp"
#include "spmvpack/container/layouts/violation.hpp"

namespace spmvpack::layouts::pkt {

/// Violations, in the order in which a reader meets them from the beginning of a part.
enum Violation : std::uint32_t {
  sound = 0,
  wrong_rows_of_packet = violation(1, 0),
  steps_fall = violation(2, 0),
  wrong_ends = violation(3, 0),
  row_out_of_range = violation(4, 1),
  row_twice = violation(5, 1),
  rows_fall = violation(6, 1),
  outside_packet = violation(7, 2),
  entries_fall = violation(8, 2),
  row_of_two_threads = violation(9, 2),
  entry_after_padding = violation(10, 2),
  padding_with_value = violation(11, 3),
  too_many_steps = violation(12, 2),
};

/// A packet has rows, though not too many, and its steps do not end before they begin.
template <class T>
SPMVPACK_HOST_DEVICE Violation check_packet(const View<T>& v, std::uint64_t p) {
  const std::uint32_t begin = v.packet_ptr[p], end = v.packet_ptr[p + 1];
  if (end <= begin || end - begin > v.packet_rows) return wrong_rows_of_packet;
  return v.step_ptr[p + 1] < v.step_ptr[p] ? steps_fall : sound;
}

/// Packets begin with the rows and the steps, and end where these do.
template <class T>
SPMVPACK_HOST_DEVICE Violation check_end(const View<T>& v, std::uint64_t rows) {
  return v.packet_ptr[0] == 0 && v.step_ptr[0] == 0 && v.packet_ptr[v.packets] == rows &&
                 v.step_ptr[v.packets] == v.steps
             ? sound
             : wrong_ends;
}

/// Element i of `rows`, which belongs to packet p, of a part with so many rows. seen(row): marks it, and returns
/// whether it was marked.
template <class T, class Seen>
SPMVPACK_HOST_DEVICE Violation check_row(const View<T>& v, std::uint64_t rows, std::uint64_t p, std::uint64_t i,
                                         Seen&& seen) {
  const std::uint32_t row = v.rows[i];
  if (row >= rows) return row_out_of_range;
  if (seen(row)) return row_twice;
  return i != v.packet_ptr[p] && row <= v.rows[i - 1] ? rows_fall : sound;
}

/// What check_thread() finds, at which step of the packet, and the thread's entries.
struct ThreadCheck {
  Violation found = sound;
  std::uint32_t step = 0, entries = 0;
};

/// The entries and the padding of a thread of packet p. taken(i): marks element i of `rows`, and returns whether it was
/// marked.
template <class T, class Taken>
SPMVPACK_HOST_DEVICE ThreadCheck check_thread(const View<T>& v, std::uint64_t p, std::uint64_t thread, Taken&& taken) {
  const std::uint32_t rows = v.rows_of(p), steps = v.step_ptr[p + 1] - v.step_ptr[p];
  ThreadCheck check;
  for (std::uint32_t step = 0; step < steps; ++step) {
    const std::uint64_t slot = v.slot(v.step_ptr[p] + std::uint64_t{step}, thread);
    const LocalIndex at{v.local_idx[slot]};
    if (at.is_padding()) {
      bits_of<T> bits = 0;
      std::memcpy(&bits, v.values + slot, sizeof bits);
      if (bits != 0) return {padding_with_value, step};
      continue;
    }
    if (check.entries != step) return {entry_after_padding, step};
    if (at.row() >= rows || at.column() >= rows) return {outside_packet, step};
    const LocalIndex before{step == 0 ? 0 : v.local_idx[slot - v.threads]};
    if (step != 0 && at.bits <= before.bits) return {entries_fall, step};
    if ((step == 0 || at.row() != before.row()) && taken(std::uint64_t{v.packet_ptr[p]} + at.row()))
      return {row_of_two_threads, step};
    ++check.entries;
  }
  return check;
}

/// In the last step of packet p, at least one thread has an entry.
template <class T>
SPMVPACK_HOST_DEVICE Violation check_length(const View<T>& v, std::uint64_t p) {
  if (v.step_ptr[p] == v.step_ptr[p + 1]) return sound;
  for (std::uint32_t thread = 0; thread < v.threads; ++thread)
    if (!LocalIndex{v.local_idx[v.slot(v.step_ptr[p + 1] - std::uint64_t{1}, thread)]}.is_padding()) return sound;
  return too_many_steps;
}

}  // namespace spmvpack::layouts::pkt
