#include "spmvpack/container/multiply/value_sources.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

#include "file/merge.hpp"
#include "layouts/value_functions.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/container/layouts/registry.hpp"

namespace spmvpack {
namespace {

using layouts::ValuesAre;

constexpr std::uint64_t entries_per_task = std::uint64_t{1} << 18, rows_of_source_task = 4096;

void require_own_values(const PartView& part) {
  const Layout& layout = find_layout(part.info().layout);
  const ValuesAre are = part_values(part.info()).are;
  if (are == ValuesAre::own || part.info().nnz == 0) return;
  std::string source;
  for (std::size_t i = 0; i < layout.parameters.size() && !layout.source_names.empty(); ++i)
    if (layout.parameters[i] == "source")
      source = fmt::format(" (source {})", layout.source_names[part.info().params[i]]);
  throw Error(errc::unsupported,
              fmt::format("new values have no place in a part of layout {}{}, {}", layout.name, source,
                          are == ValuesAre::shared ? "whose entries share values" : "which computes its values"),
              part.where(), "encode the matrix with --updatable (updatable=true)");
}

/// The parts of A, or of A^T, and their entries' places. Index: of entries.
template <class Index>
class RolePlaces {
 public:
  RolePlaces(const MatrixFacts& facts, std::span<const PartView* const> parts, bool transpose, int threads)
      : parts_(parts),
        nnz_(facts.nnz),
        rows_(transpose ? facts.cols : facts.rows),
        cols_(transpose ? facts.rows : facts.cols),
        transpose_(transpose),
        threads_(threads) {}

  /// Whether the only part is the matrix, whose entries it has in their order.
  [[nodiscard]] bool is_direct() const {
    return parts_.size() == 1 && parts_[0]->info().rows.kind == format::MapKind::all &&
           parts_[0]->info().cols.kind == format::MapKind::all;
  }

  /// The row pointers and columns of all parts together. Their entries are numbered part by part, in each by rows;
  /// `numbers` of those of several parts are in the order of the matrix.
  void join() {
    std::vector<CsrMatrix> local;
    for (const PartView* const part : parts_) {
      local.push_back(find_layout(part->info().layout).unpack(*part, threads_));
      local.back().values = {};
    }
    if (is_direct()) {
      row_ptr = std::move(local[0].row_ptr);
      col_idx = std::move(local[0].col_idx);
      return;
    }
    row_ptr = Array<std::uint64_t>(rows_ + 1);
    col_idx = Array<std::uint32_t>(nnz_);
    numbers = Array<Index>(nnz_);
    Array<Index> from(nnz_);
    parallel_items(nnz_, entries_per_task, threads_, [&](std::uint64_t k) { from[k] = static_cast<Index>(k); });
    CountedVector<LocalEntries<Index>> entries;
    const Index* next = from.data();
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const PartInfo& info = parts_[p]->info();
      entries.push_back({{local[p].row_ptr.data(), local[p].row_ptr.size()},
                         {local[p].col_idx.data(), local[p].col_idx.size()},
                         {next, info.nnz},
                         ToGlobal(*parts_[p], info.rows, "row_map"),
                         ToGlobal(*parts_[p], info.cols, "col_map")});
      next += info.nnz;
    }
    merge<Index>(entries, {row_ptr.data(), row_ptr.size()}, {col_idx.data(), nnz_}, {numbers.data(), nnz_}, transpose_,
                 parts_.empty() ? std::string() : parts_[0]->where(), threads_);
  }

  /// Adds the parts' sources. `in_a`: the place in A of each entry in the order of A^T; empty for A itself. After
  /// join(), unless is_direct() and without `in_a`.
  void add_sources(Array<Index> in_a, std::vector<ValueSource>& sources) {
    Array<Index> places;  // by the numbers of entries
    if (!numbers.empty()) {
      places = Array<Index>(nnz_);
      parallel_items(nnz_, entries_per_task, threads_,
                     [&](std::uint64_t k) { places[numbers[k]] = in_a.empty() ? static_cast<Index>(k) : in_a[k]; });
    } else if (!in_a.empty()) {
      places = std::move(in_a);
    }
    std::uint64_t first = 0;
    for (const PartView* const part : parts_) {
      const std::uint64_t rows = part->rows(), nnz = part->info().nnz;
      ValueSource source;
      source.first = Array<std::uint64_t>(rows + 1);
      source.before =
          find_layout(part->info().layout).values->count(*part, {source.first.data(), source.first.size()}, threads_);
      if (!places.empty() && nnz != 0) set_places({places.data() + first, nnz}, source);
      sources.push_back(std::move(source));
      first += nnz;
    }
  }

