#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "file/merge.hpp"
#include "file/unpack_parts.hpp"
#include "spmvpack/container/base/memory.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/container/base/value_text.hpp"
#include "spmvpack/container/file/reader.hpp"
#include "spmvpack/container/file/share.hpp"
#include "spmvpack/container/layouts/registry.hpp"

namespace spmvpack {
namespace {

/// Merges several parts into one matrix with sorted rows.
template <class T>
void merge(std::span<const PartView* const> views, std::span<const CsrMatrix> matrices, CsrMatrix& m, bool transpose,
           const std::string& where, int threads) {
  CountedVector<LocalEntries<T>> parts;
  for (std::size_t i = 0; i < views.size(); ++i) {
    const CsrMatrix& local = matrices[i];
    const auto& values = std::get<Array<T>>(local.values);
    parts.push_back({{local.row_ptr.data(), local.row_ptr.size()},
                     {local.col_idx.data(), local.col_idx.size()},
                     {values.data(), values.size()},
                     ToGlobal(*views[i], views[i]->info().rows, "row_map"),
                     ToGlobal(*views[i], views[i]->info().cols, "col_map")});
  }
  auto& values = std::get<Array<T>>(m.values);
  merge<T>(parts, {m.row_ptr.data(), m.row_ptr.size()}, {m.col_idx.data(), m.col_idx.size()},
           {values.data(), values.size()}, transpose, where, threads);
}

/// Whether the part has all rows and columns, in their order.
bool is_whole(const PartInfo& part) {
  return part.rows.kind == format::MapKind::all && part.cols.kind == format::MapKind::all;
}

/// Throws unless the matrix has the field and symmetry in the header: all ones, integers, its own mirror image.
template <class T>
void check_claims(const Container& container, const CsrView& a, int threads) {
  const MatrixFacts& facts = container.facts();
  const auto fail = [&](const std::string& what, std::string_view claim) {
    throw Error(errc::corrupt, fmt::format("{} in a matrix that the header says is {}", what, claim), container.name(),
                "get the file again, or encode it again");
  };
  const Symmetry symmetry = facts.bitwise_symmetry();
  if (symmetry != Symmetry::general && a.rows() != a.cols())
    fail(fmt::format("{} rows and {} columns", a.rows(), a.cols()), to_string(symmetry));
  const T* const values = a.values<T>();
  const std::uint32_t* const columns = a.col_idx();
  constexpr std::uint64_t rows_per_task = 4096;
  parallel_items(a.rows(), rows_per_task, threads, [&](std::uint64_t r) {
    for (std::uint64_t k = a.row_ptr(r); k < a.row_ptr(r + 1); ++k)
      if (!fits_field(facts.field, values[k]))
        fail(fmt::format("row {}, column {}: the value {}", r, columns[k], value_text(values[k])),
             to_string(facts.field));
  });
  if (symmetry == Symmetry::general) return;
  if (const std::uint64_t k = first_without_mirror(a, symmetry, threads); k != a.nnz())
    fail(fmt::format("row {}, column {}: an entry without its mirror image", a.row_of(k), columns[k]),
         to_string(symmetry));
}

}  // namespace

CsrMatrix unpack_parts(const MatrixFacts& facts, format::Role role, std::span<const PartView* const> parts,
                       const std::string& where, int threads, const ProgressCallback& progress) {
  CountedVector<CsrMatrix> matrices;
  for (const PartView* const part : parts) {
    matrices.push_back(find_layout(part->info().layout).unpack(*part, threads));
    report_progress(progress, "unpack", matrices.size(), parts.size());
  }
  if (parts.size() == 1 && is_whole(parts[0]->info())) return std::move(matrices[0]);
  const bool transpose = role == format::Role::transpose;
  CsrMatrix m = allocate_csr(transpose ? facts.cols : facts.rows, transpose ? facts.rows : facts.cols, facts.nnz,
                             facts.value_type);
  dispatch_any(facts.value_type, [&]<class T>(T) { merge<T>(parts, matrices, m, transpose, where, threads); });
  return m;
}

CsrMatrix unpack(const Container& container, const LoadOptions& options, format::Role role) {
  const MemoryScope memory(options.memory_limit, "unpacking " + container.name());
  LoadOptions load = options;
  load.check_structure = true;  // unpacking uses what it reads as indices
  const MatrixFacts& facts = container.facts();
  const std::span<const PartInfo> infos = container.parts(role);
  const bool transpose = role == format::Role::transpose;
  if (infos.empty() && facts.nnz != 0) throw Error(errc::usage, "the container has no transpose", container.name());
  // Peak memory: the sections, the parts' matrices and, if there are several, the merged matrix. A transposed one comes
  // when the sections and, but for the last matrix, all others are gone.
  const std::uint64_t entry = 4 + size_of(facts.value_type);
  std::uint64_t raw = 0, csr = checked_add(checked_mul(facts.nnz, entry, "matrix bytes"),
                                           (std::max(facts.rows, facts.cols) + 1) * 8, "matrix bytes");
  std::uint64_t local = 0, with_bytes = 0;
  for (const SectionInfo& s : container.sections())
    if (s.known && s.part != format::no_part && container.parts()[s.part].role == role)
      raw = checked_add(raw, s.raw_bytes, "section bytes");
  for (const PartInfo& p : infos) {
    local = checked_add(local, checked_mul(p.nnz, entry, "matrix bytes") + (p.rows.count + 1) * 8, "matrix bytes");
    if (!find_layout(p.layout).shares_entries) with_bytes += p.nnz;
  }
  const bool direct = infos.size() == 1 && is_whole(infos[0]);
  const std::uint64_t merging = checked_add(raw, checked_add(local, direct ? 0 : csr, "memory"), "memory");
  require_memory(transpose ? std::max(merging, checked_mul(csr, 3, "memory")) : merging, options.memory_limit,
                 fmt::format("unpacking {}", container.name()));
  // Refuses small files that claim many entries: each takes at least one bit of some section, unless it shares them.
  // What parts that share entries claim is compared with what they have before anything of that size is allocated.
  if (with_bytes / 8 > raw)
    throw Error(errc::corrupt, fmt::format("{} entries in {} bytes of sections", with_bytes, raw), container.name());

  CountedVector<LoadedPart> loaded;
  for (const PartInfo& info : infos)
    loaded.push_back(container.load_part(static_cast<std::size_t>(&info - container.parts().data()), load));
  std::vector<const PartView*> views;
  for (const LoadedPart& part : loaded) views.push_back(&part.view());
  CsrMatrix m = unpack_parts(facts, role, views, container.name(), options.threads, options.progress);
  loaded.clear();
  if (transpose) m = transposed(m, options.threads);
  if (content_digest(m, options.threads) != facts.digest)
    throw Error(errc::corrupt,
                transpose ? "what it stores as the transpose is not the transpose of the matrix"
                          : "the content digest is not that of the matrix",
                container.name(), "get the file again, or encode it again");
  if (facts.field != Field::real || facts.bitwise_symmetry() != Symmetry::general)
    dispatch_any(facts.value_type, [&]<class T>(T) { check_claims<T>(container, m, options.threads); });
  return m;
}

void check_contents(const Container& container, const LoadOptions& options) {
  unpack(container, options);
  static_cast<void>(read_share(container, options));
  if (!container.parts(format::Role::transpose).empty()) unpack(container, options, format::Role::transpose);
}

}  // namespace spmvpack
