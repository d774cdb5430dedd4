#include "npz/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <memory>
#include <utility>

#include "matrix_market/entries.hpp"
#include "source/real_parts.hpp"
#include "source/source_name.hpp"
#include "source/text_readers.hpp"
#include "source/text_source.hpp"
#include "spmvpack/container/base/memory.hpp"
#include "spmvpack/container/base/text.hpp"
#include "spmvpack/sources/matrix_market.hpp"

namespace spmvpack::sources {
namespace {

TextBatches in_chunks(std::shared_ptr<ByteStream> bytes, const TextOptions& options) {
  constexpr std::uint64_t max_chunk_bytes = std::uint64_t{64} << 20;
  return {std::move(bytes), std::clamp(options.chunk_bytes, std::uint64_t{1}, max_chunk_bytes), options.memory_limit};
}

/// Assigns rows and columns to the values of an array file: column by column, for a symmetric or Hermitian matrix in
/// the lower triangle, for a skew-symmetric one strictly below the diagonal. Drops values that are +0.
template <class T>
void place_values(const MatrixMarketHeader& header, MatrixMarketEntries<T>& entries, const std::string& source) {
  const auto first_row = [&](std::uint64_t col) {
    return header.symmetry == Symmetry::general ? 0 : header.symmetry == Symmetry::skew_symmetric ? col + 1 : col;
  };
  std::uint64_t row = first_row(0), col = 0;
  Arena arena;
  for (Triplets<T>& listed : entries.list.blocks) {
    Triplets<T> block(arena, listed.values.size(), listed.values.size(), listed.values.size());
    std::uint64_t kept = 0;
    for (std::uint64_t k = 0; k < listed.values.size(); ++k) {
      const T value = listed.values[k];
      if constexpr (is_complex_type<T>)
        if (header.symmetry == Symmetry::hermitian && row == col && value.imag() != 0)
          throw Error(errc::bad_input,
                      fmt::format("row {}, column {}: an imaginary part on the diagonal of a hermitian matrix", row + 1,
                                  col + 1),
                      source, "the diagonal is real: make the part 0, or declare the matrix general");
      if constexpr (value_type_of<T> == ValueType::f32 || value_type_of<T> == ValueType::c64)
        if (header.symmetry != Symmetry::general && row != col) entries.rounding.rounded += listed.rows[k];
      if (std::bit_cast<bits_of<T>>(value) != 0) {
        block.rows[kept] = static_cast<std::uint32_t>(row);
        block.cols[kept] = static_cast<std::uint32_t>(col);
        block.values[kept++] = value;
      }
      if (++row == header.rows) row = first_row(++col);
    }
    block.rows = block.rows.first(kept);
    block.cols = block.cols.first(kept);
    block.values = block.values.first(kept);
    listed = std::move(block);
  }
}

template <class T>
SourceMatrix read_as(TextBatches& text, const MatrixMarketHeader& header, const MatrixMarketOptions& options) {
  MatrixMarketEntries<T> entries = read_entries<T>(text, header, options);
  if (!header.coordinate) place_values(header, entries, text.name());
  SourceMatrix source = assemble_source({header.rows, header.cols, header.entries, header.field, header.symmetry},
                                        std::move(entries.list), {options.threads, options.memory_limit, text.name()});
  state_rounding(entries.rounding, source.provenance);
  return source;
}

}  // namespace

SourceMatrix read_matrix_market(const std::string& path, const MatrixMarketOptions& options) {
  return read_matrix_market(open_text(open_stream(path)), path, options);
}

SourceMatrix read_matrix_market(std::shared_ptr<ByteStream> bytes, const std::string& path,
                                const TextOptions& options) {
  const TextOptions limited = with_memory_limit(options);
  const MemoryScope memory(limited.memory_limit, "reading " + bytes->name());
  TextBatches text = in_chunks(std::move(bytes), limited);
  MatrixMarketHeader header = read_header(text);
  const ValueType type = type_to_read(header.field, options.value_type, text.name());
  // A matrix that cannot fit is refused at once, unless the file is too short for what its size line announces.
  constexpr std::uint64_t shortest_line = 4;
  if (header.coordinate && header.entries <= text.file_size() / shortest_line) {
    const std::uint64_t value_bytes = size_of(type);
    const std::uint64_t list = header.entries * (8 + (header.field == Field::pattern ? 0 : value_bytes));
    require_memory(list + header.entries * (4 + value_bytes) + (header.rows + 1) * 8, limited.memory_limit,
                   "the matrix with its list of entries");
  }
  SourceMatrix source = dispatch_any(type, [&]<class T>(T) { return read_as<T>(text, header, limited); });
  if (type != options.value_type.value_or(type)) take_real_parts(source, text.name(), limited.threads);
  source.provenance.source = base_name(path);
  source.provenance.comments = std::move(header.comments);
  source.provenance.comments_left_out = header.comments_left_out;
  return source;
}

namespace {

/// The values of an array file, of the type of its field, in a vector that may be of a wider one.
template <class Listed, class T>
Array<T> read_listed(TextBatches& text, const MatrixMarketHeader& header, const TextOptions& options) {
  const MatrixMarketEntries<Listed> entries = read_entries<Listed>(text, header, options);
  require_memory(header.entries * (sizeof(Listed) + sizeof(T)), options.memory_limit, "the vector");
  Array<T> vector(header.entries);
  T* to = vector.data();
  for (const Triplets<Listed>& block : entries.list.blocks)
    to = std::copy(block.values.begin(), block.values.end(), to);
  return vector;
}

}  // namespace

template <class T>
Array<T> read_vector(const std::string& path, const MatrixMarketOptions& options) {
  const TextOptions limited = with_memory_limit(options);
  const MemoryScope memory(limited.memory_limit, "reading " + escape(path, 400));
  std::shared_ptr<ByteStream> bytes = open_text(open_stream(path));
  if (is_npy(*bytes)) return read_npy_vector<T>(*bytes, limited);
  TextBatches text = in_chunks(std::move(bytes), limited);
  const MatrixMarketHeader header = read_header(text);
  if (header.field == Field::complex && !is_complex_type<T>)
    throw Error(errc::unsupported, "a vector of complex values", path, "give the real and the imaginary part apart");
  if (header.coordinate || (header.rows != 1 && header.cols != 1) || header.symmetry != Symmetry::general)
    throw Error(errc::bad_input,
                fmt::format("a {} {} matrix of {} rows and {} columns, expected a vector", to_string(header.symmetry),
                            header.coordinate ? "coordinate" : "array", header.rows, header.cols),
                path, "a vector is a general array file of one column or one row");
  if constexpr (is_complex_type<T>)
    if (header.field == Field::complex) return read_listed<T, T>(text, header, limited);
  return read_listed<double, T>(text, header, limited);
}
template Array<double> read_vector(const std::string&, const MatrixMarketOptions&);
template Array<std::complex<double>> read_vector(const std::string&, const MatrixMarketOptions&);

}  // namespace spmvpack::sources
