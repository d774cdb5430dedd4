#pragma once
// What a layout's predicates find, in words.

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>

#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/container/file/contents.hpp"
#include "spmvpack/container/layouts/violation.hpp"

namespace spmvpack::layouts {

/// What a violation is called, with places for numbers, and the section that it is in.
struct ViolationText {
  std::string_view section, text;
};

/// Fails if something is found. `texts`: by the violations' numbers, from 1 on. `numbers`: of all places that a text
/// of such a violation has.
template <class... Numbers>
void require_sound(std::uint32_t found, const PartView& part, std::span<const ViolationText> texts,
                   Numbers... numbers) {
  if (found == 0) return;
  const auto& [section, text] = texts[number_of(found) - 1];
  part.fail(fmt::format(fmt::runtime(text), numbers...), section);
}

/// The part has as many entries as the part table says.
inline void require_entries(const PartView& part, std::uint64_t entries) {
  const std::uint64_t nnz = part.info().nnz;
  part.require(entries == nnz, {}, [&] { return fmt::format("{} entries, the part table says {}", entries, nnz); });
}

/// Checks pieces of a part in parallel, several in a task, and that they have as many entries as the part table says.
/// check(i): of a piece, returns its entries. `others`: entries that are in no piece.
template <class F>
void check_pieces(const PartView& part, std::uint64_t pieces, std::uint64_t pieces_per_task, int threads, F&& check,
                  std::uint64_t others = 0) {
  std::atomic<std::uint64_t> entries{others};
  parallel_pieces(pieces, pieces_per_task, threads, [&](std::uint64_t first, std::uint64_t last) {
    std::uint64_t sum = 0;
    for (std::uint64_t i = first; i < last; ++i) sum += check(i);
    entries += sum;
  });
  require_entries(part, entries);
}

}  // namespace spmvpack::layouts
