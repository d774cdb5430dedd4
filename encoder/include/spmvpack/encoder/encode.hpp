#pragma once
/// From a matrix to a container.

#include <map>
#include <string>

#include "spmvpack/container/export.hpp"
#include "spmvpack/container/writer.hpp"
#include "spmvpack/encoder/layout.hpp"

namespace spmvpack::encoder {

/// Layouts that pad can take any number of times what CSR takes. encode() refuses more than max_growth times as many
/// device bytes unless it is forced, but never so few that nobody minds: a tiny matrix may be all headers.
inline constexpr std::uint64_t max_growth = 10, always_allowed = std::uint64_t{1} << 20;

/// What encode() is asked for. Strategy, settings and codec go into the container's provenance.
struct EncodeRequest {
  std::string strategy = "auto";
  std::map<std::string, std::string> settings = {};  ///< of the strategy, such as {"ccoo.k", "4"}
  format::Codec codec = format::Codec::none;
  int level = 3;  ///< of zstd, 1 to 19
  int threads = 0;
  bool overwrite = false;
  bool force_size = false;  ///< whether a layout may take more than max_growth times CSR's device bytes
  ProgressCallback progress = {};
};

/// What encode() has written.
struct EncodeResult {
  Plan plan;  ///< its sections can no longer be filled once the matrix is gone
  std::uint64_t device_bytes = 0, file_bytes = 0;
  std::uint64_t csr_bytes = 0;  ///< device bytes of csr, for comparison
  double plan_seconds = 0, write_seconds = 0;
};

/// Plans `source`, writes the container to `path` and records in its provenance how. The matrix is checked first
/// (CsrView::check(), one pass), so that unsorted, repeated or out-of-range columns are refused here and not when the
/// file is loaded. Same source, request and library versions: same bytes, at any number of threads. Errors:
/// errc::usage (strategy or settings), errc::bad_input (the matrix), errc::unsupported (more than max_growth times CSR,
/// and not forced), those of write_container().
SPMVPACK_EXPORT EncodeResult encode(const SourceMatrix& source, const EncodeRequest& request, const std::string& path);
/// The same by a strategy of the caller's own; request.strategy is what the provenance calls it.
SPMVPACK_EXPORT EncodeResult encode(const SourceMatrix& source, const Strategy& strategy, const EncodeRequest& request,
                                    const std::string& path);

/// The same for a matrix in the caller's arrays, which are not copied; its field is real, its symmetry general.
SPMVPACK_EXPORT EncodeResult encode(const CsrView& matrix, const EncodeRequest& request, const std::string& path);

/// The facts of a matrix, its content digest among them. Parallel.
SPMVPACK_EXPORT MatrixFacts facts_of(const SourceMatrix& source, int threads = 0);
/// The container that encode() would write: what a report asks for exact sizes. `plan` outlives it.
SPMVPACK_EXPORT ContainerSource container_source(const MatrixFacts& facts, const Provenance& source, const Plan& plan,
                                                 const EncodeRequest& request);

}  // namespace spmvpack::encoder
