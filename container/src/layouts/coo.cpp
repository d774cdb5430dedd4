#include "spmvpack/container/layouts/coo.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "spmvpack/container/parallel.hpp"

namespace spmvpack::layouts::coo {
namespace {

constexpr std::uint64_t piece = 1U << 18;

void check(const PartView& part, int threads) {
  const std::uint64_t nnz = part.info().nnz;
  const auto rows = part.get<std::uint32_t>("row_idx");
  const auto cols = part.get<std::uint32_t>("col_idx");
  parallel_pieces(nnz, piece, threads, [&](std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) {
      part.require(rows[i] < part.rows(), "row_idx",
                   [&] { return fmt::format("entry {} is in row {} of {}", i, rows[i], part.rows()); });
      part.require(cols[i] < part.cols(), "col_idx",
                   [&] { return fmt::format("entry {} is in column {} of {}", i, cols[i], part.cols()); });
      if (i == 0) continue;
      part.require(rows[i] > rows[i - 1] || (rows[i] == rows[i - 1] && cols[i] > cols[i - 1]), "row_idx",
                   [&] { return fmt::format("entry {} does not follow the one before it", i); });
    }
  });
}

CsrMatrix unpack(const PartView& part, int threads) {
  const auto rows = part.get<std::uint32_t>("row_idx");
  const auto cols = part.get<std::uint32_t>("col_idx");
  const std::uint64_t nnz = rows.size();
  CsrMatrix m = allocate_csr(part.rows(), part.cols(), nnz, part.info().value_type);
  // Rows rise, so row r starts at the first entry that is not in an earlier row.
  const auto start_rows = [&](std::uint64_t first_row, std::uint64_t last_row, std::uint64_t entry) {
    for (std::uint64_t r = first_row; r < last_row; ++r) m.row_ptr[r] = entry;
  };
  start_rows(0, nnz == 0 ? m.rows + 1 : std::uint64_t{rows[0]} + 1, 0);
  dispatch(m.value_type(), [&]<class T>(T) {
    const auto values = part.get<T>("values");
    auto& out = std::get<Array<T>>(m.values);
    parallel_pieces(nnz, piece, threads, [&](std::uint64_t begin, std::uint64_t end) {
      for (std::uint64_t i = begin; i < end; ++i)
        start_rows(std::uint64_t{rows[i]} + 1, i + 1 < nnz ? std::uint64_t{rows[i + 1]} + 1 : m.rows + 1, i + 1);
      std::copy(cols.data() + begin, cols.data() + end, m.col_idx.data() + begin);
      std::memcpy(out.data() + begin, values.data() + begin, (end - begin) * sizeof(T));
    });
  });
  return m;
}

}  // namespace

const Layout layout{"coo", sections, {}, nullptr, check, unpack};

}  // namespace spmvpack::layouts::coo
