#pragma once
/// Formats of Fortran, as headers of matrix files declare them: where each number of a list stands.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spmvpack::sources {

/// A format such as (10I8), (1P,4D20.12), (1X,8I9) or (3(1P,E24.16)), as input goes by it (Fortran 2018, 13.3 to 13.8):
/// one line after the other until the list is read, from the last group again if the format ends before the list does.
class FortranFormat {
 public:
  static constexpr unsigned max_width = 128;

  /// What stands in some columns of a line.
  struct Field {
    unsigned column = 0;    ///< its first, from 0
    unsigned width = 0;     ///< characters
    unsigned decimals = 0;  ///< digits after an implied decimal point
    int scale = 0;          ///< of a P descriptor: a number without an exponent means 10^-scale times what it shows
    char kind = 0;          ///< I, F, G (either), or E for E, D, EN and ES
    unsigned blanks = 0;    ///< that may follow a number: G writes them where it writes no exponent
  };

  /// The fields of the list's line number `line`, from 0, in rising columns that do not overlap.
  [[nodiscard]] std::span<const Field> fields(std::uint64_t line) const noexcept;
  /// Numbers in the lines before it.
  [[nodiscard]] std::uint64_t numbers_before(std::uint64_t line) const noexcept;
  /// Lines that a list of so many numbers takes; none if it is empty.
  [[nodiscard]] std::uint64_t lines_of(std::uint64_t count) const noexcept;
  /// The line of number k, from 0.
  [[nodiscard]] std::uint64_t line_of(std::uint64_t k) const noexcept;

  [[nodiscard]] bool reads_integers() const noexcept;
  [[nodiscard]] bool reads_reals() const noexcept;
  /// As it was declared, without blanks around it.
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  friend class FormatReader;
  /// The lines from a place in the format to its end. Line i has the fields [starts[i], starts[i + 1]).
  struct Pass {
    std::vector<Field> fields;
    std::vector<std::uint64_t> starts{0};
    /// The number of fields before each colon, and its line. A list ends there if it has no more numbers.
    std::vector<std::pair<std::uint64_t, std::uint64_t>> colons;
    [[nodiscard]] std::uint64_t lines() const noexcept { return starts.size() - 1; }
    [[nodiscard]] std::uint64_t line_of(std::uint64_t k) const noexcept;
    [[nodiscard]] std::uint64_t lines_of(std::uint64_t count) const noexcept;
  };
  Pass first_, again_;  ///< all of the format; then, as often as needed, what is repeated, with one field at least
  std::string text_;
};

/// Reads a format; case does not matter, nor do blanks. Commas may be missing next to what needs none: P, X, T,
/// slashes, colons and groups. Throws a LineError at the first character that is wrong (errc::bad_input), or right in
/// Fortran and not supported (errc::unsupported): other kinds of data, blanks that are zeros, decimal commas, fields
/// that go back to the left, and more or wider fields than any matrix file has.
FortranFormat parse_fortran_format(std::string_view text);

}  // namespace spmvpack::sources
