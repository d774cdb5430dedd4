#pragma once
/// New values in an old pattern, in host memory.

#include <cstdint>
#include <span>

#include "spmvpack/container/base/export.hpp"
#include "spmvpack/container/file/updated.hpp"
#include "spmvpack/container/multiply/value_slots.hpp"
#include "spmvpack/container/multiply/value_sources.hpp"

namespace spmvpack {

/// A part whose bytes can be changed.
struct UpdatablePart {
  const PartView* view;
  layouts::SectionBytes<std::byte> bytes;  ///< those of the view
  const ValueSource* source;
  /// What the source says, by elements, for updates that go through memory in order. Null: entry by entry.
  const ValueSlots* slots = nullptr;
};

/// Gives the entries of all parts of a matrix new values, one for each entry of A in the order of its CSR: of the
/// matrix's value type, or f64, which are rounded for an f32 matrix. Allocates nothing, but for values that are
/// rounded. Errors, all of them before anything is written: errc::usage (wrong number or type of values);
/// errc::bad_input (a value that is beyond f32); errc::unsupported (a value that would change the pattern of a part
/// whose slots say by their bits whether they hold an entry, as in dia: +0 in place of another value, or another in
/// place of +0).
template <class T>
SPMVPACK_EXPORT void update_values(const MatrixFacts& facts, std::span<const UpdatablePart> parts,
                                   std::span<const T> values, int threads = 0);

/// Writes `container` with other values, in the order and of the types of update_values(), to `sink`: as
/// write_updated() does. Returns the size. Errors: those of value_sources(), update_values(), write_updated() and of
/// loading.
template <class T>
SPMVPACK_EXPORT std::uint64_t write_with_values(ByteSink& sink, const Container& container, std::span<const T> values,
                                                const LoadOptions& load = {}, const WriteOptions& write = {});

}  // namespace spmvpack
