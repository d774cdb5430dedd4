#include "spmvpack/container/base/error.hpp"

#include <utility>

namespace spmvpack {

std::string_view to_string(errc code) noexcept {
  switch (code) {
    case errc::io:
      return "io";
    case errc::exists:
      return "exists";
    case errc::usage:
      return "usage";
    case errc::bad_input:
      return "bad_input";
    case errc::corrupt:
      return "corrupt";
    case errc::mismatch:
      return "mismatch";
    case errc::unsupported:
      return "unsupported";
    case errc::no_device:
      return "no_device";
    case errc::out_of_memory:
      return "out_of_memory";
    case errc::interrupted:
      return "interrupted";
    case errc::internal:
      return "internal";
    case errc::too_large:
      return "too_large";
  }
  return "unknown";
}

Error::Error(errc code, std::string what, std::string where, std::string remedy)
    : code_(code), message_(std::move(what)), where_(std::move(where)), remedy_(std::move(remedy)) {
  if (!where_.empty()) full_ = where_ + ": ";
  full_ += message_;
  if (!remedy_.empty()) full_ += "; " + remedy_;
}

}  // namespace spmvpack
