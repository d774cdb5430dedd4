#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "layouts/layouts.hpp"
#include "spmvpack/container/base/text.hpp"
#include "spmvpack/container/layouts/layout.hpp"
#include "strategies/strategies.hpp"

namespace spmvpack::encoder {
namespace {

std::vector<Strategy> all_strategies() {
  std::vector<Strategy> all;
  for (const LayoutEncoder& layout : layout_encoders()) all.push_back(strategy::one_layout(layout));
  all.push_back(strategy::hyb());
  all.push_back(strategy::segmented_sell());
  all.push_back(strategy::nus_sell());
  all.push_back(strategy::split());
  for (Strategy& s : all)
    if (!s.traits.takes_complex)
      s.plan = [plan = std::move(s.plan), name = s.name](const CsrView& a, const PlanOptions& options) {
        if (holds_complex(a.value_type())) layouts::refuse_complex(name, a.value_type());
        return plan(a, options);
      };
  all.insert(all.begin(), strategy::choose_best(all));
  return all;
}

[[noreturn]] void refuse_setting(const std::string& name, const std::vector<std::string_view>& known) {
  throw Error(errc::usage, fmt::format("the setting '{}' is not known", escape(name)), {},
              fmt::format("use one of: {}", fmt::join(known, ", ")));
}

}  // namespace

std::span<const Strategy> strategies() {
  static const std::vector<Strategy> all = all_strategies();
  return all;
}

const Strategy& find_strategy(std::string_view name) {
  std::vector<std::string_view> known;
  for (const Strategy& s : strategies()) {
    if (s.name == name) return s;
    known.push_back(s.name);
  }
  throw Error(errc::usage, fmt::format("the layout '{}' is not known", escape(name)), {},
              fmt::format("use one of: {}", fmt::join(known, ", ")));
}

std::map<std::string, std::string> settings_of(const Strategy& strategy,
                                               const std::map<std::string, std::string>& settings) {
  std::map<std::string, std::string> own;
  for (const Setting& setting : strategy.settings)
    if (const auto given = settings.find(std::string(setting.name)); given != settings.end()) own.insert(*given);
  return own;
}

void check_settings(const std::map<std::string, std::string>& settings) {
  std::vector<std::string_view> known;
  for (const Strategy& s : strategies())
    if (!s.chooses)
      for (const Setting& setting : s.settings)
        if (std::find(known.begin(), known.end(), setting.name) == known.end()) known.push_back(setting.name);
  for (const auto& [name, value] : settings)
    if (std::find(known.begin(), known.end(), name) == known.end()) refuse_setting(name, known);
}

void check_settings(const std::map<std::string, std::string>& settings, const Strategy& strategy) {
  for (const auto& set : settings) {
    if (std::any_of(strategy.settings.begin(), strategy.settings.end(),
                    [&](const Setting& s) { return s.name == set.first; }))
      continue;
    check_settings({set});
    throw Error(errc::usage, fmt::format("{} is not a setting of the layout {}", set.first, strategy.name), {},
                "omit it, or choose its layout");
  }
}

std::uint64_t PartPlan::device_bytes() const {
  std::uint64_t bytes = 0;
  for (const SectionShape& s : sections)
    if ((s.flags & format::section_device) != 0) bytes = checked_add(bytes, s.raw_bytes(), "device bytes");
  return bytes;
}

std::uint64_t Plan::device_bytes() const {
  std::uint64_t bytes = 0;
  for (const PartPlan& part : parts) bytes = checked_add(bytes, part.device_bytes(), "device bytes");
  return bytes;
}

bool Plan::fill_reads_x() const {
  return std::any_of(parts.begin(), parts.end(), [](const PartPlan& part) { return part.fill_reads_x; });
}

bool Plan::updatable() const {
  return std::all_of(parts.begin(), parts.end(), [](const PartPlan& part) {
    return part.info.nnz == 0 || part_values(part.info).are == spmvpack::layouts::ValuesAre::own;
  });
}

bool Plan::holds_by_bits() const {
  return std::any_of(parts.begin(), parts.end(),
                     [](const PartPlan& part) { return part.info.nnz != 0 && part_values(part.info).hold_by_bits; });
}

std::string Plan::layouts() const {
  std::vector<std::string_view> names;
  for (const PartPlan& part : parts)
    if (std::find(names.begin(), names.end(), part.info.layout) == names.end()) names.emplace_back(part.info.layout);
  return fmt::format("{}", fmt::join(names, "+"));
}

}  // namespace spmvpack::encoder
