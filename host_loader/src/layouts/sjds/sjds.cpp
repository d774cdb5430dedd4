#include "spmvpack/container/layouts/sjds.hpp"

#include <algorithm>
#include <array>
#include <type_traits>

#include "layouts/compiled.hpp"
#include "layouts/sjds/sums.hpp"
#include "spmvpack/container/base/parallel.hpp"
#if SPMVPACK_HAS_V3
#include "layouts/sjds/lanes.hpp"
#include "layouts/sjds/wide.hpp"
#endif

namespace spmvpack::host_loader::layouts {
namespace {

using namespace sjds_sums;
namespace rules = launch_rules::sjds;

/// A part that takes so many bytes, about half of a last-level cache, is fetched ahead; one that is in the cache would
/// only take longer.
constexpr std::uint64_t fetched_from = 16U << 20U;
template <class A>
bool is_fetched(const PartView& part) {
  return part.info().counts[section_stream] * unit + part.info().nnz * sizeof(A) >= fetched_from;
}

namespace generic {

/// For any processor: nothing is read for a lane without an entry.
template <class V>
struct Lanes {
  std::array<V, lanes> v{};
  static Lanes all(V value) {
    Lanes r;
    r.v.fill(value);
    return r;
  }
  template <class A>
  SPMVPACK_INLINE static Lanes load(const A* p, std::uint32_t n = lanes) {
    Lanes r;
    for (std::uint32_t i = 0; i < n; ++i) r.v[i] = V{p[i]};
    return r;
  }
  template <class Columns>
  SPMVPACK_INLINE static Lanes gather(const V* x, const Columns& columns) {
    Lanes r;
    for (std::uint32_t i = 0; i < lanes; ++i) r.v[i] = x[columns[i]];
    return r;
  }
  struct Groups {
    explicit Groups(std::uint32_t /*first_lanes*/) {}
  };
  using Runs = Groups;
  template <class Columns>
  SPMVPACK_INLINE static Lanes gather(const V* x, const Columns& columns, Groups /*groups*/) {
    return gather(x, columns);
  }
  template <class Columns>
  SPMVPACK_INLINE static Lanes gather(const V* x, const Columns& columns, OneColumn /*one*/) {
    return all(x[columns[0]]);
  }
  SPMVPACK_INLINE static Lanes window(const V* from, EightPlaces places) { return gather(from, places); }
  struct Table {
    const V* values;
    explicit Table(const CodedValues<V>& coded) : values(coded.values.data()) {}
    [[nodiscard]] SPMVPACK_INLINE V one() const { return values[0]; }
    [[nodiscard]] SPMVPACK_INLINE Lanes of(std::uint32_t codes) const { return gather(values, EightPlaces{codes}); }
  };
  SPMVPACK_INLINE void add_products(const Lanes& a, const Lanes& b, std::uint32_t n = lanes) {
    for (std::uint32_t i = 0; i < n; ++i) v[i] = std::fma(a.v[i], b.v[i], v[i]);
  }
  SPMVPACK_INLINE void store(V* p) const { std::copy(v.begin(), v.end(), p); }
};

template <class Column>
using Columns = ColumnsInMemory<Column>;
constexpr std::size_t near_bytes = 0;

#define SPMVPACK_SJDS_INLINE SPMVPACK_INLINE
#define SPMVPACK_SJDS_TARGET SPMVPACK_TARGET_GENERIC
#include "layouts/sjds/loops.hpp"

}  // namespace generic

#if SPMVPACK_HAS_V3
namespace v3 {

template <class V>
using Lanes = LanesV3<V>;
template <class Column>
using Columns = EightColumns<Column>;
constexpr std::size_t near_bytes = 0;

#define SPMVPACK_SJDS_INLINE SPMVPACK_INLINE_V3
#define SPMVPACK_SJDS_TARGET SPMVPACK_TARGET_V3
#include "layouts/sjds/loops.hpp"

}  // namespace v3

namespace v4 {

template <class V>
using Lanes = LanesV4<V>;
template <class Column>
using Columns = EightColumns<Column>;
constexpr std::size_t near_bytes = 0;

#define SPMVPACK_SJDS_INLINE SPMVPACK_INLINE_V4
#define SPMVPACK_SJDS_TARGET SPMVPACK_TARGET_V4
#include "layouts/sjds/loops.hpp"

}  // namespace v4

namespace wide {

template <class V>
using Lanes = WideLanes<V>;
template <class Column>
using Columns = ColumnsInMemory<Column>;
/// Values of plain slices are fetched so far ahead, where gathers are fast; elsewhere it does not pay.
/// docs/notebook/HOST.md, "Constants".
constexpr std::size_t near_bytes = 512;

#define SPMVPACK_SJDS_INLINE SPMVPACK_INLINE_V4
#define SPMVPACK_SJDS_TARGET SPMVPACK_TARGET_V4
#include "layouts/sjds/loops.hpp"

}  // namespace wide
#endif

template <class A, class V>
using Kernel = void (*)(const Product<A, V>&, const Share&);

template <class A, class V, Values values, bool fetched>
Kernel<A, V> kernel_of() {
#if SPMVPACK_HAS_V4
  if constexpr (std::is_same_v<V, double> && !fetched)
    if (use_gathers()) return wide::share<A, V, values, false>;
  if (use_v4()) return v4::share<A, V, values, fetched>;
#endif
#define SPMVPACK_IF(name, target, has) \
  if (has) return name::share<A, V, values, fetched>;
  SPMVPACK_COMPILED_SETS(SPMVPACK_IF)
#undef SPMVPACK_IF
  no_set();
}

/// Values of parts that are not fetched ahead, copied so that each slice's begin at a multiple of eight: as tails are
/// packed, the values of nearly all steps would lie in two cache lines each, which some processors bring from the
/// second cache at half the speed. None where that takes more than a quarter of what the limit of memory leaves: x, y
/// and what else is loaded have to fit, too.
struct AlignedValues {
  Array<Slice> slices;  ///< with their places in `values`; none if nothing was copied
  Array<std::byte> values;

