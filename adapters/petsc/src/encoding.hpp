#pragma once
// A matrix in PETSc's arrays, encoded, or the reason why it is not. Knows nothing of PETSc.

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "spmvpack/container/base/array.hpp"
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
  /// `auto` encodes where the multiply is predicted to take at most this share of csr's time. If unset,
  /// default_at_most(), but csr of an updatable matrix in any case.
  std::optional<double> at_most = {};
  /// `auto` chooses by measured times, but for matrices whose rows are mostly empty.
  std::optional<encoder::Tuner> tuner = {};
  bool for_device = false;  ///< the result is a container, to be loaded by the caller, unless a device encodes
  bool transpose = false;   ///< encode A^T
  /// Take a form that new values can be written to, whatever they are. If a layout that is asked for by name has none,
  /// or rows repeat columns, the matrix is encoded as without.
  bool updatable = false;
  /// By these, `auto` weighs on a host what updates take: multiplies from one to the next, and AIJ's time over csr's.
  double multiplies_per_update = 0, aij_over_csr = 1;

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
  bool updatable = false;       ///< `matrix`, or what a device has, takes any values in the same pattern
  bool with_transpose = false;  ///< a device has encoded A^T, too, which takes A's values with A
  Array<std::int32_t> order;    ///< if updatable: value k is number order[k] of A's; empty: k
  std::string layout;           ///< such as "bitflag", or "csell+csr"
  std::string reason;           ///< why this layout, or why none
  /// With how many multiplies from one update to the next `auto` would encode after all; 0: with none.
  double pays_from = 0;
  std::uint64_t filled_rows = 0;  ///< with entries
  std::uint64_t bytes = 0;        ///< that a multiply reads
  std::uint64_t csr_bytes = 0;    ///< those of AIJ's arrays, likewise
};

/// Plans the matrix, and encodes it unless `auto` predicts that this gains too little; a layout that is asked for by
/// name is taken in any case. Rows without entries are left out of plans where they are most: they cost nothing then.
/// Of rows with columns that do not increase, or repeat, a sorted copy is encoded. Errors: those of encoder::encode().
Encoding encode(const CsrView& a, const EncodingOptions& options);

/// Gives an updatable Encoding::matrix new values: all of A's, in the order of its arrays. Multiplies then have the
/// bits of a matrix that is encoded anew. Errors, with the matrix as it was: errc::out_of_memory.
void update_values(Encoding& encoding, std::span<const double> values, int threads);

}  // namespace spmvpack::petsc
