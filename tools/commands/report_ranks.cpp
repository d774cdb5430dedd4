#include "commands/report_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "json.hpp"
#include "short_text.hpp"
#include "spmvpack/container/base/text.hpp"

namespace spmvpack::tools {
namespace {

using analyzer::RankPlan;

/// Entries of a row, "84.1" or "1,040".
std::string entries_text(const std::optional<double>& entries) {
  constexpr double exact = 1000;
  if (!entries) return "-";
  return *entries < exact ? fmt::format("{:.3g}", *entries)
                          : grouped(static_cast<std::uint64_t>(std::llround(std::min(*entries, 1e15))));
}

std::string line(const std::string& rank, const std::string& rows, const std::string& nonzeros,
                 const std::string& bytes, const std::string& ghosts, const std::string& from, const std::string& to,
                 const std::string& received, const std::string& sent, const std::string& share) {
  return fmt::format("{:>4}{:>9}{:>9}{:>9}{:>9}{:>6}{:>6}{:>10}{:>9}{:>9}\n", rank, rows, nonzeros, bytes, ghosts, from,
                     to, received, sent, share);
}

std::string mode_text(std::string_view mode, double seconds, const analyzer::RanksPlan& plan) {
  return fmt::format("  {:<9}{:>9}, {} of {} times one rank's\n", mode, time_text(seconds),
                     percent_text(plan.efficiency(seconds)), plan.ranks.size());
}

}  // namespace

std::string ranks_text(const NamedPlan& named) {
  const analyzer::RanksPlan& plan = named.plan;
  const auto worst = std::max_element(plan.ranks.begin(), plan.ranks.end(),
                                      [](const RankPlan& a, const RankPlan& b) { return a.share < b.share; });
  std::uint64_t most = 0, sent = 0, messages = 0;
  for (const RankPlan& r : plan.ranks) {
    most = std::max(most, r.nnz);
    sent += r.sent_bytes;
    messages += r.sent_messages;
  }
  std::string text = fmt::format("{}: {} x {}, {}, {} (--partition {})\n\n", escape(named.name, 4096),
                                 grouped(plan.rows), grouped(plan.cols), counted(plan.nnz, "nonzero"),
                                 counted(plan.ranks.size(), "rank"), named.partition);
  text += fmt::format("{:31}{:>21}{:>10}{:>9}{:>9}\n", fmt::format("{:>31}", "csr's"), "messages", "bytes", "bytes",
                      "exchange");
  text += line("rank", "rows", "nonzeros", "bytes", "ghosts", "from", "to", "received", "sent", "of time");
  for (std::size_t i = 0; i < plan.ranks.size(); ++i) {
    const RankPlan& r = plan.ranks[i];
    text += line(fmt::to_string(i), short_count(r.rows), short_count(r.nnz), short_count(r.csr_bytes),
                 short_count(r.ghosts), fmt::to_string(r.received_messages), fmt::to_string(r.sent_messages),
                 short_count(r.received_bytes), short_count(r.sent_bytes), percent_text(r.share));
  }
  text += fmt::format("\nall        {} in {}; most nonzeros {:.3f} times the mean\n", counted(sent, "byte"),
                      counted(messages, "message"),
                      plan.nnz == 0 ? 1.0
                                    : static_cast<double>(most) * static_cast<double>(plan.ranks.size()) /
                                          static_cast<double>(plan.nnz));
  text += fmt::format("predicted  at {:.4g} GB/s of memory, {:.4g} GB/s of the link, {:.3g} us a message\n",
                      plan.speeds.memory * 1e-9, plan.speeds.link * 1e-9, plan.speeds.latency * 1e6);
  text += fmt::format("  {:<9}{:>9}\n", "one rank", time_text(plan.one_rank_seconds));
  text += mode_text("vector", plan.vector_seconds, plan);
  text += mode_text("naive", plan.naive_seconds, plan);
  text += mode_text("task", plan.task_seconds, plan);
  text += fmt::format(
      "  rank {} has {} entries a row. Its exchange takes longer than its multiply\n"
      "           below {} (equation 3), less than a tenth of that from {} (4)\n",
      worst - plan.ranks.begin(), entries_text(worst->entries_per_row), entries_text(worst->dominated_below),
      entries_text(worst->tenth_from));
  return text;
}

std::string ranks_json(const NamedPlan& named) {
  const analyzer::RanksPlan& plan = named.plan;
  const auto mode = [&](double seconds) {
    return Json{{"seconds", seconds}, {"efficiency", plan.efficiency(seconds)}};
  };
  Json json{{"schema", "spmvpack-ranks-1"},
            {"name", named.name},
            {"partition", named.partition},
            {"rows", plan.rows},
            {"columns", plan.cols},
            {"nonzeros", plan.nnz},
            {"memory_bytes_per_second", plan.speeds.memory},
            {"link_bytes_per_second", plan.speeds.link},
            {"latency_seconds", plan.speeds.latency},
            {"one_rank_seconds", plan.one_rank_seconds},
            {"vector", mode(plan.vector_seconds)},
            {"naive", mode(plan.naive_seconds)},
            {"task", mode(plan.task_seconds)},
            {"ranks", Json::array()}};
  for (const RankPlan& r : plan.ranks)
    json["ranks"].push_back({{"rows", r.rows},
                             {"nonzeros", r.nnz},
                             {"own_columns", r.own_cols},
                             {"ghosts", r.ghosts},
                             {"ghost_nonzeros", r.ghost_nnz},
                             {"ghost_rows", r.ghost_rows},
                             {"csr_bytes", r.csr_bytes},
                             {"received_messages", r.received_messages},
                             {"sent_messages", r.sent_messages},
                             {"received_bytes", r.received_bytes},
                             {"sent_bytes", r.sent_bytes},
                             {"multiply_seconds", r.multiply_seconds},
                             {"local_seconds", r.local_seconds},
                             {"ghost_seconds", r.ghost_seconds},
                             {"exchange_seconds", r.exchange_seconds},
                             {"exchange_share", r.share},
                             {"entries_per_row", optional_json(r.entries_per_row)},
                             {"exchange_dominates_below", optional_json(r.dominated_below)},
                             {"exchange_is_a_tenth_from", optional_json(r.tenth_from)}});
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace spmvpack::tools
