#include "status.hpp"

#include <string>

namespace spmvpack::c {
namespace {

static_assert(SPMVPACK_IO == static_cast<int>(errc::io) && SPMVPACK_EXISTS == static_cast<int>(errc::exists) &&
              SPMVPACK_USAGE == static_cast<int>(errc::usage) &&
              SPMVPACK_BAD_INPUT == static_cast<int>(errc::bad_input) &&
              SPMVPACK_CORRUPT == static_cast<int>(errc::corrupt) &&
              SPMVPACK_UNSUPPORTED == static_cast<int>(errc::unsupported) &&
              SPMVPACK_NO_DEVICE == static_cast<int>(errc::no_device) &&
              SPMVPACK_OUT_OF_MEMORY == static_cast<int>(errc::out_of_memory) &&
              SPMVPACK_INTERNAL == static_cast<int>(errc::internal) &&
              SPMVPACK_TOO_LARGE == static_cast<int>(errc::too_large));

/// The text of the last error, unless there was no memory even for that.
struct LastError {
  std::string text;
  bool lost = false;
};
thread_local LastError last_error;

}  // namespace

spmvpack_status failed(spmvpack_status status, const char* text) noexcept {
  try {
    last_error.text = text;
    last_error.lost = false;
  } catch (...) {
    last_error.lost = true;
  }
  return status;
}

const char* last_error_text() noexcept { return last_error.lost ? no_memory : last_error.text.c_str(); }

void require(bool ok, const char* what) {
  if (!ok) throw Error(errc::usage, what);
}

void require_pointer(const void* pointer, const char* name) {
  if (pointer == nullptr) throw Error(errc::usage, std::string(name) + " is null");
}

}  // namespace spmvpack::c
