#include "metis.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <metis.h>

#include <algorithm>
#include <array>
#include <limits>
#include <mutex>

#include "spmvpack/container/base/error.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/encoder/layout.hpp"

namespace spmvpack::encoder {
namespace {

#define SPMVPACK_TEXT_OF(number) #number
#define SPMVPACK_TEXT(number) SPMVPACK_TEXT_OF(number)
constexpr std::string_view version =
    SPMVPACK_TEXT(METIS_VER_MAJOR) "." SPMVPACK_TEXT(METIS_VER_MINOR) "." SPMVPACK_TEXT(METIS_VER_SUBMINOR);

/// What is called of METIS's library, which is opened when it is first needed and stays; null if it is not there.
struct Metis {
  decltype(&METIS_SetDefaultOptions) set_default_options = nullptr;
  decltype(&METIS_PartGraphKway) part_graph_kway = nullptr;

  Metis() noexcept {
    void* const library = dlopen(SPMVPACK_METIS_SONAME, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return;
    set_default_options = reinterpret_cast<decltype(set_default_options)>(dlsym(library, "METIS_SetDefaultOptions"));
    part_graph_kway = reinterpret_cast<decltype(part_graph_kway)>(dlsym(library, "METIS_PartGraphKway"));
  }
  [[nodiscard]] bool found() const noexcept { return set_default_options != nullptr && part_graph_kway != nullptr; }
};
const Metis& metis() noexcept {
  static const Metis metis;
  return metis;
}

/// The rows that have an entry in each column, rising.
struct Columns {
  Array<std::uint64_t> ptr;
  Array<std::uint32_t> rows;

  explicit Columns(const CsrView& a) : ptr(a.cols() + 1), rows(a.nnz()) {
    std::fill(ptr.begin(), ptr.end(), 0);
    for (std::uint64_t k = 0; k < a.nnz(); ++k) ++ptr[a.col_idx()[k]];
    std::uint64_t sum = 0;
    for (std::uint64_t& p : ptr) p = sum += p;  // the end of each column
    for (std::uint64_t r = a.rows(); r-- > 0;)
      for (std::uint64_t k = a.row_ptr(r + 1); k-- > a.row_ptr(r);)
        rows[--ptr[a.col_idx()[k]]] = static_cast<std::uint32_t>(r);
  }
};

/// Calls f(neighbour) for the vertices that row r shares an edge with, rising.
template <class F>
void each_neighbour(const CsrView& a, const Columns& columns, std::uint64_t r, F&& f) {
  const std::uint32_t* of_row = a.col_idx() + a.row_ptr(r);
  const std::uint32_t* const row_end = a.col_idx() + a.row_ptr(r + 1);
  const std::uint32_t* of_column = columns.rows.data() + columns.ptr[r];
  const std::uint32_t* const column_end = columns.rows.data() + columns.ptr[r + 1];
  while (of_row != row_end || of_column != column_end) {
    const std::uint32_t next = of_row == row_end         ? *of_column
                               : of_column == column_end ? *of_row
                                                         : std::min(*of_row, *of_column);
    if (of_row != row_end && *of_row == next) ++of_row;
    if (of_column != column_end && *of_column == next) ++of_column;
    if (next != r) f(next);
  }
}

struct Graph {
  Array<idx_t> ptr, neighbours, weights;  ///< weights: of vertices; empty if all weigh the same

