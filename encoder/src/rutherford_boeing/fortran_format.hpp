#pragma once
/// Numbers in fixed columns, as Fortran programs write them.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "text/text_batches.hpp"

namespace spmvpack::encoder {

/// A format of one repeated edit descriptor: (10I8), (5E16.8), (1P,4D20.12), (8E10.1E3).
struct FortranFormat {
  static constexpr unsigned max_width = 128;

  unsigned repeat = 1;    ///< numbers per line
  unsigned width = 0;     ///< characters per number
  unsigned decimals = 0;  ///< digits after a point that is not written
  int scale = 0;          ///< of a P descriptor: numbers without an exponent stand for 10^-scale times what they show
  bool integer = false;   ///< I; else F, E, D or G, which read alike
};

/// Reads a format; blanks and case do not matter. Throws a LineError at the character that is not understood.
FortranFormat parse_fortran_format(std::string_view text);

/// One number cut out of its columns.
class FortranField {
 public:
  /// `columns` are those of the field, fewer at the end of a line. Throws a LineError at `columns` where they are
  /// blank; `expected` is what should be there.
  void take(std::string_view columns, const char* expected);

  /// The number, as read by number_text.hpp: what precedes it is a plain token followed by a line end. Each throws a
  /// LineError at the place in the line.
  [[nodiscard]] std::uint64_t index(std::uint64_t least, std::uint64_t most, const char* expected) const;
  template <class T>
  [[nodiscard]] T integer() const;
  /// Exponents may also be D, or lack their letter (1.5-3). Numbers whose value depends on who reads them are refused:
  /// those without a point where the format implies decimals, and those without an exponent where it has a scale.
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

}  // namespace spmvpack::encoder
