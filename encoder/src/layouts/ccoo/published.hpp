#pragma once
// ccoo: what the paper's own rules would take.

#include <cstdint>

#include "layouts/ccoo/values.hpp"
#include "spmvpack/container/matrix/csr_matrix.hpp"
#include "spmvpack/encoder/value_table.hpp"

namespace spmvpack::encoder::layouts {

/// Bytes of compressed COO by the rules of Aliaga et al. 2020, section 2.2, which its figure 3 shows: chunks of `lanes`
/// x `slots` entries, all full; rows are padded with zeros to whole lanes, a row without entries to one, and the last
/// chunk to a whole one. A chunk has a byte of encoding, a base row, a base column and a pointer of 4 bytes each, a
/// byte for the row of each lane unless it has but one row, columns of 1, 2 or 4 bytes, and values, or bytes of ids if
/// the table has all of its values, the padding's zero among them; the table has the 256 most frequent ones.
///
/// The text leaves open what the base column is when the columns below it are smaller; here it is the smallest of the
/// chunk. Padding widens no chunk's columns. `raw`: the entries whose value is none of the 256 most frequent ones.
std::uint64_t published_bytes(const CsrView& a, const ValueTable& values, const RawEntries& raw, std::uint32_t lanes,
                              std::uint32_t slots, int threads);

}  // namespace spmvpack::encoder::layouts
