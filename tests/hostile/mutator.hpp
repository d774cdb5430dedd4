#pragma once
// Changes containers as files that somebody made on purpose: a few numbers of their sections, sizes, parameters or
// maps, and what goes with them.

#include <algorithm>
#include <array>
#include <cstring>
#include <random>

#include "layout_mutations.hpp"

namespace spmvpack::test::hostile {

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  /// Any number below n.
  std::uint64_t pick(std::uint64_t n) { return random_() % n; }

  /// Changes a container that has been accepted, in one place or in some.
  void mutate(MutableContainer& c) {
    if (c.parts.empty()) return;
    if (one_in(3)) {
      for (std::uint64_t n = 1 + pick(3); n != 0; --n) drop_entry(any(c.parts), random_);
      if (one_in(2)) return;
    }
    for (std::uint64_t n = one_in(3) ? 1 + pick(4) : 1; n != 0; --n) change(c, any(c.parts));
  }

 private:
  bool one_in(std::uint64_t n) { return pick(n) == 0; }
  template <class T>
  T& any(std::vector<T>& all) {
    return all[pick(all.size())];
  }
  /// One more or less, or some.
  std::uint64_t difference() {
    const std::uint64_t d = one_in(4) ? pick(50) : 1;
    return one_in(2) ? d : ~d + 1;
  }
  /// Another number in the place of one.
  std::uint64_t other(std::uint64_t number, const PartInfo& part) {
    switch (pick(12)) {
      case 0:
        return 0;
      case 1:
        return ~std::uint64_t{0} >> pick(64);
      case 2:
        return number ^ std::uint64_t{1} << pick(64);
      case 3:
        return number ^ std::uint64_t{1} << pick(10);
      case 4:
        return part.rows.count - pick(2);
      case 5:
        return part.cols.count - pick(2);
      case 6:
        return pick(300);
      case 7:
        return number * 2;
      case 8:
        return number / 2;
      default:
        return number + difference();
    }
  }

  void change(MutableContainer& c, MutablePart& part) {
    switch (pick(16)) {
      case 0:
        return add_to_sizes(c, part);
      case 1:
        return change_parameter(part);
      case 2:
        return change_map(c, part);
      case 3:
        return add_entries(c, part, difference());
      default:
        if (!part.sections.empty()) change_section(part, any_section(part));
    }
  }
  /// Values are seldom changed: where one is nothing that counts, errors in what is near it do not show.
  MutableSection& any_section(MutablePart& part) {
    const auto is_of_values = [](const MutableSection& s) {
      return s.type == format::ElementType::f32 || s.type == format::ElementType::f64;
    };
    MutableSection& section = any(part.sections);
    return is_of_values(section) && !one_in(4) ? any(part.sections) : section;
  }

  static void add_entries(MutableContainer& c, MutablePart& part, std::uint64_t entries) {
    part.info.nnz += entries;
    if (part.info.role == format::Role::a) c.facts.nnz += entries;
  }
  /// Rows or columns of the part and of the matrix.
  void add_to_sizes(MutableContainer& c, MutablePart& part) {
    const std::uint64_t d = difference();
    const bool rows = one_in(2), of_matrix = part.info.role == format::Role::a;
    (rows ? part.info.rows : part.info.cols).count += d;
    if (!one_in(8)) (rows == of_matrix ? c.facts.rows : c.facts.cols) += d;
  }
  void change_parameter(MutablePart& part) {
    const std::size_t parameters = find_layout(part.info.layout).parameters.size();
    if (parameters == 0) return;
    std::uint64_t& parameter = part.info.params[pick(parameters)];
    parameter = other(parameter, part.info);
  }
  /// A range of rows or columns elsewhere, or in a larger matrix.
  void change_map(MutableContainer& c, MutablePart& part) {
    const bool rows = one_in(2);
    IndexMap& map = rows ? part.info.rows : part.info.cols;
    if (map.kind == format::MapKind::range) map.begin += difference();
    if (map.kind == format::MapKind::all) {
      map.kind = format::MapKind::range;
      map.begin = pick(20);
    }
    std::uint64_t& size = rows == (part.info.role == format::Role::a) ? c.facts.rows : c.facts.cols;
    size = std::max(size, map.begin + map.count);
  }

  /// element += d in memory of so many bytes, of at most 8.
  static void add(std::byte* element, std::size_t width, std::uint64_t d) {
    std::uint64_t number = 0;
    std::memcpy(&number, element, width);
    number += d;
    std::memcpy(element, &number, width);
  }
  void change_section(const MutablePart& part, MutableSection& s) {
    if (one_in(12)) return resize(s);
    // Elements; or what a section of bytes or words packs.
    const std::size_t width = one_in(4) ? std::size_t{1} << pick(4) : s.width();
    const std::uint64_t n = s.bytes.size() / width;
    if (n == 0) return;
    std::byte* const all = s.bytes.data();
    const std::uint64_t i = one_in(4) ? pick(std::min<std::uint64_t>(n, 8)) : pick(n), j = pick(n);
    std::byte *const element = all + i * width, *const another = all + j * width;
    switch (pick(9)) {
      case 0:
        std::copy_n(another, width, element);
        return;
      case 1:
        if (element != another) std::swap_ranges(element, element + width, another);
        return;
      case 2: {  // what counts from there on, or in some that follow each other, so that they still fit together
        constexpr std::array<std::uint64_t, 6> strides{1, 1, 2, 4, 6, 8};
        const std::uint64_t stride = strides[pick(strides.size())], d = difference(),
                            end = one_in(3) ? std::min(n, i + stride * (1 + pick(4))) : n;
        for (std::uint64_t k = i; k < end; k += stride) add(all + k * width, width, d);
        return;
      }
      case 3: {  // two neighbouring bits
        const auto bits = static_cast<unsigned>(*element), at = static_cast<unsigned>(pick(7));
        if ((bits >> at & 1U) != (bits >> (at + 1) & 1U)) *element ^= static_cast<std::byte>(3U << at);
        return;
      }
      case 4: {  // a piece of the section over another
        const std::size_t bytes = std::min<std::size_t>(s.bytes.size(), std::size_t{1} << pick(9)),
                          from = pick(s.bytes.size() - bytes + 1), to = pick(s.bytes.size() - bytes + 1);
        std::memmove(all + to, all + from, bytes);
        return;
      }
      case 5:
        all[pick(s.bytes.size())] ^= static_cast<std::byte>(1U << pick(8));
        return;
      default: {
        std::uint64_t number = 0;
        std::memcpy(&number, element, width);
        number = other(number, part.info);
        std::memcpy(element, &number, width);
      }
    }
  }
  /// Some elements less or more, which are others' copies.
  void resize(MutableSection& s) {
    const std::size_t width = s.width(), n = s.count(), some = 1 + pick(one_in(4) ? 64 : 8), at = pick(n + 1) * width;
    const auto place = s.bytes.begin() + static_cast<std::ptrdiff_t>(at);
    if (one_in(2)) {
      s.bytes.erase(place, place + static_cast<std::ptrdiff_t>(std::min(some * width, s.bytes.size() - at)));
      return;
    }
    std::vector<std::byte> more(some * width);
    for (std::size_t i = 0; n != 0 && i < some; ++i) std::copy_n(&s.bytes[pick(n) * width], width, &more[i * width]);
    s.bytes.insert(place, more.begin(), more.end());
  }

  Random random_;
};

}  // namespace spmvpack::test::hostile