  template <class A>
  AlignedValues(const View<A>& v, bool wanted, int threads) {
    if (!wanted || v.source != Source::raw) return;
    std::uint64_t count = 0;
    for (std::uint64_t s = 0; s < v.slice_count; ++s) count += aligned_entries(v.slices[s]);
    const std::shared_ptr<MemoryBudget> budget = current_budget();
    if (budget != nullptr && budget->left() / 4 < count * sizeof(A) + v.slice_count * sizeof(Slice)) return;
    try {
      slices = Array<Slice>(v.slice_count);
      values = Array<std::byte>(count * sizeof(A));
    } catch (const Error& e) {
      if (e.code() != errc::out_of_memory) throw;
      slices = Array<Slice>();  // an outer limit leaves less
      return;
    }
    count = 0;
    for (std::uint64_t s = 0; s < v.slice_count; ++s) {
      slices[s] = v.slices[s];
      slices[s].values = static_cast<std::uint32_t>(count);
      count += aligned_entries(slices[s]);
    }
    copy(v, threads);
  }
  template <class A>
  void copy(const View<A>& v, int threads) {
    auto* const to = reinterpret_cast<A*>(values.data());
    parallel_items(slices.size(), 4096, threads, [&](std::uint64_t s) {
      const A* const from = v.values + v.slices[s].values;
      std::copy(from, from + slices[s].entries(), to + slices[s].values);
    });
  }
  [[nodiscard]] bool empty() const { return slices.size() == 0; }
  template <class A>
  [[nodiscard]] View<A> view(View<A> v) const {
    if (empty()) return v;
    v.slices = slices.data();
    v.values = reinterpret_cast<const A*>(values.data());
    return v;
  }
};

/// The pieces of long rows in the order of the visits, the shares of a team, the kinds of slices, and their values
/// where these are copied.
struct Order final : LayoutState {
  Array<PieceVisit> visits;
  Array<Cut> cuts;
  OtherRows others;
  Array<Share> shares;
  Array<Kind> kinds;  ///< of slices of rows; none if few have one
  AlignedValues aligned;

  [[nodiscard]] bool copies_values() const noexcept override { return !aligned.empty(); }
  template <class A>
  Order(const View<A>& v, bool fetched, int share_count, int threads)
      : visits(visits_of(v)),
        cuts(cuts_of(v, visits, static_cast<std::uint64_t>(share_count))),
        others(v, cuts),
        shares(shares_of(v, cuts, others)),
        kinds(kinds_of(v, threads)),
        aligned(v, !fetched, threads) {}

