#pragma once
/// The rule of `auto`, for encode and report alike: weigh() says what each strategy costs, choose() which one is taken.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spmvpack/container/base/export.hpp"
#include "spmvpack/container/matrix/csr_matrix.hpp"
#include "spmvpack/encoder/layout.hpp"
#include "spmvpack/encoder/time_model.hpp"

namespace spmvpack::encoder {

/// Whether the matrix has a million rows or more and at most one entry in a thousand of them, so that a multiply is
/// little more than writing y, and `auto` goes by bytes.
SPMVPACK_EXPORT bool is_hypersparse(const CsrView& a) noexcept;

/// Whether `auto` weighs the strategy for this matrix. For a hypersparse matrix the fewest bytes win, and plans must
/// take no time or memory for empty rows. That leaves the layouts that store nothing for them: coo, and, only if bytes
/// are minimised, ccoo, in which one warp of a GPU would write most of y. csr is planned for comparison, and not
/// chosen.
SPMVPACK_EXPORT bool is_weighed(const Strategy& strategy, const CsrView& a, const Aim& aim) noexcept;
/// What is_weighed() adds to a reason: ", as nearly all rows are empty", or nothing.
SPMVPACK_EXPORT std::string_view weighing_text(const CsrView& a) noexcept;

/// Whether `auto` takes the plan only if there is no other: because its fill reads x; or, for a matrix that is to be
/// updatable, because it holds_by_bits(), so that an update may be refused.
SPMVPACK_EXPORT bool is_left_out(const Plan& plan, const PlanOptions& options);

/// What `auto` compares: a strategy and the cost of its plan.
struct Candidate {
  std::string_view strategy;
  std::uint64_t device_bytes = 0;
  double seconds = 0;         ///< predicted_seconds() of the aim's target
  bool fill_reads_x = false;  ///< is_left_out(); or not is_weighed(), as neither is chosen
};
struct Choice {
  std::size_t index = 0;  ///< of the chosen candidate
  /// Time and bytes relative to csr, such as "42 % of csr's time (41.3 us predicted), 28.7 % of its bytes"; the bytes
  /// alone if they are what is minimised.
  std::string reason;
  std::optional<BesideCsr> beside_csr = {};  ///< unset without csr, or if bytes are what is minimised
};

/// The rule of `auto`, for both encode and report: the least predicted time wins, where saving all of csr's bytes is
/// worth 2 % of it; or the fewest device bytes. Ties go to the first. A candidate whose fill reads x is chosen only if
/// there is no other: whoever did not ask for it gets csr's result for every x. So is one that an update may find
/// unable to hold its values (is_left_out()), and one that encode() refuses for its
/// size. `candidates` must not be empty; `csr_bytes` are the device bytes of layout csr.
SPMVPACK_EXPORT Choice choose(std::span<const Candidate> candidates, std::uint64_t csr_bytes,
                              Objective optimize = Objective::time);

/// A search for what choose() would take if all candidates were made: those that are not have at least these bytes and
/// seconds. make(i) makes one, and says so: in `candidates` what it takes, and in `made` that it is made.
SPMVPACK_EXPORT Choice choose_by_making(const std::vector<Candidate>& candidates, const std::vector<bool>& made,
                                        std::uint64_t csr_bytes, Objective optimize,
                                        const std::function<void(std::size_t)>& make);

/// What `auto` weighs in place of a plan of the strategy that is_left_out(): the plan with Traits::without_fill, so
/// that whoever did not ask for the layout gets csr's result for every x. None if there is no such setting, if it was
/// given, or if that plan is refused.
SPMVPACK_EXPORT std::optional<Plan> plan_without_fill(const Strategy& strategy, const Plan& plan, const CsrView& a,
                                                      const PlanOptions& options);

/// A plan and what a multiply by it does.
struct PricedPlan {
  Plan plan;
  std::vector<Counter> work = {};  ///< work_of()
  double seconds = 0;              ///< predicted_seconds() of the aim's target
};
/// `rows`: of the matrix.
SPMVPACK_EXPORT PricedPlan price(Plan plan, std::uint64_t rows, const XSectors& x, const Aim& aim);

/// A strategy's plan as `auto` weighs it.
struct Weighed {
  const Strategy* strategy = nullptr;
  PricedPlan asked_for;                    ///< what the strategy's name stands for
  std::optional<PricedPlan> without_fill;  ///< plan_without_fill() of it
  Candidate candidate;                     ///< what is compared: the cost of taken()

  /// What `auto` takes if it chooses the strategy.
  [[nodiscard]] const PricedPlan& taken() const noexcept { return without_fill ? *without_fill : asked_for; }
  [[nodiscard]] PricedPlan& taken() noexcept { return without_fill ? *without_fill : asked_for; }
};
/// Plans the matrix by the strategy, which must outlive the result. Without `x`, as the fewest bytes need none, work
/// and seconds are left out. Errors: those of Strategy::plan; is_refusal() tells which of them leave other strategies
/// to be weighed.
SPMVPACK_EXPORT Weighed weigh(const Strategy& strategy, const CsrView& a, const PlanOptions& options,
                              const std::optional<XSectors>& x);

/// Why the plan is taken: Choice::reason, and how `auto` came to this plan.
SPMVPACK_EXPORT std::string reason_text(const Choice& choice, const Plan& taken, const CsrView& a);

}  // namespace spmvpack::encoder