  Array<std::uint64_t> row_ptr;
  Array<std::uint32_t> col_idx;
  Array<Index> numbers;

 private:
  void set_places(std::span<const Index> places, ValueSource& source) const {
    Array<std::uint64_t>& first = source.first;
    const std::uint64_t rows = first.size() - 1;
    std::atomic<bool> follow{true};
    parallel_items(rows, rows_of_source_task, threads_, [&](std::uint64_t r) {
      for (std::uint64_t k = first[r] + 1; k < first[r + 1]; ++k)
        if (places[k] != places[k - 1] + Index{1}) follow.store(false, std::memory_order_relaxed);
    });
    if (follow) {
      for (std::uint64_t r = 0; r < rows; ++r) first[r] = first[r] < places.size() ? places[first[r]] : 0;
      return;
    }
    Array<Index> copy(places.size());
    std::memcpy(copy.data(), places.data(), places.size_bytes());
    source.place = std::move(copy);
  }

  std::span<const PartView* const> parts_;
  std::uint64_t nnz_, rows_, cols_;
  bool transpose_;
  int threads_;
};

/// The place in A of each entry of A^T. Error(errc::corrupt) unless `transpose` is the pattern of A^T.
template <class Index>
Array<Index> places_of_transpose(const RolePlaces<Index>& a, const RolePlaces<Index>& transpose,
                                 const MatrixFacts& facts, const std::string& where, int threads) {
  // Numbers go through transposed() as the bits of values, all of which it keeps.
  using Carrier = std::conditional_t<sizeof(Index) == 4, float, double>;
  Array<Carrier> numbers(facts.nnz);
  parallel_items(facts.nnz, entries_per_task, threads, [&](std::uint64_t k) {
    const auto number = static_cast<Index>(k);
    std::memcpy(numbers.data() + k, &number, sizeof number);
  });
  const CsrMatrix t =
      transposed(CsrView(facts.rows, facts.cols, std::span<const std::uint64_t>(a.row_ptr.data(), a.row_ptr.size()),
                         std::span<const std::uint32_t>(a.col_idx.data(), facts.nnz),
                         std::span<const Carrier>(numbers.data(), facts.nnz)),
                 threads);
  const auto equal = [](const auto& x, const auto& y) { return std::equal(x.begin(), x.end(), y.begin(), y.end()); };
  if (!equal(t.row_ptr, transpose.row_ptr) || !equal(t.col_idx, transpose.col_idx))
    throw Error(errc::corrupt, "what it stores as the transpose is not the transpose of the matrix", where,
                "get the file again, or encode it again");
  Array<Index> places(facts.nnz);
  if (facts.nnz != 0) std::memcpy(places.data(), std::get<Array<Carrier>>(t.values).data(), facts.nnz * sizeof(Index));
  return places;
}

template <class Index>
std::vector<ValueSource> sources_of(const MatrixFacts& facts, std::span<const PartView* const> of_a,
                                    std::span<const PartView* const> of_transpose, int threads) {
  std::vector<ValueSource> sources;
  RolePlaces<Index> a(facts, of_a, false, threads);
  if (!a.is_direct() || !of_transpose.empty()) a.join();
  Array<Index> in_a;
  if (!of_transpose.empty()) {
    RolePlaces<Index> transpose(facts, of_transpose, true, threads);
    transpose.join();
    in_a = places_of_transpose(a, transpose, facts, of_transpose[0]->where(), threads);
    a.add_sources({}, sources);
    transpose.add_sources(std::move(in_a), sources);
  } else {
    a.add_sources({}, sources);
  }
  return sources;
}

}  // namespace

MatrixFacts without_values(const MatrixFacts& facts) noexcept {
  MatrixFacts pattern = facts;
  pattern.field = Field::real;
  pattern.symmetry = pattern.found = Symmetry::general;
  pattern.digest = {};
  return pattern;
}

std::vector<ValueSource> value_sources(const MatrixFacts& facts, std::span<const PartView* const> parts, int threads) {
  for (const PartView* const part : parts) require_own_values(*part);
  const auto* const middle = std::find_if(parts.data(), parts.data() + parts.size(), [](const PartView* part) {
    return part->info().role == format::Role::transpose;
  });
  const auto of_a = static_cast<std::size_t>(middle - parts.data());
  return facts.nnz >> 32U == 0 ? sources_of<std::uint32_t>(facts, parts.first(of_a), parts.subspan(of_a), threads)
                               : sources_of<std::uint64_t>(facts, parts.first(of_a), parts.subspan(of_a), threads);
}

}  // namespace spmvpack
