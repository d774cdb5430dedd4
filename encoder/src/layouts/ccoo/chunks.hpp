#pragma once
// What ccoo is planned from: chunks of a matrix's entries.

#include "layouts/ccoo/ccoo_rules.hpp"
#include "layouts/ccoo/values.hpp"
#include "spmvpack/container/base/memory.hpp"
#include "spmvpack/container/matrix/csr_matrix.hpp"

namespace spmvpack::encoder::layouts::ccoo_plans {

struct Chunk {
  std::uint64_t first_entry = 0, blob_offset = 0;
  std::uint32_t row_base = 0, col_base = 0;
  Encoding encoding;
};

/// All chunks for one K.
struct Chunking {
  std::uint32_t slots = 1;  ///< K
  CountedVector<Chunk> chunks;
  std::uint64_t row_bytes = 0, column_bytes = 0, value_bytes = 0, stored_slots = 0;
  std::uint64_t raw_bytes = 0;  ///< of value_bytes, those that are not ids
  bool uses_lut = false;

  [[nodiscard]] std::uint64_t blob_bytes() const { return row_bytes + column_bytes + value_bytes; }
  [[nodiscard]] ChunkingFacts facts(std::uint64_t lut_bytes) const {
    return {slots, chunks.size(), blob_bytes(), uses_lut ? lut_bytes : 0};
  }
};

/// Splits the entries into chunks of so many lanes and slots each, and determines every chunk's encoding. `values`: how
/// chunks may have them; ids takes raw ones where the table lacks any. O(rows + chunks).
Chunking split_into_chunks(const CsrView& a, const RawEntries& raw, std::uint32_t lanes, std::uint32_t slots,
                           Values values);

}  // namespace spmvpack::encoder::layouts::ccoo_plans
