#include "matrix_market_entries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "spmvpack/container/parallel.hpp"

namespace spmvpack::encoder {
namespace {

/// A task's share of a batch: whole lines, and what was found in them.
template <class T>
struct Piece {
  std::string_view text;
  std::uint64_t lines = 0;
  std::uint64_t entries = 0;  ///< up to the error, if there is one
  Triplets<T> block;          ///< room for an entry per line
  Rounding rounding;
  std::optional<LineError> error;
};

[[noreturn]] void refuse_index(const char* p, const char* what, std::uint64_t count) {
  throw LineError{
      p, errc::bad_input, fmt::format("found {}, expected a {} index from 1 to {}", found_at(p), what, count), {}};
}

/// Reads an index that counts from 1 and makes it count from 0.
inline const char* read_index(const char* p, std::uint64_t count, const char* what, std::uint32_t& index) {
  std::uint64_t value = 0;
  const char* const after = read_digits(p, value);
  if (after == p || !ends_token(*after) || value - 1 >= count) [[unlikely]]
    refuse_index(p, what, count);
  index = static_cast<std::uint32_t>(value - 1);
  return after;
}

/// Passes the end of a line, which must come next.
inline const char* end_line(const char* p) {
  p = skip_blanks(p);
  const char* const newline = p + (*p == '\r');
  if (*newline != '\n') [[unlikely]]
    throw LineError{p, errc::bad_input, fmt::format("found {}, expected the end of the line", found_at(p)), {}};
  return newline + 1;
}

/// The first character of the next line that holds an entry, or `end`.
inline const char* skip_to_entry(const char* p, const char* end) {
  for (;;) {
    if (p == end) return end;
    p = skip_blanks(p);
    if (*p == '%')
      p += std::string_view(p, static_cast<std::size_t>(end - p)).find('\n') + 1;
    else if (*p == '\n')
      ++p;
    else if (*p == '\r' && p[1] == '\n')
      p += 2;
    else
      return p;
  }
}

/// The first entry after the first `n` of a piece.
const char* entry_after(std::string_view text, std::uint64_t n) {
  const char *p = text.data(), *const end = p + text.size();
  for (p = skip_to_entry(p, end); n > 0; --n) {
    p += std::string_view(p, static_cast<std::size_t>(end - p)).find('\n') + 1;
    p = skip_to_entry(p, end);
  }
  return p;
}

template <class T, bool coordinate, Field field>
void parse_lines(const MatrixMarketHeader& header, Piece<T>& piece) {
  std::uint32_t *const rows = piece.block.rows.data(), *const cols = piece.block.cols.data();
  T* const values = piece.block.values.data();
  const char *p = piece.text.data(), *const end = p + piece.text.size();
  const bool general = header.symmetry == Symmetry::general, skew = header.symmetry == Symmetry::skew_symmetric;
  std::uint64_t n = 0;
  try {
    for (p = skip_to_entry(p, end); p != end; p = skip_to_entry(p, end)) {
      std::uint64_t weight = 1;
      if constexpr (coordinate) {
        std::uint32_t row = 0, col = 0;
        p = skip_blanks(read_index(p, header.rows, "row", row));
        const char* const col_text = p;
        p = read_index(p, header.cols, "column", col);
        if (!general) {
          if (row < col) [[unlikely]]
            throw LineError{col_text, errc::bad_input,
                            fmt::format("an entry above the diagonal of a {} matrix", to_string(header.symmetry)),
                            "store the lower triangle only, or declare the matrix general"};
          if (skew && row == col) [[unlikely]]
            throw LineError{col_text, errc::bad_input, "an entry on the diagonal of a skew-symmetric matrix",
                            "the diagonal is zero and is not stored"};
          weight = row == col ? 1 : 2;
        }
        rows[n] = row;
        cols[n] = col;
        if constexpr (field != Field::pattern) p = skip_blanks(p);
      }
      if constexpr (field == Field::integer) p = read_integer(p, values[n]);
      if constexpr (field == Field::real && std::is_same_v<T, double>) p = read_real(p, end, values[n]);
      if constexpr (field == Field::real && std::is_same_v<T, float>) {
        double wide = 0;
        p = read_real(p, end, values[n], wide);
        const bool rounded = piece.rounding.count(values[n], wide, weight);
        if constexpr (!coordinate) rows[n] = rounded;
      }
      p = end_line(p);
      ++n;
    }
  } catch (LineError& e) {
    piece.error = std::move(e);
  }
  piece.entries = n;
}

/// Takes the piece of `batch` that starts in [begin, end), at the first line that does, and parses it.
template <class T>
void parse(const MatrixMarketHeader& header, std::string_view batch, std::uint64_t begin, std::uint64_t end,
           Piece<T>& piece) {
  const std::size_t first = line_start(batch, begin);
  piece.text = batch.substr(first, line_start(batch, end) - first);
  piece.lines = static_cast<std::uint64_t>(std::count(piece.text.begin(), piece.text.end(), '\n'));
  if (header.coordinate || value_type_of<T> == ValueType::f32) piece.block.rows = Array<std::uint32_t>(piece.lines);
  if (header.coordinate) piece.block.cols = Array<std::uint32_t>(piece.lines);
  if (header.field != Field::pattern) piece.block.values = Array<T>(piece.lines);

  if (header.field == Field::pattern)
    parse_lines<T, true, Field::pattern>(header, piece);
  else if (header.field == Field::integer)
    header.coordinate ? parse_lines<T, true, Field::integer>(header, piece)
                      : parse_lines<T, false, Field::integer>(header, piece);
  else
    header.coordinate ? parse_lines<T, true, Field::real>(header, piece)
                      : parse_lines<T, false, Field::real>(header, piece);
  piece.block.rows.truncate(piece.entries);
  piece.block.cols.truncate(piece.entries);
  piece.block.values.truncate(piece.entries);
}

}  // namespace

template <class T>
MatrixMarketEntries<T> read_entries(TextBatches& text, const MatrixMarketHeader& header,
                                    const MatrixMarketOptions& options) {
  MatrixMarketEntries<T> result;
  const std::uint64_t chunk_bytes = std::max<std::uint64_t>(options.chunk_bytes, 1);
  const std::uint64_t bytes_per_line = 8 + (header.field == Field::pattern ? 0 : sizeof(T));
  std::uint64_t entries = 0, bytes = 0;
  while (!text.text().empty()) {
    const std::string_view batch = text.text();
    std::vector<Piece<T>> pieces(div_up(batch.size(), chunk_bytes));
    parallel_for(pieces.size() + 1, options.threads, [&](std::uint64_t i) {
      if (i == 0)
        text.read_ahead();
      else
        parse(header, batch, (i - 1) * chunk_bytes, i * chunk_bytes, pieces[i - 1]);
    });

    std::uint64_t lines = 0;
    for (Piece<T>& piece : pieces) {
      const std::uint64_t missing = header.entries - entries;
      if (piece.entries > missing || (piece.error && piece.entries == missing))
        text.fail({entry_after(piece.text, missing), errc::bad_input,
                   fmt::format("more entries than the {} that {}", header.entries,
                               header.coordinate ? "the size line announces" : "an array of this size has"),
                   "correct the size line, or is the file damaged?"});
      if (piece.error) text.fail(*piece.error);
      entries += piece.entries;
      lines += piece.lines;
      result.rounding.add(piece.rounding);
      if (piece.entries != 0) result.blocks.push_back(std::move(piece.block));
    }
    // What the size line promises is not believed: memory grows with the lines that are there.
    bytes += lines * bytes_per_line;
    require_memory(bytes, options.memory_limit, "the list of entries");
    text.advance(lines);
    report_progress(options.progress, "read", text.file_position(), text.file_size());
  }
  if (entries < header.entries)
    text.fail(errc::bad_input,
              fmt::format("the file ends after {} of the {} entries that {}", entries, header.entries,
                          header.coordinate ? "its size line announces" : "an array of its size has"),
              "correct the size line, or is the file truncated?");
  return result;
}

template MatrixMarketEntries<double> read_entries(TextBatches&, const MatrixMarketHeader&, const MatrixMarketOptions&);
template MatrixMarketEntries<float> read_entries(TextBatches&, const MatrixMarketHeader&, const MatrixMarketOptions&);

}  // namespace spmvpack::encoder
