#include "version.hpp"

#include <fmt/format.h>
#include <xxhash.h>
#include <zstd.h>

#include "build_facts.hpp"
#include "spmvpack/container/base/instruction_set.hpp"
#include "spmvpack/container/file/format.hpp"
#include "spmvpack/encoder/layout.hpp"
#include "spmvpack/gpu_loader/device.hpp"

namespace spmvpack::tools {
namespace {

/// 10506 as "1.5.6", as zstd, xxHash and fmt number themselves.
std::string dotted(unsigned number) {
  return fmt::format("{}.{}.{}", number / 10000, number / 100 % 100, number % 100);
}

}  // namespace

std::string version_text() {
  const std::string_view git = SPMVPACK_GIT_DESCRIBE, metis = encoder::metis_version();
  return fmt::format(
      "spmvpack {}{}\n"
      "  format     {}.{}\n"
      "  compiler   {}, {}\n"
      "  CUDA       {}\n"
      "  libraries  zstd {}, xxHash {}, ISA-L {}, fmt {}{}\n"
      "  processor  {}\n",
      SPMVPACK_VERSION, git.empty() ? "" : fmt::format(" (git {})", git), format::version_major, format::version_minor,
      SPMVPACK_COMPILER, SPMVPACK_BUILD_TYPE, gpu_loader::built_with_cuda() ? SPMVPACK_CUDA_TOOLKIT : "without",
      ZSTD_versionString(), dotted(XXH_versionNumber()), SPMVPACK_ISAL_VERSION, dotted(FMT_VERSION),
      metis.empty() ? ", no METIS" : fmt::format(", METIS {}", metis), instruction_set());
}

}  // namespace spmvpack::tools
