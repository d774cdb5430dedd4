#pragma once
/// Numbers in fixed columns, as written by Fortran programs.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "rutherford_boeing/fortran_format.hpp"
#include "text/text_batches.hpp"

namespace spmvpack::sources {

/// One number cut out of its columns.
class FortranField {
 public:
  /// `columns` are those of the field, fewer at the end of a line. Throws a LineError at `columns` if they are blank;
  /// `expected` says what should be there.
  void take(std::string_view columns, const char* expected);
  /// Where it starts in the line, without its blanks.
  [[nodiscard]] const char* begin() const noexcept { return at_; }
  [[nodiscard]] const char* end() const noexcept { return at_ + size_; }

  /// Whether it is written as a number is, whatever its value.
  [[nodiscard]] bool is_integer() const noexcept;
  [[nodiscard]] bool is_real() const noexcept;

  /// The number, as read by number_text.hpp from a copy that is followed by a line end. Each throws a LineError at the
  /// position in the line.
  [[nodiscard]] std::uint64_t index(std::uint64_t least, std::uint64_t most, const char* expected) const;
  template <class T>
  [[nodiscard]] T integer() const;
  /// Exponents may also use D, have no letter (1.5-3) or a blank for their plus sign (1.5E 03). F descriptors with a
  /// scale divide numbers without an exponent, as Fortran's writers multiply them. Numbers that readers interpret
  /// differently are refused: those without a point if the format implies decimals, and those without an exponent if
  /// another descriptor has a scale.
  /// @param wide  the value in f64
  template <class T>
  [[nodiscard]] T real(const FortranFormat::Field& format, double& wide);
  /// Whether real() has found a blank in the number.
  [[nodiscard]] bool has_blank() const noexcept { return has_blank_; }

 private:
  [[noreturn]] void refuse(const LineError& e) const;
  [[noreturn]] void refuse(const std::string& what, const char* remedy = "") const;
  [[nodiscard]] bool ends_with_exponent() const noexcept;
  template <class T>
  [[nodiscard]] T real_carefully(const FortranFormat::Field& format, double& wide);

  const char* at_ = nullptr;  ///< in the line
  std::size_t size_ = 0;
  bool has_blank_ = false;
  char text_[FortranFormat::max_width + TextBatches::slack + 1] = {};
};

}  // namespace spmvpack::sources
