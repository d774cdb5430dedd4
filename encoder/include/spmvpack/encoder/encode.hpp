#pragma once
/// From a matrix to a container.

#include <map>
#include <optional>
#include <string>

#include "spmvpack/container/base/export.hpp"
#include "spmvpack/container/file/writer.hpp"
#include "spmvpack/encoder/layout.hpp"
#include "spmvpack/encoder/tune.hpp"

namespace spmvpack::encoder {

/// Padding can make a layout any number of times larger than CSR. Beyond max_growth times CSR's device bytes encode()
/// refuses unless forced, except for the smallest: a tiny matrix may be all headers.
inline constexpr std::uint64_t max_growth = 10, always_allowed = std::uint64_t{1} << 20;
/// Whether encode() refuses that many device bytes, unless forced, for a matrix of `csr_bytes` in layout csr.
constexpr bool too_large(std::uint64_t device_bytes, std::uint64_t csr_bytes) noexcept {
  return device_bytes > always_allowed && device_bytes / max_growth > csr_bytes;
}

/// The request to encode(). The container's provenance records strategy, settings and codec.
struct EncodeRequest {
  std::string strategy = "auto";
  std::map<std::string, std::string> settings = {};  ///< of the strategy, such as {"ccoo.k", "4"}
  Aim aim = {};  ///< where the strategy's plans depend on it (Traits::aims); else it changes no byte
  format::Codec codec = format::Codec::none;
  int level = 3;  ///< of zstd, 1 to 19
  /// Store A^T, too, planned by the same strategy and settings, for Operation::transpose. A matrix whose values and
  /// pattern are symmetric or skew-symmetric, bit for bit, has its transpose in any case, and nothing more is stored.
  bool transpose = false;
  int threads = 0;  ///< 0: all; else up to max_threads (parallel.hpp)
  bool overwrite = false;
  std::uint64_t memory_limit = 0;  ///< bytes of plans and, with `transpose`, of A^T; 0: available_memory()
  bool force_size = false;         ///< allow more than max_growth times CSR's device bytes
  ProgressCallback progress = {};
  /// Choose by measured times, for strategy `auto` and the least time (tune.hpp). The bytes then depend on the machine
  /// that measures. A^T, if it is stored, is chosen by predicted times as without.
  std::optional<Tuner> tuner = {};
  /// Take a form in which every entry has a slot of its own, so that loaders can replace the values (update_values()).
  /// The container then says nothing of the matrix that other values could make wrong: its field is real, its symmetry
  /// general, and with `transpose` it has A^T whatever the symmetry is.
  bool updatable = false;
};

/// What encode() wrote.
struct EncodeResult {
  Plan plan;
  std::optional<Plan> transpose;  ///< of A^T; unset if it was not asked for, or if A^T is A or -A
  /// The symmetry of the entries, bit for bit: MatrixFacts::bitwise_symmetry(). General if the matrix is to be
  /// updatable.
  Symmetry symmetry = Symmetry::general;
  std::uint64_t device_bytes = 0, file_bytes = 0;  ///< device bytes: of A alone
  std::uint64_t csr_bytes = 0;                     ///< device bytes of csr, for comparison
  std::optional<Tuning> tuning;                    ///< what was measured with a tuner
  std::uint64_t comments_left_out = 0;             ///< comment lines that the container's provenance has no room for
  double plan_seconds = 0, write_seconds = 0;

  /// After how many multiplies encoding has paid for itself against csr, by Plan::beside_csr: none if it never does, or
  /// if that is unset.
  [[nodiscard]] SPMVPACK_EXPORT std::optional<std::uint64_t> pays_after() const;
};

/// Plans `source`, writes the container to `path` and records in its provenance how it was made. The matrix is checked
/// first (CsrView::check(), one pass), so that unsorted, repeated or out-of-range columns are refused here rather than
/// when the file is loaded. The same source, request and library versions give the same bytes, whatever the number of
/// threads, unless a tuner measures. Errors: errc::usage (strategy, settings, aim or tuner), errc::bad_input (the
/// matrix), errc::unsupported (more than max_growth times CSR, not forced; a caller's own strategy that does not make
/// an updatable matrix so), and those of write_container(). The container keeps whole lines of the source's comments,
/// the first ones, up to format::max_provenance_bytes; EncodeResult says how many it leaves out.
SPMVPACK_EXPORT EncodeResult encode(const SourceMatrix& source, const EncodeRequest& request, const std::string& path);
/// The same with the caller's own strategy, which the provenance calls request.strategy.
SPMVPACK_EXPORT EncodeResult encode(const SourceMatrix& source, const Strategy& strategy, const EncodeRequest& request,
                                    const std::string& path);

/// The same for a matrix in the caller's arrays, which are not copied; its field is real, its symmetry general.
SPMVPACK_EXPORT EncodeResult encode(const CsrView& matrix, const EncodeRequest& request, const std::string& path);

/// The same bytes, to memory (MemorySink) or wherever `sink` leads; request.overwrite has no meaning.
SPMVPACK_EXPORT EncodeResult encode(const SourceMatrix& source, const EncodeRequest& request, ByteSink& sink);
SPMVPACK_EXPORT EncodeResult encode(const SourceMatrix& source, const Strategy& strategy, const EncodeRequest& request,
                                    ByteSink& sink);
SPMVPACK_EXPORT EncodeResult encode(const CsrView& matrix, const EncodeRequest& request, ByteSink& sink);

/// The facts of a matrix, including its content digest and what its entries are, bit for bit. Parallel.
SPMVPACK_EXPORT MatrixFacts facts_of(const SourceMatrix& source, int threads = 0);
SPMVPACK_EXPORT MatrixFacts facts_of(const CsrView& matrix, int threads = 0);
/// Those that encode() writes: of an updatable matrix, field and symmetry of any values.
SPMVPACK_EXPORT MatrixFacts facts_of(const SourceMatrix& source, const EncodeRequest& request);
/// How encode() writes.
SPMVPACK_EXPORT WriteOptions write_options(const EncodeRequest& request);
/// The request as the provenance records it: with those settings that the strategy has, and with the aim if its plans
/// depend on it. encode() and the report describe a file by this, so that both name the same bytes.
SPMVPACK_EXPORT EncodeRequest recorded(const EncodeRequest& request, const Strategy& strategy);
/// A part to be written, of `whole`, the matrix that was planned. Its arrays and the plan must outlive it.
SPMVPACK_EXPORT PartSource part_source(const PartPlan& plan, const CsrView& whole);

/// A matrix and its plan, which outlive it.
struct PlannedMatrix {
  CsrView a;
  const Plan& plan;
};
/// The container that encode() would write for a recorded() request, from which a report gets exact sizes; with a
/// tuner, they are the same whatever it measures. The matrices and the plans must outlive it. `share`: SourceMatrix's,
/// whose facts are among `facts`.
SPMVPACK_EXPORT ContainerSource container_source(const MatrixFacts& facts, const Provenance& source,
                                                 const PlannedMatrix& matrix, const EncodeRequest& request,
                                                 const std::optional<PlannedMatrix>& transpose = {},
                                                 const std::optional<Tuning>& tuning = {},
                                                 const std::shared_ptr<const Share>& share = {});

}  // namespace spmvpack::encoder
