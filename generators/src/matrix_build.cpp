#include "spmvpack/generators/matrix_build.hpp"

#include <fmt/format.h>

#include <atomic>
#include <numeric>

#include "row_pieces.hpp"
#include "spmvpack/container/base/memory.hpp"

namespace spmvpack::generators {

SourceMatrix build_generated(const MatrixGenerator& matrix, const std::vector<std::string>& comments,
                             const Resources& resources, const ProgressCallback& progress) {
  const EntryCounts counts = matrix.count(resources.threads, progress);
  const std::uint64_t rows = matrix.rows(), piece = rows_per_piece(rows, counts.all);
  require_memory((rows + 1) * sizeof(std::uint64_t) + counts.all * (sizeof(std::uint32_t) + sizeof(double)),
                 resources.memory_limit, "the matrix");
  SourceMatrix source;
  source.matrix = allocate_csr(rows, matrix.cols(), counts.all, ValueType::f64);
  CsrMatrix& a = source.matrix;
  auto& values = std::get<Array<double>>(a.values);

  for_row_pieces(rows, piece, "lengths", resources.threads, progress, [&](std::uint64_t first, std::uint64_t last) {
    Row row;
    for (std::uint64_t i = first; i < last; ++i) {
      row.clear();
      matrix.row(i, row);
      a.row_ptr[i + 1] = row.size();
    }
  });
  a.row_ptr[0] = 0;
  std::partial_sum(a.row_ptr.begin(), a.row_ptr.end(), a.row_ptr.begin());
  if (a.row_ptr[rows] != counts.all)
    throw Error(errc::internal,
                fmt::format("the generator made {} entries and promised {}", a.row_ptr[rows], counts.all));

  std::atomic<std::uint64_t> zeros{0};
  for_row_pieces(rows, piece, "generate", resources.threads, progress, [&](std::uint64_t first, std::uint64_t last) {
    Row row;
    std::uint64_t k = a.row_ptr[first], n_zeros = 0;
    for (std::uint64_t i = first; i < last; ++i) {
      row.clear();
      matrix.row(i, row);
      for (const Entry& e : row) {
        a.col_idx[k] = static_cast<std::uint32_t>(e.column);
        values[k++] = e.value;
        n_zeros += e.value == 0 ? 1 : 0;
      }
    }
    zeros += n_zeros;
  });

  source.field = matrix.field();
  source.symmetry = matrix.symmetry();
  source.provenance.entries = source.symmetry == Symmetry::general ? counts.all : counts.lower;
  source.provenance.explicit_zeros = zeros;
  for (const std::string& line : comments) source.provenance.comments.push_back(" " + line);
  return source;
}

}  // namespace spmvpack::generators
