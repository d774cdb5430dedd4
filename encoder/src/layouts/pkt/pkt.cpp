#include "spmvpack/container/layouts/pkt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <numeric>
#include <utility>

#include "falling_sort.hpp"
#include "layouts/pkt/packets.hpp"
#include "layouts/pkt/pkt_work.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "strategies/strategies.hpp"

namespace spmvpack::encoder::layouts {
namespace pkt_plans {
namespace {

using namespace spmvpack::layouts::pkt;  // what the bytes mean

constexpr std::array<Setting, 2> settings{
    Setting{"pkt.rows", "1 to 3072", "most rows of a packet, 3072 unless set: 48 KiB of x and y in f64"},
    Setting{"pkt.threads", "1 to 1024", "threads that share a packet's rows, 512 unless set"}};

constexpr std::uint64_t default_threads = 512;
constexpr std::uint64_t packets_per_task = 4;
/// Threads of a multiprocessor that hide one another's waiting for loads.
constexpr std::uint64_t busy_threads = 1024;
constexpr std::uint64_t loads_at_once = 4;  ///< steps that a thread of a GPU loads together; x is near

struct Choices {
  std::shared_ptr<const Packets> packets;
  std::uint64_t threads = 0;
  CountedVector<std::uint32_t> step_ptr;    ///< of each packet
  CountedVector<std::uint16_t> thread;      ///< by place in Packets::rows
  CountedVector<std::uint32_t> first_step;  ///< likewise, in its packet
};

/// The entries of a row that are inside of its packet.
std::uint64_t inside_of(const CsrView& a, const Packets& packets, std::uint64_t row) {
  std::uint64_t n = 0;
  for (std::uint64_t k = a.row_ptr(row); k < a.row_ptr(row + 1); ++k) n += packets.has(row, a.col_idx()[k]) ? 1 : 0;
  return n;
}

/// Deals the rows of packets to threads: the longest first, each to the thread that has the fewest entries, of several
/// to the first. Those of a thread then come in their own order.
class Dealer {
 public:
  Dealer(const CsrView& a, Choices& choices) : a_(a), c_(choices) {}

  struct Dealt {
    std::uint64_t steps, entries;
  };
  Dealt deal(std::uint64_t p) {
    const Packets& packets = *c_.packets;
    const std::uint64_t begin = packets.ptr[p], count = packets.ptr[p + 1] - begin;
    lengths_.resize(count);
    order_.resize(count);
    std::iota(order_.begin(), order_.end(), 0U);
    std::uint64_t entries = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      lengths_[i] = static_cast<std::uint32_t>(inside_of(a_, packets, packets.rows[begin + i]));
      entries += lengths_[i];
    }
    sort_(order_, [&](std::uint32_t i) { return lengths_[i]; });
    loads_.clear();
    for (std::uint32_t t = 0; t < c_.threads; ++t) loads_.emplace_back(0, t);  // a heap, as all are alike
    for (const std::uint32_t i : order_) {
      if (lengths_[i] == 0) break;
      std::pop_heap(loads_.begin(), loads_.end(), std::greater<>());
      c_.thread[begin + i] = static_cast<std::uint16_t>(loads_.back().second);
      loads_.back().first += lengths_[i];
      std::push_heap(loads_.begin(), loads_.end(), std::greater<>());
    }
    next_.assign(c_.threads, 0);
    for (std::uint64_t i = 0; i < count; ++i)
      c_.first_step[begin + i] = std::exchange(next_[c_.thread[begin + i]], next_[c_.thread[begin + i]] + lengths_[i]);
    return {*std::max_element(next_.begin(), next_.end()), entries};
  }

