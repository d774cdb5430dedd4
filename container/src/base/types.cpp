#include "spmvpack/container/base/types.hpp"

#include <fmt/format.h>

namespace spmvpack {

void detail::refuse_type() { throw Error(errc::usage, "no such type of values or vectors"); }
void detail::refuse_complex(ValueType type) {
  throw Error(errc::unsupported, fmt::format("complex values ({}) are not supported here yet", to_string(type)), {},
              "give real and imaginary parts as two matrices");
}
void detail::refuse_constant() { throw Error(errc::internal, "a parameter of a part has a value that it cannot have"); }

std::uint64_t checked_mul(std::uint64_t a, std::uint64_t b, std::string_view what) {
  std::uint64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result))
    throw Error(errc::unsupported, fmt::format("{}: {} x {} does not fit 64 bits", what, a, b));
  return result;
}

std::uint64_t checked_add(std::uint64_t a, std::uint64_t b, std::string_view what) {
  std::uint64_t result = 0;
  if (__builtin_add_overflow(a, b, &result))
    throw Error(errc::unsupported, fmt::format("{}: {} + {} does not fit 64 bits", what, a, b));
  return result;
}

}  // namespace spmvpack
