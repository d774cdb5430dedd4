#include "encoding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "spmvpack/container/base/instruction_set.hpp"
#include "spmvpack/container/base/memory.hpp"
#include "spmvpack/container/base/parallel.hpp"
#include "spmvpack/container/base/text.hpp"
#include "spmvpack/container/layouts/csr.hpp"
#include "spmvpack/container/matrix/assemble.hpp"
#include "spmvpack/encoder/encode.hpp"
#include "spmvpack/encoder/time_model.hpp"
#include "spmvpack/encoder/weigh.hpp"

namespace spmvpack::petsc {
namespace {

using encoder::PartIndices;
using encoder::Plan;
using encoder::PlanOptions;

/// The rows of a matrix that have entries, as a matrix of their own that shares its columns and values.
class FilledRows final : public encoder::PartEntries {
 public:
  explicit FilledRows(const CsrView& a) {
    row_ptr_.push_back(0);
    for (std::uint64_t r = 0; r < a.rows(); ++r) {
      if (a.row_length(r) == 0) continue;
      list_.push_back(static_cast<std::uint32_t>(r));
      row_ptr_.push_back(a.row_ptr(r + 1));
    }
  }
  [[nodiscard]] CsrView of(const CsrView& whole) const override {
    return dispatch(whole.value_type(), [&]<class T>(T) {
      return CsrView(list_.size(), whole.cols(), std::span<const std::uint64_t>(row_ptr_),
                     std::span(whole.col_idx(), whole.nnz()), std::span(whole.values<T>(), whole.nnz()));
    });
  }
  [[nodiscard]] const CountedVector<std::uint32_t>& list() const noexcept { return list_; }

 private:
  CountedVector<std::uint32_t> list_;
  CountedVector<std::uint64_t> row_ptr_;
};

std::uint64_t filled_rows(const CsrView& a) {
  std::uint64_t filled = 0;
  for (std::uint64_t r = 0; r < a.rows(); ++r) filled += a.row_length(r) != 0 ? 1 : 0;
  return filled;
}

std::uint64_t csr_bytes_of(const CsrView& a) { return layouts::csr::device_bytes(a.rows(), a.nnz(), a.value_type()); }

/// Error(errc::unsupported) unless any values can take the place of those that are encoded.
void require_any_values(const Plan& plan) {
  if (!plan.updatable() || plan.holds_by_bits())
    throw Error(errc::unsupported, fmt::format("{} cannot take any new values", plan.layouts()), {},
                "take another layout");
}

/// A plan and how long its multiply is predicted to take.
struct Planned {
  Plan plan;
  double seconds = 0;
};

class Planner {
 public:
  /// Lists the rows that have entries where that is worth its bytes.
  Planner(const CsrView& a, std::uint64_t filled, const EncodingOptions& options)
      : a_(a), x_(encoder::x_sectors(a, options.threads, encoder::profile_of(options.aim).x_caches)) {
    plan_options_.threads = options.threads;
    plan_options_.aim = options.aim;
    plan_options_.updatable = options.updatable;
    if (filled < a.rows() / 2) filled_ = std::make_shared<const FilledRows>(a);
  }

  /// Error(errc::unsupported), or another refusal, if the layout cannot take the matrix.
  Planned plan(const std::string& layout) {
    if (filled_ != nullptr && layout == "auto") return best_of_filled();
    for (const encoder::LayoutEncoder& one : encoder::layout_encoders())
      if (filled_ != nullptr && one.name == layout) return timed(plan_of_filled(one));
    return timed(encoder::find_strategy(layout).plan(a_, plan_options_));
  }

 private:
  Planned timed(Plan plan) const {
    std::vector<encoder::Counter> work = encoder::work_of(plan, a_.rows(), x_);
    if (filled_ != nullptr)  // such blocks add to what others have computed: nothing passes over y
      std::erase_if(work, [](const encoder::Counter& c) { return c.name.starts_with("y."); });
    const double seconds = encoder::predicted_seconds(work, encoder::profile_of(plan_options_.aim));
    return {std::move(plan), seconds};
  }
  /// One part over the list of the rows that have entries.
  Plan plan_of_filled(const encoder::LayoutEncoder& layout) const {
    Plan plan;
    plan.strategy = layout.name;
    plan.parts.push_back(
        layout.plan({filled_->of(a_), PartIndices::of(filled_->list()), PartIndices::all(a_.cols()), nullptr, filled_},
                    plan_options_));
    return plan;
  }
  /// What `auto` does, over the layouts: a part is what a strategy would cut.
  Planned best_of_filled() const {
    std::vector<Planned> plans;
    std::vector<encoder::Candidate> candidates;
    for (const encoder::LayoutEncoder& layout : encoder::layout_encoders()) {
      if (layout.traits.reproduction || !layout.traits.suits_target(plan_options_.aim.target)) continue;
      try {
        plans.push_back(timed(plan_of_filled(layout)));
      } catch (const Error& e) {
        if (!encoder::is_refusal(e)) throw;
        continue;
      }
      const Planned& last = plans.back();
      candidates.push_back(
          {layout.name, last.plan.device_bytes(), last.seconds, encoder::is_left_out(last.plan, plan_options_)});
    }
    const encoder::Choice choice = encoder::choose(candidates, csr_bytes_of(a_), plan_options_.aim.optimize);
    Planned best = std::move(plans[choice.index]);
    best.plan.reason = choice.reason;
    return best;
  }

