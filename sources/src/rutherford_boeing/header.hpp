#pragma once
/// The head of a Harwell-Boeing or Rutherford-Boeing file: four lines of fixed columns, five with right-hand sides
/// (Duff, Grimes, Lewis, "The Rutherford-Boeing Sparse Matrix Collection", RAL-TR-97-031).

#include <cstdint>
#include <string>
#include <string_view>

#include "rutherford_boeing/fortran_format.hpp"
#include "spmvpack/container/base/types.hpp"
#include "text/text_batches.hpp"

namespace spmvpack::sources {

/// One of the lists of numbers that make up the body.
struct FixedColumnList {
  FortranFormat format;
  std::uint64_t count = 0;       ///< numbers
  std::uint64_t first_line = 0;  ///< of the file, from 1
  const char* what = "";         ///< what one of its numbers is called
  const char* name = "";         ///< and all of them
  bool integers = true;          ///< else real numbers
  /// Where its numbers first stood in other columns than the format says, "name:line:column"; empty where they never
  /// do. Set as the list is read.
  std::string misfit = {};

  [[nodiscard]] std::uint64_t lines() const noexcept { return format.lines_of(count); }
};

struct RutherfordBoeingHeader {
  Field field = Field::real;
  Symmetry symmetry = Symmetry::general;
  std::uint64_t rows = 0, cols = 0;
  FixedColumnList pointers, indices, values;  ///< a pattern has no values; complex ones are two numbers each
  bool right_hand_sides = false;              ///< they follow the values
  std::string title;                          ///< the first line
};

/// Whether the first 1024 bytes of a text look like such a file: its third line starts with a type code such as RUA.
bool is_rutherford_boeing(std::string_view start) noexcept;

/// Reads the head and leaves `text` at the line after it. Errors: errc::bad_input (violates the format or contradicts
/// itself), errc::unsupported (elemental).
RutherfordBoeingHeader read_rutherford_boeing_header(TextBatches& text);

}  // namespace spmvpack::sources
