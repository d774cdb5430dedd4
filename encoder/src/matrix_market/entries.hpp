#pragma once
/// The body of a Matrix Market file: from its lines to triplets, in parallel.

#include <cstdint>

#include "matrix_market/header.hpp"
#include "spmvpack/encoder/matrix_market.hpp"
#include "text/number_text.hpp"
#include "text/text_batches.hpp"
#include "text/triplets.hpp"

namespace spmvpack::encoder {

template <class T>
struct MatrixMarketEntries {
  /// The list of entries, in file order. Those of an array file have values only, and where T is float 1 in `rows`
  /// where the value was rounded.
  TripletList<T> list;
  Rounding rounding;  ///< where T is float: of the entries of a coordinate file, mirrored ones twice; of array values
};

/// Reads what follows the head. Exactly header.entries lines hold an entry, every other is blank or a comment; else,
/// and at the first line that breaks the format, Error(errc::bad_input).
template <class T>
MatrixMarketEntries<T> read_entries(TextBatches& text, const MatrixMarketHeader& header,
                                    const MatrixMarketOptions& options);

}  // namespace spmvpack::encoder
