#include "spmvpack/encoder/partition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <utility>

#include "metis.hpp"
#include "spmvpack/container/base/memory.hpp"
#include "spmvpack/container/base/parallel.hpp"

namespace spmvpack::encoder {
namespace {

constexpr std::uint32_t no_place = 0xFFFFFFFF;

/// `rank`'s part of `size`, rounded down: where its own begin if they are shared out evenly.
std::uint64_t part_of(std::uint64_t size, std::uint64_t rank, std::uint64_t ranks) {
  return size / ranks * rank + size % ranks * rank / ranks;
}

/// Evenly, the first ranks having one more.
std::vector<std::uint64_t> evenly(std::uint64_t size, std::uint64_t ranks) {
  std::vector<std::uint64_t> first(ranks + 1);
  for (std::uint64_t r = 0; r <= ranks; ++r) first[r] = size / ranks * r + std::min(r, size % ranks);
  return first;
}

void require_ranks(const CsrView& a, std::uint64_t ranks) {
  constexpr std::uint64_t most = std::uint64_t{1} << 20U;
  if (ranks == 0) throw Error(errc::usage, "no ranks", {}, "give one or more");
  if (ranks > most) throw Error(errc::usage, fmt::format("{} ranks", ranks), {}, fmt::format("give {} at most", most));
  if (a.rows() == 0)
    throw Error(errc::usage, "a matrix without rows, which nobody can have a share of", {}, "encode it as a whole");
}

/// A number that another partition hardly has: its words, mixed as by splitmix64.
std::uint64_t number_of(const Partition& partition) {
  std::uint64_t state = partition.ranks();
  const auto add = [&](std::uint64_t word) {
    state += word + 0x9E3779B97F4A7C15U;
    state = (state ^ (state >> 30U)) * 0xBF58476D1CE4E5B9U;
    state = (state ^ (state >> 27U)) * 0x94D049BB133111EBU;
    state ^= state >> 31U;
  };
  for (const std::uint64_t word : partition.first_row) add(word);
  for (const std::uint64_t word : partition.first_col) add(word);
  for (const std::uint32_t word : partition.order) add(word);
  return state;
}

}  // namespace

Partition partition_rows(const CsrView& a, std::uint64_t ranks) {
  require_ranks(a, ranks);
  Partition partition;
  partition.first_row.assign(ranks + 1, 0);
  for (std::uint64_t r = 1; r < ranks; ++r) {
    std::uint64_t row = part_of(a.rows(), r, ranks);
    if (a.nnz() != 0) {
      const std::uint64_t before = part_of(a.nnz(), r, ranks);
      std::uint64_t low = 0, high = a.rows();  // the first row at which as many entries lie behind
      while (low < high) {
        const std::uint64_t middle = low + (high - low) / 2;
        if (a.row_ptr(middle) < before)
          low = middle + 1;
        else
          high = middle;
      }
      row = low;
      if (row > 0 && before - a.row_ptr(row - 1) < a.row_ptr(row) - before) --row;
    }
    partition.first_row[r] = std::max(row, partition.first_row[r - 1]);
  }
  partition.first_row[ranks] = a.rows();
  partition.first_col = a.rows() == a.cols() ? partition.first_row : evenly(a.cols(), ranks);
  return partition;
}

Partition partition_of(const CsrView& a, std::span<const std::uint32_t> rank_of_row, std::uint64_t ranks) {
  require_ranks(a, ranks);
  if (a.rows() != a.cols() || rank_of_row.size() != a.rows())
    throw Error(errc::usage,
                fmt::format("ranks of {} rows of a matrix of {} x {}", rank_of_row.size(), a.rows(), a.cols()), {},
                "rows and columns are renumbered alike: give one rank for each row of a square matrix");
  Partition partition;
  partition.first_row.assign(ranks + 1, 0);
  for (const std::uint32_t rank : rank_of_row) {
    if (rank >= ranks) throw Error(errc::usage, fmt::format("a row of rank {}, of {} ranks", rank, ranks));
    ++partition.first_row[rank + 1];
  }
  std::partial_sum(partition.first_row.begin(), partition.first_row.end(), partition.first_row.begin());
  partition.first_col = partition.first_row;
  std::vector<std::uint64_t> next(partition.first_row.begin(), partition.first_row.end() - 1);
  partition.order.resize(a.rows());
  for (std::uint64_t row = 0; row < a.rows(); ++row)
    partition.order[next[rank_of_row[row]]++] = static_cast<std::uint32_t>(row);
  return partition;
}

Partition partition_by_metis(const CsrView& a, std::uint64_t ranks, int threads) {
  require_ranks(a, ranks);
  constexpr const char* instead = "cut the rows in order (--partition rows)";
  if (a.rows() != a.cols())
    throw Error(errc::unsupported, fmt::format("METIS's partition of a matrix of {} x {}", a.rows(), a.cols()), {},
                fmt::format("only a square matrix has rows and columns that are renumbered alike: {}", instead));
  if (ranks == 1) return partition_rows(a, ranks);
  if (ranks > a.rows())
    throw Error(errc::unsupported, fmt::format("METIS's partition of {} rows for {} ranks", a.rows(), ranks), {},
                fmt::format("give fewer ranks, or {}", instead));
  const MemoryScope memory("METIS's partition");
  const GraphCut cut{.parts = ranks, .fewest = Fewest::shared_vertices, .as_heavy_as_rows = true, .instead = instead};
  return partition_of(a, cut_rows(a, cut, threads), ranks);
}

ShareMaker::ShareMaker(const SourceMatrix& whole, const Partition& partition, int threads)
    : whole_(whole),
      partition_(partition),
      threads_(threads),
      digest_(content_digest(whole.matrix, threads)),
      number_(number_of(partition)),
      new_number_(partition.order.size()),
      place_(whole.matrix.cols, no_place) {
  for (std::uint64_t i = 0; i < partition.order.size(); ++i)
    new_number_[partition.order[i]] = static_cast<std::uint32_t>(i);
}

/// Leaves their places in place_.
Array<std::uint32_t> ShareMaker::find_ghosts(std::uint64_t rank) {
  const CsrMatrix& m = whole_.matrix;
  const std::uint64_t begin = partition_.first_col[rank], own = partition_.first_col[rank + 1] - begin;
  CountedVector<std::uint32_t> found;
  for (std::uint64_t row = partition_.first_row[rank]; row < partition_.first_row[rank + 1]; ++row) {
    const std::uint64_t r = source_row(row);
    for (std::uint64_t k = m.row_ptr[r]; k < m.row_ptr[r + 1]; ++k) {
      const std::uint32_t c = column(m.col_idx[k]);
      if (c - begin < own || place_[c] != no_place) continue;  // c - begin wraps below `begin`
      place_[c] = 0;
      found.push_back(c);
    }
  }
  std::sort(found.begin(), found.end());
  Array<std::uint32_t> ghosts(found.size());
  for (std::uint64_t i = 0; i < found.size(); ++i) {
    ghosts[i] = found[i];
    place_[found[i]] = static_cast<std::uint32_t>(own + i);
  }
  return ghosts;
}

SourceMatrix ShareMaker::make(std::uint64_t rank) {
  const CsrMatrix& m = whole_.matrix;
  const std::uint64_t first = partition_.first_row[rank], rows = partition_.first_row[rank + 1] - first;
  const std::uint64_t first_col = partition_.first_col[rank], own = partition_.first_col[rank + 1] - first_col;
  auto share = std::make_shared<Share>();
  share->ghosts = find_ghosts(rank);
  std::uint64_t nnz = 0;
  for (std::uint64_t i = 0; i < rows; ++i) {
    const std::uint64_t r = source_row(first + i);
    nnz += m.row_ptr[r + 1] - m.row_ptr[r];
  }
  SourceMatrix made{allocate_csr(rows, own + share->ghosts.size(), nnz, m.value_type()), whole_.field,
                    partition_.ranks() == 1 ? whole_.symmetry : Symmetry::general, whole_.provenance};
  CsrMatrix& local = made.matrix;
  local.row_ptr[0] = 0;
  for (std::uint64_t i = 0; i < rows; ++i) {
    const std::uint64_t r = source_row(first + i);
    local.row_ptr[i + 1] = local.row_ptr[i] + (m.row_ptr[r + 1] - m.row_ptr[r]);
  }
  dispatch(m.value_type(), [&]<class T>(T) {
    const auto& from = std::get<Array<T>>(m.values);
    auto& to = std::get<Array<T>>(local.values);
    constexpr std::uint64_t rows_per_task = 4096;
    parallel_pieces(rows, rows_per_task, threads_, [&](std::uint64_t begin, std::uint64_t end) {
      CountedVector<std::pair<std::uint32_t, std::uint64_t>> row;  // local column; where the entry is in the whole
      for (std::uint64_t i = begin; i < end; ++i) {
        const std::uint64_t r = source_row(first + i);
        row.clear();
        for (std::uint64_t k = m.row_ptr[r]; k < m.row_ptr[r + 1]; ++k) {
          const std::uint32_t c = column(m.col_idx[k]);
          row.emplace_back(c - first_col < own ? static_cast<std::uint32_t>(c - first_col) : place_[c], k);
        }
        std::sort(row.begin(), row.end());
        for (std::uint64_t j = 0; j < row.size(); ++j) {
          local.col_idx[local.row_ptr[i] + j] = row[j].first;
          std::memcpy(&to[local.row_ptr[i] + j], &from[row[j].second], sizeof(T));
        }
      }
    });
  });
  for (const std::uint32_t ghost : share->ghosts) place_[ghost] = no_place;
  if (!partition_.order.empty()) {
    share->original_rows = Array<std::uint32_t>(rows);
    std::copy_n(partition_.order.begin() + static_cast<std::ptrdiff_t>(first), rows, share->original_rows.begin());
  }
  share->facts = {m.rows,
                  m.cols,
                  m.nnz(),
                  first,
                  first_col,
                  own,
                  static_cast<std::uint32_t>(rank),
                  static_cast<std::uint32_t>(partition_.ranks()),
                  number_,
                  digest_};
  made.share = std::move(share);
  return made;
}

void encode_shares(const SourceMatrix& whole, const Partition& partition, const EncodeRequest& request,
                   const std::string& path,
                   const std::function<void(const SourceMatrix& share, const EncodeResult& result)>& done) {
  const MemoryScope memory(request.memory_limit, "encoding shares");
  if (whole.share)
    throw Error(errc::usage, fmt::format("the matrix is a share itself: {}", to_text(whole.share->facts)), {},
                "share out the whole");
  whole.matrix.view().check(request.threads);
  std::vector<std::unique_ptr<OutputFile>> files;
  for (std::uint64_t rank = 0; rank < partition.ranks(); ++rank)
    files.push_back(std::make_unique<OutputFile>(share_path(path, rank, partition.ranks()), request.overwrite));
  ShareMaker shares(whole, partition, request.threads);
  for (std::uint64_t rank = 0; rank < partition.ranks(); ++rank) {
    const SourceMatrix share = shares.make(rank);
    const EncodeResult result = encode(share, request, *files[rank]);
    if (done) done(share, result);
  }
  commit_all(files);
}

}  // namespace spmvpack::encoder
