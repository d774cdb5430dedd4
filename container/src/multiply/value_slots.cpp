#include "spmvpack/container/multiply/value_slots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <type_traits>

#include "layouts/value_functions.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/container/base/text.hpp"
#include "spmvpack/container/layouts/registry.hpp"

namespace spmvpack {
namespace {

constexpr std::uint64_t slots_per_task = std::uint64_t{1} << 16;

/// What write() makes of a section of padding if value k is k + 1, which is no pattern's +0: the bits of no_value where
/// nothing is written. T: the type of values.
template <class T>
class NumberedSections {
 public:
  using Number = bits_of<T>;
  static constexpr Number none = ~Number{0};

  NumberedSections(const PartView& part, const ValueSource& source, std::uint64_t nnz, int threads) {
    const Layout& layout = find_layout(part.info().layout);
    layouts::SectionBytes<std::byte> bytes;
    for (std::size_t s = 0; s < layout.sections.size(); ++s) {
      const PartView::Section* const section = part.find(layout.sections[s].name);
      if (section == nullptr || !layout.sections[s].device()) continue;
      elements[s] = Array<Number>(div_up(section->bytes.size(), sizeof(T)));
      fill(elements[s].size(), threads, [&](std::uint64_t k) { elements[s][k] = none; });
      bytes.begin[s] = reinterpret_cast<std::byte*>(elements[s].data());
    }
    Array<Number> numbers(nnz);
    fill(nnz, threads, [&](std::uint64_t k) { numbers[k] = static_cast<Number>(k + 1); });
    layout.values->write(part, bytes, source, numbers.data(), threads);
  }

  Array<Number> elements[max_layout_sections];  // NOLINT(*-avoid-c-arrays): like SectionBytes

 private:
  template <class F>
  static void fill(std::uint64_t count, int threads, F&& f) {
    parallel_items(count, slots_per_task, threads, f);
  }
};

template <class Index, class Number>
Array<Index> places_of(const Array<Number>& numbers, int threads) {
  Array<Index> value(numbers.size());
  parallel_items(numbers.size(), slots_per_task, threads, [&](std::uint64_t k) {
    value[k] = numbers[k] == ~Number{0} ? no_value<Index> : static_cast<Index>(numbers[k] - 1);
  });
  return value;
}

}  // namespace

ValueSlots value_slots(const PartView& part, const ValueSource& source, std::uint64_t nnz, int threads) {
  const bool is_wide = are_wide_numbers(nnz);
  if (!fits_value_slots(part.info().value_type, nnz))
    throw Error(errc::unsupported, fmt::format("new values on a device for {} entries of f32", grouped(nnz)),
                part.where(), "store the values as f64, or update them on the host");
  ValueSlots slots;
  dispatch(part.info().value_type, [&]<class T>(T) {
    using Number = bits_of<T>;
    slots.held_by_bits = part.info().nnz != 0 && part_values(part.info()).hold_by_bits;
    NumberedSections<T> sections(part, source, nnz, threads);
    std::uint64_t entries = 0;
    for (std::size_t s = 0; s < max_layout_sections; ++s) {
      const Array<Number>& elements = sections.elements[s];
      std::atomic<std::uint64_t> of_section{0};
      std::atomic<bool> in_order{elements.size() == nnz};
      parallel_pieces(elements.size(), slots_per_task, threads, [&](std::uint64_t begin, std::uint64_t end) {
        std::uint64_t count = 0;
        bool ordered = true;
        for (std::uint64_t k = begin; k < end; ++k) {
          count += elements[k] != ~Number{0} ? 1 : 0;
          ordered = ordered && elements[k] == static_cast<Number>(k + 1);
        }
        of_section += count;
        if (!ordered) in_order.store(false, std::memory_order_relaxed);
      });
      if (of_section == 0) continue;
      entries += of_section;
      slots.section = s;
      slots.elements = elements.size();
      if (in_order) continue;
      if (is_wide)
        slots.value = places_of<std::uint64_t>(elements, threads);
      else
        slots.value = places_of<std::uint32_t>(elements, threads);
    }
    if (entries != part.info().nnz)
      part.fail(fmt::format("{} of {} entries have a value of their own", entries, part.info().nnz), "values");
  });
  return slots;
}

}  // namespace spmvpack
