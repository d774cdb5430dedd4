#include "spmvpack/generators/matrix_generator.hpp"

#include <algorithm>
#include <atomic>

#include "row_pieces.hpp"

namespace spmvpack::generators {

void Row::sort() {
  std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) { return a.column < b.column; });
}

EntryCounts MatrixGenerator::count(int threads, const ProgressCallback& progress) const {
  constexpr std::uint64_t piece = 1024;
  std::atomic<std::uint64_t> all{0}, lower{0};
  for_row_pieces(rows(), piece, "count", threads, progress, [&](std::uint64_t first, std::uint64_t last) {
    Row entries;
    std::uint64_t n = 0, n_lower = 0;
    for (std::uint64_t i = first; i < last; ++i) {
      entries.clear();
      row(i, entries);
      n += entries.size();
      for (const Entry& e : entries) n_lower += e.column <= i ? 1 : 0;
    }
    all += n;
    lower += n_lower;
  });
  return {all, lower};
}

}  // namespace spmvpack::generators
