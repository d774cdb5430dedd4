#include "registry.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>

#include "spmvpack/host_loader/host_matrix.hpp"

namespace spmvpack::host_loader {
namespace {

template <class T>
struct LayoutMultiply {
  std::string_view name;
  typename Multiply<T>::Function function;
};

template <class T>
constexpr std::array<LayoutMultiply<T>, 3> multiplies{{
    {"csr", layouts::multiply_csr<T>},
    {"coo", layouts::multiply_coo<T>},
    {"ccoo", layouts::multiply_ccoo<T>},
}};

}  // namespace

bool use_v3() {
#if SPMVPACK_HAS_V3
  static const bool has = [] {
    const char* const isa = std::getenv("SPMVPACK_ISA");  // NOLINT(concurrency-mt-unsafe): read once
    if (isa != nullptr && std::string_view(isa) == "generic") return false;
    return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 &&
           __builtin_cpu_supports("bmi") != 0 && __builtin_cpu_supports("bmi2") != 0;
  }();
  return has;
#else
  return false;
#endif
}

std::string_view instruction_set() noexcept { return use_v3() ? "x86-64-v3 (AVX2, FMA)" : "baseline instructions"; }

template <class T>
typename Multiply<T>::Function find_multiply(std::string_view layout) {
  for (const LayoutMultiply<T>& m : multiplies<T>)
    if (m.name == layout) return m.function;
  throw Error(errc::unsupported, fmt::format("this build cannot multiply with the layout '{}'", escape(layout)));
}
template Multiply<double>::Function find_multiply<double>(std::string_view);
template Multiply<float>::Function find_multiply<float>(std::string_view);

}  // namespace spmvpack::host_loader
