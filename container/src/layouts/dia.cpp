#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/container/layouts/dia_check.hpp"
#include "stored_zeros.hpp"
#include "unpacking.hpp"
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
    const Slots<T> slots(part);
    slots.check_zeros(part);
    for (const std::uint64_t slot : slots.zeros())
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
    check_pieces(part, rows, rows_per_task, threads, check_row, slots.zeros().size());
  });
}

CsrMatrix unpack(const PartView& part, int threads) {
  const View d = view(part);
  CsrMatrix m = allocate_csr(part.rows(), part.cols(), part.info().nnz, part.info().value_type);
  dispatch(m.value_type(), [&]<class T>(T) {
    const Slots<T> slots(part);
    const auto has_entry = [&](std::uint64_t slot) { return slots.has_entry(slot); };
    unpack_rows<T>(m, part.get<T>("values").data(), rows_per_task, threads,
                   [&](std::uint64_t r, auto&& f) { each_entry<T>(d, r, has_entry, f); });
  });
  return m;
}

}  // namespace

const Layout layout{"dia", sections, {}, nullptr, check, unpack};

}  // namespace spmvpack::layouts::dia
