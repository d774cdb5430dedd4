#include "registry.hpp"

#include <fmt/format.h>

#include <array>

#include "spmvpack/container/text.hpp"
#include "spmvpack/host_loader/host_matrix.hpp"

namespace spmvpack::host_loader {
namespace {

/// Their order is that of LayoutMultiply: f64, f32, f32 with f64 vectors.
constexpr std::array multiplies = std::to_array<LayoutMultiply>({
    {"csr", layouts::multiply_csr<double>, layouts::multiply_csr<float>, layouts::multiply_csr<float>},
    {"coo", layouts::multiply_coo<double>, layouts::multiply_coo<float>, layouts::multiply_coo<float>},
    {"ell", layouts::multiply_ell<double>, layouts::multiply_ell<float>, layouts::multiply_ell<float>},
    {"ccoo", layouts::multiply_ccoo<double>, layouts::multiply_ccoo<float>, layouts::multiply_ccoo<float>},
});

constexpr auto names = [] {
  std::array<std::string_view, multiplies.size()> all;
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = multiplies[i].name;
  return all;
}();

}  // namespace

const LayoutMultiply& find_multiply(std::string_view layout) {
  for (const LayoutMultiply& m : multiplies)
    if (m.name == layout) return m;
  throw Error(errc::unsupported, fmt::format("this build cannot multiply with the layout '{}'", escape(layout)));
}

std::span<const std::string_view> layout_names() noexcept { return names; }

}  // namespace spmvpack::host_loader
