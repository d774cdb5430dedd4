#include "decide.hpp"

#include <array>

#include "column_passes.hpp"
#include "common_work.hpp"
#include "spmvpack/encoder/time_model.hpp"

namespace spmvpack::encoder {
namespace {

double seconds_of(const Variant& variant, const Aim& aim) {
  const Profile& profile = profile_of(aim);
  return predicted_seconds(variant.work, profile) +
         predicted_seconds(std::array{Counter(CommonWork::bytes, variant.device_bytes)}, profile);
}

}  // namespace

Variant for_columns(Variant one, const ColumnsWork& columns, const Aim& aim) {
  if (aim.columns == 1) return one;
  const ColumnPasses passes = passes_of(columns.at_once, aim);
  repeat(one.work, passes, columns);
  one.work.emplace_back(CommonWork::bytes, (passes.passes - 1) * one.device_bytes);
  return one;
}

double cost_of(const Variant& variant, const Aim& aim) {
  return aim.optimize == Objective::bytes ? static_cast<double>(variant.device_bytes) : seconds_of(variant, aim);
}

Rank rank_of(std::uint64_t device_bytes, double seconds, std::uint64_t csr_bytes, Objective optimize) {
  constexpr double worth_of_csr = 0.02;
  if (optimize == Objective::bytes) return {0, device_bytes};
  const double share = csr_bytes == 0 ? 0.0 : static_cast<double>(device_bytes) / static_cast<double>(csr_bytes);
  return {seconds * (1 + worth_of_csr * share), device_bytes};
}

Rank rank_of(const Variant& variant, std::uint64_t csr_bytes, const Aim& aim) {
  const double seconds = aim.optimize == Objective::bytes ? 0 : seconds_of(variant, aim);
  return rank_of(variant.device_bytes, seconds, csr_bytes, aim.optimize);
}

}  // namespace spmvpack::encoder
