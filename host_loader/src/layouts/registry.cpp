#include "registry.hpp"

#include <fmt/format.h>

#include <array>

#include "spmvpack/container/text.hpp"
#include "spmvpack/host_loader/host_matrix.hpp"

namespace spmvpack::host_loader {
namespace {

/// Their order is that of LayoutMultiply: f64, f32, f32 with f64 vectors, and what loading prepares.
constexpr std::array multiplies = std::to_array<LayoutMultiply>({
    {"csr", layouts::multiply_csr<double>, layouts::multiply_csr<float>, layouts::multiply_csr<float>,
     layouts::prepare_csr},
    {"coo", layouts::multiply_coo<double>, layouts::multiply_coo<float>, layouts::multiply_coo<float>},
    {"ell", layouts::multiply_ell<double>, layouts::multiply_ell<float>, layouts::multiply_ell<float>},
    {"ellpack_r", layouts::multiply_ellpack_r<double>, layouts::multiply_ellpack_r<float>,
     layouts::multiply_ellpack_r<float>},
    {"sell", layouts::multiply_sell<double>, layouts::multiply_sell<float>, layouts::multiply_sell<float>},
    {"pjds", layouts::multiply_pjds<double>, layouts::multiply_pjds<float>, layouts::multiply_pjds<float>},
    {"dia", layouts::multiply_dia<double>, layouts::multiply_dia<float>, layouts::multiply_dia<float>},
    {"ccoo", layouts::multiply_ccoo<double>, layouts::multiply_ccoo<float>, layouts::multiply_ccoo<float>},
    {"amb", layouts::multiply_amb<double>, layouts::multiply_amb<float>, layouts::multiply_amb<float>},
    {"csell", layouts::multiply_csell<double>, layouts::multiply_csell<float>, layouts::multiply_csell<float>},
    {"bitflag", layouts::multiply_bitflag<double>, layouts::multiply_bitflag<float>, layouts::multiply_bitflag<float>},
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
