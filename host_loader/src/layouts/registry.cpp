#include "registry.hpp"

#include <fmt/format.h>

#include <array>

#include "spmvpack/container/text.hpp"
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

template <class T>
typename Multiply<T>::Function find_multiply(std::string_view layout) {
  for (const LayoutMultiply<T>& m : multiplies<T>)
    if (m.name == layout) return m.function;
  throw Error(errc::unsupported, fmt::format("this build cannot multiply with the layout '{}'", escape(layout)));
}
template Multiply<double>::Function find_multiply<double>(std::string_view);
template Multiply<float>::Function find_multiply<float>(std::string_view);

}  // namespace spmvpack::host_loader
