#include <fmt/format.h>

#include "metis.hpp"
#include "spmvpack/container/base/error.hpp"
#include "spmvpack/encoder/layout.hpp"

namespace spmvpack::encoder {

std::string_view metis_version() noexcept { return {}; }

CountedVector<std::uint32_t> cut_rows(const CsrView& a, const GraphCut& cut, int /*threads*/) {
  throw Error(
      errc::unsupported, fmt::format("cutting {} rows needs METIS, which this build does not have", a.rows()), {},
      fmt::format("install METIS (on Debian libmetis-dev) and build with -DSPMVPACK_METIS=ON, or {}", cut.instead));
}

}  // namespace spmvpack::encoder