 private:
  CsrView a_;
  Choices& c_;
  std::vector<std::uint32_t> lengths_, order_, next_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> loads_;  ///< entries, thread
  FallingSort sort_;
};

PartPlan plan(const PartMatrix& part, const PlanOptions& options) {
  PartPlan plan = plan_packets(part, cut_into_packets(part.a, options), options);
  if (plan.info.nnz != part.a.nnz())
    throw Error(
        errc::unsupported,
        fmt::format("pkt: {} of {} entries are outside of the packets", part.a.nnz() - plan.info.nnz, part.a.nnz()), {},
        "encode the matrix by the strategy pkt, which has them in a second part");
  return plan;
}

/// Calls f(slot, entry) for the entries of the packets that have any of the slots [begin, end).
template <class F>
void each_slot(const Choices& c, const CsrView& a, std::uint64_t begin, std::uint64_t end, F&& f) {
  const std::uint64_t first_step = begin / c.threads;
  // Of packets without steps, the last one.
  auto p = static_cast<std::uint64_t>(std::upper_bound(c.step_ptr.begin(), c.step_ptr.end(), first_step) -
                                      c.step_ptr.begin() - 1);
  for (const Packets& packets = *c.packets; p < packets.count() && c.step_ptr[p] * c.threads < end; ++p)
    for (std::uint64_t i = packets.ptr[p]; i < packets.ptr[p + 1]; ++i) {
      const std::uint64_t row = packets.rows[i];
      std::uint64_t slot = (c.step_ptr[p] + std::uint64_t{c.first_step[i]}) * c.threads + c.thread[i];
      for (std::uint64_t k = a.row_ptr(row); k < a.row_ptr(row + 1); ++k)
        if (packets.has(row, a.col_idx()[k])) f(slot, p, i - packets.ptr[p], k), slot += c.threads;
    }
}

void fill_local(const Choices& c, const CsrView& a, std::uint64_t begin, std::span<std::byte> out) {
  if (out.empty()) return;
  std::memset(out.data(), 0xFF, out.size());
  static_assert(LocalIndex::padding == 0xFFFFFFFF);
  const Packets& packets = *c.packets;
  each_slot(c, a, begin / 4, div_up(begin + out.size(), 4),
            [&](std::uint64_t slot, std::uint64_t p, std::uint64_t row, std::uint64_t k) {
              if (slot * 4 + 4 <= begin || slot * 4 >= begin + out.size()) return;
              const auto first = packets.rows.begin() + packets.ptr[p],
                         last = packets.rows.begin() + packets.ptr[p + 1];
              const auto column = static_cast<std::uint32_t>(std::lower_bound(first, last, a.col_idx()[k]) - first);
              const LocalIndex at = LocalIndex::of(static_cast<std::uint32_t>(row), column);
              copy_overlap(begin, out, slot * 4, std::as_bytes(std::span(&at.bits, 1)));
            });
}

void fill_values(const Choices& c, const CsrView& a, std::uint64_t begin, std::span<std::byte> out) {
  if (out.empty()) return;
  std::memset(out.data(), 0, out.size());
  dispatch(a.value_type(), [&]<class T>(T) {
    const auto* const values = static_cast<const bits_of<T>*>(a.value_bytes());
    each_slot(c, a, begin / sizeof(T), div_up(begin + out.size(), sizeof(T)),
              [&](std::uint64_t slot, std::uint64_t /*packet*/, std::uint64_t /*row*/, std::uint64_t k) {
                copy_overlap(begin, out, slot * sizeof(T), std::as_bytes(std::span(values + k, 1)));
              });
  });
}

void fill(const PartPlan& plan, const CsrView& a, std::size_t section, std::uint64_t begin, std::span<std::byte> out) {
  const auto& c = choices_of<Choices>(plan);
  switch (section) {
    case 0:
      return copy_from(c.packets->ptr.data(), begin, out);
    case 1:
      return copy_from(c.step_ptr.data(), begin, out);
    case 2:
      return copy_from(c.packets->rows.data(), begin, out);
    case 3:
      return fill_local(c, a, begin, out);
    default:
      return fill_values(c, a, begin, out);
  }
}

}  // namespace
}  // namespace pkt_plans

PartPlan plan_packets(const PartMatrix& part, std::shared_ptr<const Packets> packets, const PlanOptions& options) {
  using namespace pkt_plans;
  const CsrView& a = part.a;
  const auto choices = std::make_shared<Choices>();
  choices->packets = std::move(packets);
  const Packets& all = *choices->packets;
  choices->threads = read_setting(options, "pkt.threads", 1, max_packet_threads, {}).value_or(default_threads);
  choices->thread.resize(a.rows());
  choices->first_step.resize(a.rows());
  CountedVector<std::uint64_t> ends(all.count() + 1);
  std::atomic<std::uint64_t> inside{0};
  parallel_pieces(all.count(), packets_per_task, options.threads, [&](std::uint64_t first, std::uint64_t last) {
    Dealer dealer(a, *choices);
    for (std::uint64_t p = first; p < last; ++p) {
      const Dealer::Dealt dealt = dealer.deal(p);
      ends[p + 1] = dealt.steps;
      inside += dealt.entries;
    }
  });
  std::uint64_t longest = 0, largest = 0;
  for (std::uint64_t p = 0; p < all.count(); ++p) {
    longest = std::max(longest, ends[p + 1]);
    largest = std::max<std::uint64_t>(largest, all.ptr[p + 1] - all.ptr[p]);
    ends[p + 1] += ends[p];
  }
  const std::uint64_t steps = ends.back();
  if (steps > max_steps)
    throw Error(errc::unsupported, fmt::format("pkt: {} steps", steps), {},
                "set pkt.threads to more, or use another layout");
  choices->step_ptr.assign(ends.begin(), ends.end());

  PartPlan plan = begin_plan(layout, part);
  plan.info.nnz = inside;
  plan.info.params[param_packet_rows] = largest;
  plan.info.params[param_threads] = choices->threads;
  plan.info.counts[section_packet_ptr] = all.count() + 1;
  plan.info.counts[section_local_idx] = checked_mul(steps, choices->threads, "slots of pkt");
  add_sections(plan, sections);
  share_by_section(plan);
  plan.padding = slots_of(plan.info) - plan.info.nnz;
  plan.near_entries = plan.info.nnz;
  plan.work = {{Work::multiplies, 1},
               {Work::slots, slots_of(plan.info)},
               {Work::chain, all.count() * choices->threads < busy_threads * device_of(options).multiprocessors
                                 ? div_up(longest, loads_at_once)
                                 : 0}};
  plan.counters = {main_choice("packets", all.count()), main_choice("packet_rows", largest),
                   {"threads", choices->threads},       {"steps", steps},
                   {"entries.inside", plan.info.nnz},   {"entries.outside", a.nnz() - plan.info.nnz}};
  keep_choices(plan, choices);
  return plan;
}

extern const LayoutEncoder pkt{.name = "pkt",
                               .summary = "packets of rows whose x fits into shared memory; coo for the rest",
                               .suits = "meshes in any order of their points, if METIS is built in",
                               .settings = pkt_plans::settings,
                               .plan = pkt_plans::plan,
                               .fill = pkt_plans::fill,
                               .traits = {.reproduction = true, .by_name_only = true},
                               .plan_matrix = strategy::plan_pkt};

}  // namespace spmvpack::encoder::layouts
