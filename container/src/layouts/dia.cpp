#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/container/layouts/dia_check.hpp"
#include "stored_zeros.hpp"
#include "unpacking.hpp"
#include "value_functions.hpp"
#include "violations.hpp"

namespace spmvpack::layouts::dia {
namespace {

constexpr std::uint64_t rows_per_task = 1024;

/// By the violations' numbers; of a diagonal, or of a row and its diagonal.
constexpr std::array<ViolationText, 3> texts{{{"offsets", "diagonal {}: outside the matrix"},
                                              {"offsets", "diagonal {}: offsets do not rise"},
                                              {"values", "row {}, diagonal {}: a value without a column"}}};
static_assert(texts.size() == number_of(value_without_column));

void check(const PartView& part, int threads) {
  const View d = view(part);
  for (std::uint64_t i = 0; i < d.count; ++i) require_sound(check_diagonal(d, i), part, texts, i);
  dispatch(part.info().value_type, [&]<class T>(T) {
    const auto slots = HeldSlots<T>::of(part);
    const auto zeros = checked_zeros(part, slots);
    for (const std::uint64_t slot : zeros)
      part.require(check_entry(d, slot % d.rows, slot / d.rows) == sound, "stored_zeros",
                   [&] { return fmt::format("slot {} has no column", slot); });
    const std::uint64_t rows = d.count == 0 ? 0 : part.rows();
    const auto check_row = [&](std::uint64_t r) {
      std::uint64_t entries = 0;
      for (std::uint64_t i = 0; i < d.count; ++i) {
        if (!slots.is_filled(i * d.rows + r)) continue;
        require_sound(check_entry(d, r, i), part, texts, r, i);
        ++entries;
      }
      return entries;
    };
    check_pieces(part, rows, rows_per_task, threads, check_row, zeros.size());
  });
}

}  // namespace

const Layout layout{.name = "dia",
                    .sections = sections,
                    .parameters = {},
                    .check_shape = nullptr,
                    .check = check,
                    .unpack = unpack<Entries>,
                    .values = &value_functions_by_bits<Entries>,
                    .part_values = [](const PartInfo&) { return PartValues{.hold_by_bits = true}; }};

}  // namespace spmvpack::layouts::dia