  Graph(const CsrView& a, const GraphCut& cut, int threads) : ptr(a.rows() + 1) {
    const Columns columns(a);
    Array<std::uint64_t> ends(a.rows() + 1);
    ends[0] = 0;
    const auto each_row = [&](auto&& f) {
      constexpr std::uint64_t rows_per_task = 1U << 14;
      parallel_pieces(a.rows(), rows_per_task, threads, [&](std::uint64_t first, std::uint64_t last) {
        for (std::uint64_t r = first; r < last; ++r) f(r);
      });
    };
    each_row([&](std::uint64_t r) {
      std::uint64_t count = 0;
      each_neighbour(a, columns, r, [&](std::uint32_t /*neighbour*/) { ++count; });
      ends[r + 1] = count;
    });
    for (std::uint64_t r = 0; r < a.rows(); ++r) ends[r + 1] += ends[r];
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<idx_t>::max());
    // METIS adds up the weights in its integers, too.
    if (a.rows() > most || ends[a.rows()] > most || (cut.as_heavy_as_rows && a.nnz() > most - a.rows()))
      throw Error(errc::unsupported,
                  fmt::format("{} rows with {} neighbours are more than METIS {} of this build takes, {}", a.rows(),
                              ends[a.rows()], version, most),
                  {}, fmt::format("{}, or build with a METIS of 64-bit indices", cut.instead));
    for (std::uint64_t r = 0; r <= a.rows(); ++r) ptr[r] = static_cast<idx_t>(ends[r]);
    neighbours = Array<idx_t>(ends[a.rows()]);
    each_row([&](std::uint64_t r) {
      std::uint64_t k = ends[r];
      each_neighbour(a, columns, r, [&](std::uint32_t neighbour) { neighbours[k++] = static_cast<idx_t>(neighbour); });
    });
    if (!cut.as_heavy_as_rows) return;
    weights = Array<idx_t>(a.rows());
    for (std::uint64_t r = 0; r < a.rows(); ++r)
      weights[r] = static_cast<idx_t>(std::max<std::uint64_t>(a.row_length(r), 1));
  }
};

/// METIS draws its random numbers from rand(), which all threads share.
std::mutex& one_at_a_time() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace

std::string_view metis_version() noexcept { return metis().found() ? version : std::string_view{}; }

CountedVector<std::uint32_t> cut_rows(const CsrView& a, const GraphCut& cut, int threads) {
  if (!metis().found())
    throw Error(errc::unsupported,
                fmt::format("cutting {} rows needs METIS, and " SPMVPACK_METIS_SONAME " was not found", a.rows()), {},
                fmt::format("install METIS (on Debian libmetis5), or name its directory in LD_LIBRARY_PATH, or {}",
                            cut.instead));
  Graph graph(a, cut, threads);
  CountedVector<std::uint32_t> part_of(a.rows());
  if (graph.neighbours.empty()) {  // METIS refuses a graph without edges, of which any parts are as good
    for (std::uint64_t r = 0; r < a.rows(); ++r) part_of[r] = static_cast<std::uint32_t>(r * cut.parts / a.rows());
    return part_of;
  }
  // METIS's own memory, which it does not count: about three graphs, with weights, as it makes them smaller by half.
  const MemoryReservation counted(
      6 * sizeof(idx_t) * (graph.neighbours.size() + 2 * a.rows()),
      fmt::format("METIS for a graph of {} vertices and {} edges", a.rows(), graph.neighbours.size() / 2));
  Array<idx_t> found(a.rows());
  // Whatever decides the result is said, though most of it is METIS's default.
  std::array<idx_t, METIS_NOPTIONS> options{};
  metis().set_default_options(options.data());
  options[METIS_OPTION_OBJTYPE] = cut.fewest == Fewest::edges ? METIS_OBJTYPE_CUT : METIS_OBJTYPE_VOL;
  options[METIS_OPTION_CTYPE] = METIS_CTYPE_SHEM;
  options[METIS_OPTION_IPTYPE] = METIS_IPTYPE_METISRB;
  options[METIS_OPTION_RTYPE] = METIS_RTYPE_GREEDY;
  options[METIS_OPTION_NCUTS] = 1;
  options[METIS_OPTION_NITER] = 10;
  options[METIS_OPTION_UFACTOR] = 30;
  options[METIS_OPTION_SEED] = 1;
  options[METIS_OPTION_NUMBERING] = 0;
  auto vertices = static_cast<idx_t>(a.rows()), constraints = idx_t{1}, wanted = static_cast<idx_t>(cut.parts);
  idx_t value = 0;
  int status = METIS_OK;
  {
    const std::lock_guard lock(one_at_a_time());
    status = metis().part_graph_kway(&vertices, &constraints, graph.ptr.data(), graph.neighbours.data(),
                                     graph.weights.empty() ? nullptr : graph.weights.data(), nullptr, nullptr, &wanted,
                                     nullptr, nullptr, options.data(), &value, found.data());
  }
  if (status == METIS_ERROR_MEMORY)
    throw Error(errc::out_of_memory,
                fmt::format("METIS does not have enough memory to cut {} rows into {}", a.rows(), cut.parts), {},
                fmt::format("{}, or a machine with more memory", cut.instead));
  if (status != METIS_OK)
    throw Error(errc::unsupported, fmt::format("METIS cut {} rows into {} with status {}", a.rows(), cut.parts, status),
                {}, cut.instead);
  for (std::uint64_t r = 0; r < a.rows(); ++r) part_of[r] = static_cast<std::uint32_t>(found[r]);
  return part_of;
}

}  // namespace spmvpack::encoder
