#pragma once
/// When does encoding pay? A multiply by what was encoded takes less time than one by csr, which a program has anyway;
/// encoding takes time first.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "spmvpack/container/base/export.hpp"
#include "spmvpack/encoder/layout.hpp"

namespace spmvpack::encoder {

/// After how many multiplies encoding has taken less time altogether than csr. None: never, as csr is as fast.
SPMVPACK_EXPORT std::optional<std::uint64_t> pays_after(double encode_seconds, const BesideCsr& multiply);

/// Such as "after about 52,000 multiplies", in two digits, or "never: csr is as fast".
SPMVPACK_EXPORT std::string pays_text(std::optional<std::uint64_t> multiplies);

/// What the time of encoding depends on.
struct EncodeWork {
  std::uint64_t rows = 0, nonzeros = 0;
  bool symmetry_found = false;     ///< MatrixFacts::found: a search that goes through all of the matrix
  std::uint64_t x_sectors = 0;     ///< XSectors::from_l2: columns that are far from those before them
  std::uint64_t device_bytes = 0;  ///< of the layout; for `auto`, of the one that it takes
};

/// Seconds that encode() takes on one processor core, into memory and without a codec, if asked for this strategy: by
/// prices that benchmarks/fit_encode_times.py has fitted to measured ones, which they miss by 10 to 25 % (median).
/// Other processors take other times: this tells tenths of seconds from minutes, no more. None for a strategy that was
/// not measured.
SPMVPACK_EXPORT std::optional<double> predicted_encode_seconds(std::string_view strategy, const Aim& aim,
                                                               const EncodeWork& work);

}  // namespace spmvpack::encoder
