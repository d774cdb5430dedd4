#include "spmvpack/generators/matrix_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <span>

#include "row_pieces.hpp"

namespace spmvpack::generators {
namespace {

std::string header(const MatrixGenerator& matrix, const std::vector<std::string>& comments, std::uint64_t entries) {
  std::string text =
      fmt::format("%%MatrixMarket matrix coordinate {} {}\n", to_string(matrix.field()), to_string(matrix.symmetry()));
  for (const std::string& line : comments) text += "% " + line + "\n";
  return text + fmt::format("{} {} {}\n", matrix.rows(), matrix.cols(), entries);
}

/// Rows [first, last) as text; returns how many entries they list.
std::uint64_t format_rows(const MatrixGenerator& matrix, std::uint64_t first, std::uint64_t last, std::string& text) {
  // Two numbers of up to 10 digits, a double of up to 24 characters, two blanks and a newline.
  constexpr std::size_t longest_line = 64;
  const bool lower_only = matrix.symmetry() != Symmetry::general, has_values = matrix.field() != Field::pattern;
  std::uint64_t entries = 0;
  std::size_t used = text.size();
  Row row;
  for (std::uint64_t i = first; i < last; ++i) {
    row.clear();
    matrix.row(i, row);
    text.resize(used + row.size() * longest_line);
    for (const Entry& e : row) {
      if (lower_only && e.column > i) break;
      char* p = text.data() + used;
      char* const end = p + longest_line;
      p = std::to_chars(p, end, i + 1).ptr;
      *p++ = ' ';
      p = std::to_chars(p, end, e.column + 1).ptr;
      if (has_values) {
        *p++ = ' ';
        p = std::to_chars(p, end, e.value).ptr;
      }
      *p++ = '\n';
      used = static_cast<std::size_t>(p - text.data());
      ++entries;
    }
  }
  text.resize(used);
  return entries;
}

}  // namespace

EntryCounts write_generated(const MatrixGenerator& matrix, const std::vector<std::string>& comments,
                            const TextSink& write, int threads, const ProgressCallback& progress) {
  const EntryCounts counts = matrix.count(threads, progress);
  const std::uint64_t promised = matrix.symmetry() == Symmetry::general ? counts.all : counts.lower;
  write(header(matrix, comments, promised));

  // A batch of pieces is formatted in parallel and written in order; the buffers keep their memory.
  const std::uint64_t rows = matrix.rows(), piece = rows_per_piece(rows, counts.all);
  std::vector<std::string> texts(4 * static_cast<std::size_t>(thread_count(threads)));
  std::vector<std::uint64_t> listed(texts.size());
  const std::uint64_t batch = piece * texts.size();
  std::uint64_t entries = 0;
  for (std::uint64_t begin = 0; begin < rows; begin += batch) {
    report_progress(progress, "generate", begin, rows);
    const std::uint64_t end = std::min(rows, begin + batch);
    parallel_pieces(end - begin, piece, threads, [&](std::uint64_t first, std::uint64_t last) {
      std::string& text = texts[first / piece];
      text.clear();
      listed[first / piece] = format_rows(matrix, begin + first, begin + last, text);
    });
    for (std::uint64_t i = 0; i * piece < end - begin; ++i) {
      write(texts[i]);
      entries += listed[i];
    }
  }
  if (entries != promised)
    throw Error(errc::internal, fmt::format("the generator made {} entries and promised {}", entries, promised));
  return counts;
}

}  // namespace spmvpack::generators
