#pragma once
/// The one error type of the library. Nothing in spmvpack prints, exits or aborts: it throws an Error.

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>

#include "spmvpack/container/export.hpp"

namespace spmvpack {

/// What kind of thing went wrong. The values are stable: the command line's exit codes are made from them.
enum class errc : std::uint8_t {
  io = 1,         ///< the operating system refused: open, read, write, rename
  exists,         ///< the output exists and overwriting was not asked for
  usage,          ///< an option or argument that makes no sense
  bad_input,      ///< a source (Matrix Market, ...) that breaks its format
  corrupt,        ///< a container whose bytes or structure are wrong
  mismatch,       ///< two matrices that should be equal are not
  unsupported,    ///< a valid request that this version cannot serve
  no_device,      ///< no usable GPU
  out_of_memory,  ///< more memory needed than there is, or than the limit allows
  interrupted,    ///< the caller's progress callback asked to stop
  internal,       ///< a bug of spmvpack
};

/// The stable name of an errc, such as "bad_input".
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
  /// "where: message; remedy", each part only if present.
  [[nodiscard]] const char* what() const noexcept override { return full_.c_str(); }

 private:
  errc code_;
  std::string message_, where_, remedy_, full_;
};

}  // namespace spmvpack
