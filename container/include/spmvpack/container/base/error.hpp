#pragma once
/// The library's only error type. Nothing in spmvpack prints, exits or aborts; it throws an Error.

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>

#include "spmvpack/container/base/export.hpp"

namespace spmvpack {

/// The kind of error. The values are stable: the command line's exit codes derive from them.
enum class errc : std::uint8_t {
  io = 1,         ///< an operating system call failed: open, read, write, rename
  exists,         ///< the output exists and overwriting was not requested
  usage,          ///< an invalid option or argument
  bad_input,      ///< a source (Matrix Market, ...) that violates its format
  corrupt,        ///< a container with wrong bytes or structure
  mismatch,       ///< two matrices that should be equal are not
  unsupported,    ///< valid, but not supported by this version
  no_device,      ///< no usable GPU
  out_of_memory,  ///< not enough memory, or the limit is too low
  interrupted,    ///< the caller's progress callback asked to stop
  internal,       ///< a bug in spmvpack
  too_large,      ///< beyond a limit of the container format: parts, their rows, the provenance
};

/// The stable name of an error code, such as "bad_input".
SPMVPACK_EXPORT std::string_view to_string(errc code) noexcept;

/// What went wrong, where, and what to do about it.
class SPMVPACK_EXPORT Error : public std::exception {
 public:
  /// @param code   the kind
  /// @param what   what was found and what was expected
  /// @param where  the place: "file:line:column", or "file: section 'blob', byte 4096"; may be empty
  /// @param remedy what the user can do; may be empty
  Error(errc code, std::string what, std::string where = {}, std::string remedy = {});

  [[nodiscard]] errc code() const noexcept { return code_; }
  [[nodiscard]] const std::string& message() const noexcept { return message_; }
  [[nodiscard]] const std::string& where() const noexcept { return where_; }
  [[nodiscard]] const std::string& remedy() const noexcept { return remedy_; }
  /// "where: message; remedy", without the parts that are empty.
  [[nodiscard]] const char* what() const noexcept override { return full_.c_str(); }

 private:
  errc code_;
  std::string message_, where_, remedy_, full_;
};

}  // namespace spmvpack
