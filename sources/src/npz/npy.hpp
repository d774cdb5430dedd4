#pragma once
/// One array of NumPy's .npy format (numpy.lib.format, versions 1 to 3), as a member of a .npz archive.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "spmvpack/container/base/array.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/container/base/types.hpp"

namespace spmvpack::sources {

/// What to do about a matrix that is not as SciPy writes it, and about values that are not read.
inline constexpr const char* remedy_check = "load it with scipy.sparse.load_npz(): that or check_format() says more";
constexpr const char* remedy_for_values(std::string_view dtype) noexcept {
  return dtype == "c16" || dtype == "c8" ? "only real values go with a real matrix: save real and imaginary parts apart"
         : dtype.starts_with('c')        ? "convert them with astype(numpy.complex128)"
                                         : "convert them with astype(numpy.float64)";
}

/// The elements in C order.
struct NpyArray {
  std::string name;   ///< for messages: "A.npz(data.npy)"
  std::string dtype;  ///< without the byte order, which is this machine's: "i4", "f8", "S3", ...
  std::vector<std::uint64_t> shape;
  Array<std::byte> bytes;

  [[nodiscard]] std::uint64_t size() const noexcept;
  [[nodiscard]] std::string shape_text() const;  ///< as Python writes it: "(3,)", "(3, 4)"
  /// Drops the elements whose first index is `n` or more; the memory stays allocated.
  void truncate(std::uint64_t n) noexcept;
  /// Throws Error(errc::bad_input) at this array; the remedy, unless given, is to have SciPy check the matrix.
  [[noreturn]] void fail(const std::string& what, const char* remedy = remedy_check) const;

  /// Calls f with the elements' pointer if they are integers of one, two, four or eight bytes or booleans; returns
  /// false for other types.
  template <class F>
  bool as_integers(F&& f) const {
    const auto is = [&](std::string_view type) { return dtype == type; };
    if (is("i1")) return call<std::int8_t>(f);
    if (is("i2")) return call<std::int16_t>(f);
    if (is("i4")) return call<std::int32_t>(f);
    if (is("i8")) return call<std::int64_t>(f);
    if (is("u1") || is("b1")) return call<std::uint8_t>(f);
    if (is("u2")) return call<std::uint16_t>(f);
    if (is("u4")) return call<std::uint32_t>(f);
    if (is("u8")) return call<std::uint64_t>(f);
    return false;
  }
  template <class T>
  [[nodiscard]] const T* as() const noexcept {
    return reinterpret_cast<const T*>(bytes.data());
  }

 private:
  template <class T, class F>
  bool call(F&& f) const {
    f(as<T>());
    return true;
  }
};

/// Whether a file that starts with `start` is a .npy file.
bool starts_npy(std::string_view start) noexcept;

/// Reads the array called `name` from the blocks of bytes that `next_block` returns, of which an empty one is the last.
/// Big-endian numbers are turned round, and an array in Fortran's order is put into C order, for which it is in memory
/// twice. Errors: errc::bad_input (no such array, or bytes that are missing or too many); errc::unsupported (objects,
/// structures and other types that are no numbers); errc::out_of_memory: more than `memory_limit` bytes.
NpyArray read_npy(const std::string& name, const std::function<std::string_view()>& next_block,
                  std::uint64_t memory_limit);

}  // namespace spmvpack::sources