 private:
  template <class A>
  static Array<PieceVisit> visits_of(const View<A>& v) {
    Array<PieceVisit> visits(v.piece_count);
    for (std::uint64_t i = 0; i < v.piece_count; ++i)
      visits[i] = {static_cast<std::uint32_t>(i), columns_of(SliceView::of(v, v.row_slices() + i))};
    std::stable_sort(visits.begin(), visits.end(),
                     [](const PieceVisit& a, const PieceVisit& b) { return a.columns.first < b.columns.first; });
    return visits;
  }
  template <class A>
  static Array<Kind> kinds_of(const View<A>& v, int threads) {
    Array<Kind> kinds(v.row_slices());
    parallel_items(kinds.size(), 4096, threads,
                   [&](std::uint64_t s) { kinds[s] = rules::kind_of(SliceView::of(v, s)); });
    const auto without = static_cast<std::uint64_t>(std::count(kinds.begin(), kinds.end(), rules::any));
    return rules::worth_kinds(kinds.size() - without, kinds.size()) ? std::move(kinds) : Array<Kind>();
  }
  /// About: of its first and its last steps.
  static PieceColumns columns_of(const SliceView& piece) {
    const Slice& slice = piece.slice;
    PieceColumns columns{~0U, 0};
    const auto take = [&](std::uint64_t column) {
      columns.first = std::min(columns.first, static_cast<std::uint32_t>(column));
      columns.last = std::max(columns.last, static_cast<std::uint32_t>(column));
    };
    if (slice.windows() != 0) {
      take(piece.window_steps()[0].column(0));
      take(piece.window_steps()[slice.windows() - 1].column(lanes - 1));
    }
    if (const std::uint64_t others = std::uint64_t{slice.steps()} * lanes + slice.tail_entries(); others != 0) {
      take(piece.column(0));
      take(piece.column(others - 1));
    }
    return columns;
  }
};

template <class A, class V, Values values>
void multiply(const PartView& part, const Order& order, const View<A>& v, const CodedValues<V>& coded, bool fetched,
              const Operands<V>& to, int threads) {
  Array<V> piece_sums(v.piece_count);
  const Product<A, V> p{order.aligned.view(v),
                        to,
                        coded,
                        order.others,
                        order.kinds.size() == 0 ? nullptr : order.kinds.data(),
                        order.visits.data(),
                        piece_sums.data()};
  const Kernel<A, V> kernel = fetched ? kernel_of<A, V, values, true>() : kernel_of<A, V, values, false>();
  const int team = worth_threads(part.info().nnz, threads), count = share_count(part.info().nnz, team);
  const auto shares = static_cast<std::uint64_t>(count);
  Array<Share> others;  // if it was loaded for other threads
  if (order.shares.size() != shares) others = shares_of(v, cuts_of(v, order.visits, shares), order.others);
  const Array<Share>& dealt = others.empty() ? order.shares : others;
  parallel_shares(count, team, [&](int i) { kernel(p, dealt[static_cast<std::uint64_t>(i)]); });
  // Sums of long rows are added up in the order of their pieces. Their windows have been scaled.
  const Operands<V> scaled = p.to_scaled();
  for (std::uint64_t i = 0; i < v.piece_count;) {
    const std::uint32_t row = v.slices[v.row_slices() + i].row;
    V sum = piece_sums[i];
    for (++i; i < v.piece_count && v.slices[v.row_slices() + i].continues(); ++i) sum = sum + piece_sums[i];
    scaled.put(row, sum);
  }
}

std::unique_ptr<LayoutState> prepare_sjds(const PartView& part, int threads) {
  const std::uint64_t nnz = part.info().nnz;
  const int shares = share_count(nnz, worth_threads(nnz, threads));
  return dispatch(part.info().value_type, [&]<class A>(A) {
    return std::make_unique<Order>(view<A>(part), is_fetched<A>(part), shares, threads);
  });
}

void copy_values_of_sjds(const PartView& part, LayoutState& state, int threads) {
  dispatch(part.info().value_type,
           [&]<class A>(A) { static_cast<Order&>(state).aligned.copy(view<A>(part), threads); });
}

template <class A, class V>
void multiply_sjds(const PartView& part, const LayoutState* state, const Operands<V>& operands, int threads) {
  const auto& order = *static_cast<const Order*>(state);
  const View<A> v = view<A>(part);
  const bool fetched = is_fetched<A>(part);
  CodedValues<V> coded;
  if (v.source == Source::raw)
    return multiply<A, V, Values::raw>(part, order, v, coded, fetched || order.aligned.empty(), operands, threads);
  for (std::uint64_t i = 0; i < part.info().counts[section_values]; ++i)
    coded.values.at(coded.count++) = V{v.values[i]};
  // Whatever type they were stored in, loops read no others.
  const View<V> without_values{v.windows,     v.slices,      v.stream, nullptr, v.codes,       v.window_count,
                               v.slice_count, v.piece_count, v.rows,   v.cols,  v.window_rows, v.source};
  if (coded.count == 1)
    multiply<V, V, Values::one>(part, order, without_values, coded, fetched, operands, threads);
  else
    multiply<V, V, Values::code>(part, order, without_values, coded, fetched, operands, threads);
}

}  // namespace

SPMVPACK_HOST_LAYOUT(sjds, multiply_sjds, .prepare = prepare_sjds, .copy_values = copy_values_of_sjds)

}  // namespace spmvpack::host_loader::layouts
