#include "bench/sectors.hpp"

#include <algorithm>
#include <atomic>

#include "spmvpack/container/parallel.hpp"

namespace spmvpack::tools::bench {

std::uint64_t distinct_x_sectors(const CsrView& a, ValueType x_type, std::uint64_t block, int threads) {
  const std::uint64_t per_sector = sector_bytes / size_of(x_type);
  const std::uint64_t blocks = div_up(a.rows(), block);
  const auto pieces = static_cast<std::uint64_t>(thread_count(threads)) * 4;
  std::atomic<std::uint64_t> total{0};
  parallel_pieces(blocks, std::max<std::uint64_t>(div_up(blocks, pieces), 1), threads,
                  [&](std::uint64_t first, std::uint64_t last) {
                    // The block that touched a sector last, plus one. There are less than 2^32 rows.
                    Array<std::uint32_t> seen(div_up(a.cols(), per_sector), 0);
                    std::uint64_t count = 0;
                    for (std::uint64_t b = first; b < last; ++b) {
                      const auto mark = static_cast<std::uint32_t>(b + 1);
                      const std::uint64_t end = a.row_ptr(std::min((b + 1) * block, a.rows()));
                      for (std::uint64_t k = a.row_ptr(b * block); k < end; ++k) {
                        std::uint32_t& sector = seen[a.col_idx()[k] / per_sector];
                        count += sector != mark ? 1 : 0;
                        sector = mark;
                      }
                    }
                    total += count;
                  });
  return total;
}

}  // namespace spmvpack::tools::bench
