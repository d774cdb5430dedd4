#pragma once
/// Numbers in fixed columns, as written by Fortran programs.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "text/text_batches.hpp"

namespace spmvpack::sources {

/// A format of one repeated edit descriptor: (10I8), (5E16.8), (1P,4D20.12), (8E10.1E3).
struct FortranFormat {
  static constexpr unsigned max_width = 128;

  unsigned repeat = 1;    ///< numbers per line
  unsigned width = 0;     ///< characters per number
  unsigned decimals = 0;  ///< digits after an implied decimal point
  int scale = 0;          ///< of a P descriptor: a number without an exponent means 10^-scale times what it shows
  bool integer = false;   ///< I; otherwise F, E, D or G, which are read alike
};

/// Reads a format; blanks and case do not matter. Throws a LineError at the first character that it does not
/// understand.
FortranFormat parse_fortran_format(std::string_view text);

/// One number cut out of its columns.
class FortranField {
 public:
  /// `columns` are those of the field, fewer at the end of a line. Throws a LineError at `columns` if they are blank;
  /// `expected` says what should be there.
  void take(std::string_view columns, const char* expected);

  /// The number, as read by number_text.hpp from a copy that is followed by a line end. Each throws a LineError at the
  /// position in the line.
  [[nodiscard]] std::uint64_t index(std::uint64_t least, std::uint64_t most, const char* expected) const;
  template <class T>
  [[nodiscard]] T integer() const;
  /// Exponents may also use D or have no letter (1.5-3). Numbers that readers interpret differently are refused: those
  /// without a point if the format implies decimals, and those without an exponent if it has a scale.
  /// @param wide  the value in f64
  template <class T>
  [[nodiscard]] T real(const FortranFormat& format, double& wide) const;

 private:
  [[noreturn]] void refuse(const LineError& e) const;
  [[noreturn]] void refuse(const std::string& what, const char* remedy = "") const;
  template <class T>
  [[nodiscard]] T real_carefully(const FortranFormat& format, double& wide) const;

  const char* at_ = nullptr;  ///< in the line
  std::size_t size_ = 0;
  char text_[FortranFormat::max_width + TextBatches::slack + 1] = {};
};

}  // namespace spmvpack::sources
