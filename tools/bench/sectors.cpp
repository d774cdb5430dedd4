#include "bench/sectors.hpp"

#include <algorithm>
#include <atomic>

#include "spmvpack/container/base/parallel.hpp"

namespace spmvpack::bench {

std::uint64_t distinct_x_pieces(const CsrView& a, ValueType x_type, std::uint64_t piece_bytes, std::uint64_t block,
                                int threads) {
  const std::uint64_t per_piece = piece_bytes / size_of(x_type);
  const std::uint64_t blocks = div_up(a.rows(), block);
  const auto tasks = static_cast<std::uint64_t>(thread_count(threads)) * 4;
  std::atomic<std::uint64_t> total{0};
  parallel_pieces(blocks, std::max<std::uint64_t>(div_up(blocks, tasks), 1), threads,
                  [&](std::uint64_t first, std::uint64_t last) {
                    // The block that touched a piece last, plus one. There are less than 2^32 rows.
                    Array<std::uint32_t> seen(div_up(a.cols(), per_piece), 0);
                    std::uint64_t count = 0;
                    for (std::uint64_t b = first; b < last; ++b) {
                      const auto mark = static_cast<std::uint32_t>(b + 1);
                      const std::uint64_t end = a.row_ptr(std::min((b + 1) * block, a.rows()));
                      for (std::uint64_t k = a.row_ptr(b * block); k < end; ++k) {
                        std::uint32_t& last_block = seen[a.col_idx()[k] / per_piece];
                        count += last_block != mark ? 1 : 0;
                        last_block = mark;
                      }
                    }
                    total += count;
                  });
  return total;
}

}  // namespace spmvpack::bench
