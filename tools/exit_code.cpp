#include "exit_code.hpp"

namespace spmvpack::tools {

int exit_code(errc code, int signal) noexcept {
  switch (code) {
    case errc::io:
    case errc::exists:
      return 1;
    case errc::usage:
      return 2;
    case errc::bad_input:
      return 3;
    case errc::corrupt:
    case errc::mismatch:
      return 4;
    case errc::unsupported:
      return 5;
    case errc::no_device:
      return 6;
    case errc::out_of_memory:
      return 7;
    case errc::too_large:
      return 8;
    case errc::interrupted:
      return interrupted_exit_code(signal);
    case errc::internal:
      break;
  }
  return 70;
}

}  // namespace spmvpack::tools
