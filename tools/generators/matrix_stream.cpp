#include "generators/matrix_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>

#include "output.hpp"
#include "spmvpack/container/file_io.hpp"
#include "spmvpack/container/parallel.hpp"

namespace spmvpack::tools {
namespace {

std::string header(const MatrixGenerator& matrix) {
  std::string text = "%%MatrixMarket matrix coordinate real general\n";
  for (const std::string& line : matrix.comments()) text += "% " + line + "\n";
  return text + fmt::format("{0} {0} {1}\n", matrix.rows(), matrix.nnz());
}

/// Rows [first, last) as text; returns how many entries they have.
std::uint64_t format_rows(const MatrixGenerator& matrix, std::uint64_t first, std::uint64_t last, std::string& text) {
  // Two numbers of up to 10 digits, a double of up to 24 characters, two blanks and a newline.
  constexpr std::size_t longest_line = 64;
  std::uint64_t entries = 0;
  Row row;
  for (std::uint64_t i = first; i < last; ++i) {
    row.clear();
    matrix.row(i, row);
    for (const Entry& e : row) {
      const std::size_t used = text.size();
      text.resize(used + longest_line);
      char* p = text.data() + used;
      char* const end = p + longest_line;
      p = std::to_chars(p, end, i + 1).ptr;
      *p++ = ' ';
      p = std::to_chars(p, end, e.column + 1).ptr;
      *p++ = ' ';
      p = std::to_chars(p, end, e.value).ptr;
      *p++ = '\n';
      text.resize(static_cast<std::size_t>(p - text.data()));
      ++entries;
    }
  }
  return entries;
}

}  // namespace

void write_generated(const MatrixGenerator& matrix, const std::string& path, bool overwrite, int threads,
                     const ProgressCallback& progress) {
  std::optional<OutputFile> file;
  if (path != "-") file.emplace(path, overwrite);
  const auto write = [&](std::string_view text) {
    if (file)
      file->write(std::as_bytes(std::span(text)));
    else
      print(text);
  };
  write(header(matrix));

  // A batch of pieces is formatted in parallel and written in order; the buffers keep their memory.
  constexpr std::uint64_t rows_per_piece = 4096;
  std::vector<std::string> pieces(4 * static_cast<std::size_t>(thread_count(threads)));
  std::vector<std::uint64_t> counts(pieces.size());
  const std::uint64_t rows = matrix.rows(), rows_per_batch = rows_per_piece * pieces.size();
  std::uint64_t entries = 0;
  for (std::uint64_t begin = 0; begin < rows; begin += rows_per_batch) {
    report_progress(progress, "generate", begin, rows);
    const std::uint64_t end = std::min(rows, begin + rows_per_batch);
    parallel_pieces(end - begin, rows_per_piece, threads, [&](std::uint64_t first, std::uint64_t last) {
      std::string& text = pieces[first / rows_per_piece];
      text.clear();
      counts[first / rows_per_piece] = format_rows(matrix, begin + first, begin + last, text);
    });
    for (std::uint64_t i = 0; i * rows_per_piece < end - begin; ++i) {
      write(pieces[i]);
      entries += counts[i];
    }
  }
  if (entries != matrix.nnz())
    throw Error(errc::internal, fmt::format("the generator made {} entries and promised {}", entries, matrix.nnz()));
  report_progress(progress, "flush", 0, 0);
  if (file) file->commit();
}

}  // namespace spmvpack::tools
