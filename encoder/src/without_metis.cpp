#include <fmt/format.h>

#include "metis.hpp"
#include "spmvpack/container/error.hpp"
#include "spmvpack/encoder/layout.hpp"

namespace spmvpack::encoder {

std::string_view metis_version() noexcept { return {}; }

CountedVector<std::uint32_t> partition_rows(const CsrView& a, std::uint64_t /*parts*/, int /*threads*/) {
  throw Error(errc::unsupported, fmt::format("cutting {} rows takes METIS, which this build lacks", a.rows()), {},
              "install METIS (on Debian libmetis-dev) and build with -DSPMVPACK_METIS=ON");
}

}  // namespace spmvpack::encoder
