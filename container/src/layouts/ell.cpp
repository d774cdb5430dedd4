#include "spmvpack/container/layouts/ell.hpp"

#include "padded_rows.hpp"

namespace spmvpack::layouts::ell {
namespace {

void check_shape(const PartView& part) {
  const std::uint64_t width = part.info().params[param_width], nnz = part.info().nnz;
  part.require(width <= nnz, {}, [&] { return fmt::format("a width of {} for {} entries", width, nnz); });
}

void check(const PartView& part, int threads) {
  const std::uint64_t longest = padded_rows::check(part, geometry(part), part.rows(), threads);
  const std::uint64_t width = part.info().params[param_width];
  part.require(longest == width, {}, [&] { return fmt::format("no row has the width of {} entries", width); });
}

CsrMatrix unpack(const PartView& part, int threads) { return padded_rows::unpack(part, geometry(part), threads); }

}  // namespace

const Layout layout{"ell", sections, parameters, check_shape, check, unpack};

}  // namespace spmvpack::layouts::ell
