#pragma once
/// The body of a Matrix Market file: from its lines to triplets, in parallel.

#include <cstdint>

#include "matrix_market/header.hpp"
#include "spmvpack/container/matrix/triplets.hpp"
#include "spmvpack/sources/matrix_market.hpp"
#include "text/number_text.hpp"
#include "text/text_batches.hpp"

namespace spmvpack::sources {

template <class T>
struct MatrixMarketEntries {
  /// The list of entries, in file order. Those of an array file have values only; if T is float, a 1 in `rows` marks a
  /// value that was rounded.
  TripletList<T> list;
  Rounding rounding;  ///< if T is float: of the entries of a coordinate file, mirrored ones twice; of array values
};

/// Reads what follows the head: exactly header.entries lines with an entry each, and blank or comment lines.
/// T is complex if and only if the field is. Error(errc::bad_input) at the first line that violates the format, or if
/// there are more or fewer entries.
template <class T>
MatrixMarketEntries<T> read_entries(TextBatches& text, const MatrixMarketHeader& header,
                                    const MatrixMarketOptions& options);

}  // namespace spmvpack::sources
