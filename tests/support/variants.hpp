#pragma once
// Layouts with the settings that tests use.

#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "containers.hpp"

namespace spmvpack::test {

struct Variant {
  std::string layout;
  std::map<std::string, std::string> settings;

  [[nodiscard]] std::string name() const {
    std::string text = layout;
    for (const auto& [key, value] : settings) text += fmt::format(" {}={}", key, value);
    return text;
  }
  [[nodiscard]] encoder::PartPlan plan(const CsrView& a) const { return plan_of(a, layout, {.settings = settings}); }
};

/// Every layout as it is by default.
inline std::vector<Variant> every_layout() {
  std::vector<Variant> all;
  for (const std::string& layout : layout_names()) all.push_back({layout, {}});
  return all;
}

/// Every layout by default, and where settings make another loop or order of additions.
inline std::vector<Variant> every_variant() {
  std::vector<Variant> all = every_layout();
  for (const char* const k : {"1", "2", "4", "8"}) all.push_back({"ccoo", {{"ccoo.k", k}}});
  all.push_back({"ccoo", {{"ccoo.values", "lut"}}});
  all.push_back({"sell", {{"sell.c", "32"}, {"sell.sigma", "1"}}});
  all.push_back({"sell", {{"sell.c", "5"}, {"sell.sigma", "12"}}});
  for (const char* const br : {"1", "4"}) all.push_back({"pjds", {{"pjds.br", br}}});
  for (const char* const block : {"1", "2", "3", "4", "5", "6", "7", "8"})
    all.push_back({"amb", {{"amb.segment", "65"}, {"amb.sigma", "64"}, {"amb.block", block}}});
  all.push_back({"amb", {{"amb.segment", "16"}, {"amb.c", "3"}, {"amb.sigma", "7"}, {"amb.block", "1"}}});
  for (const char* const threads : {"1", "3"}) all.push_back({"pkt", {{"pkt.threads", threads}}});
  // The rest of csell's ways is in csell_cases.hpp.
  all.push_back({"csell", {{"csell.values", "raw"}, {"csell.block", "1"}, {"csell.sums", "4"}}});
  all.push_back({"csell", {{"csell.values", "table"}, {"csell.sums", "2"}}});
  all.push_back({"bitflag", {{"bitflag.tile", "1"}, {"bitflag.values", "raw"}}});
  all.push_back({"bitflag", {{"bitflag.tile", "3"}, {"bitflag.hot", "5"}}});
  all.push_back({"bitflag", {{"bitflag.tile", "32"}, {"bitflag.values", "raw"}, {"bitflag.hot", "300"}}});
  all.push_back({"bitflag", {{"bitflag.tile", "2"}, {"bitflag.segments", "3"}}});
  all.push_back({"bitflag", {{"bitflag.values", "raw"}, {"bitflag.segments", "40"}}});
  all.push_back({"bitflag", {{"bitflag.tile", "3"}, {"bitflag.values", "window"}}});
  all.push_back({"bitflag", {{"bitflag.values", "decimal"}, {"bitflag.segments", "3"}}});
  all.push_back({"bitflag", {{"bitflag.values", "decimal"}, {"bitflag.hot", "5"}}});
  all.push_back({"sjds", {{"sjds.sigma", "8"}}});
  all.push_back({"sjds", {{"sjds.sigma", "24"}, {"sjds.values", "code"}}});
  all.push_back({"sjds", {{"sjds.values", "code"}}});
  return all;
}

/// Whether tests of many matrices take this one in this variant: not if padding makes megabytes of it, or if the layout
/// refuses it.
inline bool suits(const CsrView& a, const Variant& variant) {
  return suits(a, variant.layout, {.settings = variant.settings});
}

/// A container of the matrix in this variant, for which it is planned once, if it suits.
inline std::optional<Container> container_if_suits(const CsrView& a, const Variant& variant) {
  const std::optional<encoder::PartPlan> plan = plan_if_suits(a, variant.layout, {.settings = variant.settings});
  if (!plan) return std::nullopt;
  return open(file_of(a.rows(), a.cols(), a.value_type(), {*plan}, a));
}

}  // namespace spmvpack::test
