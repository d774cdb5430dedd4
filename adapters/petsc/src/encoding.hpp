#pragma once
// A matrix in PETSc's arrays, encoded, or the reason why it is not. Knows nothing of PETSc.

#include <cstdint>
#include <optional>
#include <string>

#include "spmvpack/container/file/reader.hpp"
#include "spmvpack/container/matrix/csr_matrix.hpp"
#include "spmvpack/encoder/layout.hpp"
#include "spmvpack/encoder/tune.hpp"
#include "spmvpack/host_loader/host_matrix.hpp"

namespace spmvpack::petsc {

struct EncodingOptions {
  std::string layout = "auto";  ///< a strategy of encoder::strategies()
  encoder::Aim aim = {encoder::Objective::time, encoder::Target::host};
  int threads = 1;
  /// `auto` encodes where the multiply is predicted to take at most this share of csr's time.
  double at_most = default_at_most();
  /// `auto` chooses by measured times, but for matrices whose rows are mostly empty.
  std::optional<encoder::Tuner> tuner = {};
  bool for_device = false;  ///< the result is a container, to be loaded by the caller

  /// With AVX-512, for which a host's times are predicted, all that `auto` chooses is faster than AIJ, csr itself, too;
  /// without it the loops of bitflag and csell take two to three times as long as predicted (docs/PETSC.md, "What it
  /// gains").
  static double default_at_most() noexcept;
};

/// Error(errc::usage), with the known ones, unless the layout is one that multiplies here.
void check_layout(const std::string& layout);

/// What became of a matrix.
struct Encoding {
  std::optional<host_loader::HostMatrix> matrix;  ///< none: AIJ multiplies, or a device has the matrix
  std::optional<Container> container;             ///< with EncodingOptions::for_device, in place of `matrix`
  std::string layout;                             ///< such as "bitflag", or "csell+csr"
  std::string reason;                             ///< why this layout, or why none
  std::uint64_t filled_rows = 0;                  ///< with entries
  std::uint64_t bytes = 0;                        ///< that a multiply reads
  std::uint64_t csr_bytes = 0;                    ///< those of AIJ's arrays, likewise
};

/// Plans the matrix, and encodes it unless `auto` predicts that this gains too little; a layout that is asked for by
/// name is taken in any case. Rows without entries are left out of plans where they are most: they cost nothing then.
/// Of rows with columns that do not increase, or repeat, a sorted copy is encoded. Errors: those of encoder::encode().
Encoding encode(const CsrView& a, const EncodingOptions& options);

}  // namespace spmvpack::petsc