  const CsrView& a_;
  encoder::XSectors x_;
  PlanOptions plan_options_;
  std::shared_ptr<const FilledRows> filled_;
};

encoder::EncodeRequest request_of(const EncodingOptions& options) {
  encoder::EncodeRequest request;
  request.strategy = options.layout;
  request.aim = options.aim;
  request.threads = options.threads;
  request.updatable = options.updatable;
  return request;
}

Container container_of(const CsrView& a, const Plan& plan, const EncodingOptions& options) {
  Provenance provenance;
  provenance.entries = a.nnz();
  WriteOptions write;
  write.threads = options.threads;
  MemorySink sink;
  write_container(
      sink,
      encoder::container_source(encoder::facts_of(a, options.threads), provenance, {a, plan}, request_of(options)),
      write);
  return Container::open(memory_source(sink.take()), "memory");
}

void note_plan(Encoding& result, const Plan& plan) {
  result.layout = plan.layouts();
  result.bytes = plan.device_bytes();
  result.reason = plan.reason;
}

/// Whether `auto` gains enough; the reason why not, otherwise.
bool gains(Encoding& result, double share, const EncodingOptions& options) {
  const double at_most = options.at_most.value_or(EncodingOptions::default_at_most());
  if (share <= at_most) return true;
  result.reason = fmt::format("{} would take {} of csr's time, more than {}", result.layout, percent_text(share),
                              percent_text(at_most));
  return false;
}

/// How many multiplies by csr an update of the matrix takes on a host.
double update_in_multiplies(const Plan& plan) {
  double most = 0;
  for (const encoder::PartPlan& part : plan.parts)
    most = std::max(most, encoder::find_layout_encoder(part.info.layout).traits.update_multiplies);
  return most;
}

/// Of an updatable matrix on a host, what takes least from one update to the next, with the update: the plan that
/// multiplies fastest; csr, which is updated fastest; or AIJ, which is null. The result has the reason.
const Planned* least_with_updates(Encoding& result, const Planned& best, const Planned& csr,
                                  const EncodingOptions& options) {
  constexpr double never = std::numeric_limits<double>::infinity();
  const double multiplies = options.multiplies_per_update, share = best.seconds / csr.seconds;
  const double of_aij = multiplies * options.aij_over_csr;
  double of_best = never, of_csr = never, pays_from = never;
  const auto weigh = [&](const Planned& planned, double of_csr_time) {
    const double update = update_in_multiplies(planned.plan);
    if (of_csr_time < options.aij_over_csr)
      pays_from = std::min(pays_from, update / (options.aij_over_csr - of_csr_time));
    return multiplies * of_csr_time + update;
  };
  if (options.at_most.value_or(1) >= 1) of_csr = weigh(csr, 1);
  if (gains(result, share, options)) of_best = weigh(best, share);
  if (of_best <= of_csr && of_best < of_aij) return &best;
  const std::string with = fmt::format("with {:.0f} multiplies from one update to the next", multiplies);
  if (of_csr < of_aij) {
    if (of_best != never) result.reason = fmt::format("{}, updates of {} would cost more", with, result.layout);
    return &csr;
  }
  if (pays_from != never) {
    result.reason = with + ", updates would cost more than is gained";
    result.pays_from = pays_from;
  }
  return nullptr;
}

void load_encoded(Encoding& result, Container container, const EncodingOptions& options) {
  if (options.for_device) {
    result.container.emplace(std::move(container));
    return;
  }
  LoadOptions load;  // the bytes are our own: nothing has changed them
  load.threads = options.threads;
  load.verify_checksums = false;
  load.check_structure = false;
  load.updatable = options.updatable;
  result.matrix.emplace(host_loader::HostMatrix::load(container, load));
}

void encode_tuned(Encoding& result, const CsrView& a, const EncodingOptions& options) {
  encoder::EncodeRequest request = request_of(options);
  request.tuner = options.tuner;
  MemorySink sink;
  const encoder::EncodeResult encoded = encoder::encode(a, request, sink);
  note_plan(result, encoded.plan);
  if (options.updatable) require_any_values(encoded.plan);
  const std::optional<encoder::BesideCsr>& beside = encoded.plan.beside_csr;
  if (!beside || gains(result, beside->seconds / beside->csr_seconds, options))
    load_encoded(result, Container::open(memory_source(sink.take()), "memory"), options);
}

Encoding encode_sorted(const CsrView& a, const EncodingOptions& options) {
  Encoding result;
  result.updatable = options.updatable;
  result.csr_bytes = csr_bytes_of(a);
  result.filled_rows = filled_rows(a);
  const bool chooses = options.layout == "auto";
  if (chooses && options.tuner && result.filled_rows >= a.rows() / 2) {
    encode_tuned(result, a, options);
    return result;
  }
  Planner planner(a, result.filled_rows, options);
  const Planned best = planner.plan(options.layout);
  if (options.updatable) require_any_values(best.plan);
  note_plan(result, best.plan);
  if (chooses) {
    const Planned csr = planner.plan(std::string(layouts::csr::layout.name));
    if (options.updatable && !options.for_device) {
      const Planned* const least = least_with_updates(result, best, csr, options);
      if (least == nullptr) return result;
      std::string reason = std::move(result.reason);
      note_plan(result, least->plan);
      result.reason = std::move(reason);
      load_encoded(result, container_of(a, least->plan, options), options);
      return result;
    }
    if (!gains(result, best.seconds / csr.seconds, options)) return result;
  } else if (encoder::too_large(result.bytes, result.csr_bytes)) {
    throw Error(errc::unsupported,
                fmt::format("{} takes {} bytes, more than {} times AIJ's {}", result.layout, grouped(result.bytes),
                            encoder::max_growth, grouped(result.csr_bytes)),
                {}, "choose another layout");
  }
  load_encoded(result, container_of(a, best.plan, options), options);
  return result;
}

/// The sorted matrix, in an updatable form if that is wanted and there is one.
Encoding encode_if_updatable(const CsrView& a, EncodingOptions options) {
  if (options.updatable && options.layout != "auto") {
    try {
      return encode_sorted(a, options);
    } catch (const Error& e) {
      if (!encoder::is_refusal(e)) throw;
      options.updatable = false;
    }
  }
  return encode_sorted(a, options);
}

/// Sorted by rows and columns, with the entries of a position added up; or as it is, which `copy` then does not hold.
CsrView sorted(const CsrView& a, const EncodingOptions& options, SourceMatrix& copy) {
  if (a.columns_increase(options.threads)) return a;
  copy = assemble(a, options.threads);
  return copy.matrix;
}

/// The matrix that is encoded of A: A^T, or A, sorted.
CsrView matrix_of(const CsrView& a, const EncodingOptions& options, CsrMatrix& transpose, SourceMatrix& copy) {
  if (!options.transpose) return sorted(a, options, copy);
  transpose = transposed(a, options.threads);
  return sorted(transpose, options, copy);
}

/// Encoding::order: what becomes of the numbers of A's entries when they are its values. None if entries are added up.
std::optional<Array<std::int32_t>> order_of(const CsrView& a, const EncodingOptions& options) {
  if (!options.transpose && a.columns_increase(options.threads)) return Array<std::int32_t>();
  Array<std::uint64_t> row_ptr(a.rows() + 1);
  for (std::uint64_t r = 0; r <= a.rows(); ++r) row_ptr[r] = a.row_ptr(r);
  Array<double> numbers(a.nnz());
  std::iota(numbers.begin(), numbers.end(), 0.0);
  CsrMatrix transpose;
  SourceMatrix copy;
  const CsrView moved = matrix_of({a.rows(), a.cols(), std::span<const std::uint64_t>(row_ptr),
                                   std::span(a.col_idx(), a.nnz()), std::span<const double>(numbers)},
                                  options, transpose, copy);
  if (moved.nnz() != a.nnz()) return {};
  Array<std::int32_t> order(a.nnz());
  for (std::uint64_t k = 0; k < a.nnz(); ++k) order[k] = static_cast<std::int32_t>(moved.values<double>()[k]);
  return order;
}

}  // namespace

double EncodingOptions::default_at_most() noexcept { return use_v4() ? 1.0 : 0.7; }

void check_layout(const std::string& layout) { (void)encoder::find_strategy(layout); }

Encoding encode(const CsrView& a, const EncodingOptions& options) {
  const MemoryScope memory(0, "encoding a matrix of PETSc");
  EncodingOptions as_possible = options;
  std::optional<Array<std::int32_t>> order;
  if (options.updatable) order = order_of(a, options);
  as_possible.updatable = order.has_value();
  CsrMatrix transpose;
  SourceMatrix copy;
  Encoding result = encode_if_updatable(matrix_of(a, options, transpose, copy), as_possible);
  if (result.updatable) result.order = std::move(*order);
  return result;
}

void update_values(Encoding& encoding, std::span<const double> values, int threads) {
  const MemoryScope memory(0, "updating a matrix of PETSc");
  if (encoding.order.empty()) return encoding.matrix->update_values(values, threads);
  Array<double> ordered(values.size());
  constexpr std::uint64_t piece = std::uint64_t{1} << 16;
  parallel_items(values.size(), piece, threads,
                 [&](std::uint64_t k) { ordered[k] = values[static_cast<std::size_t>(encoding.order[k])]; });
  encoding.matrix->update_values(std::span<const double>(ordered.data(), ordered.size()), threads);
}

}  // namespace spmvpack::petsc
