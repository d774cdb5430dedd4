#pragma once
/// How plans read their settings, and the device that they go by: for encoder, and for rooms above it that plan
/// elsewhere.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "spmvpack/container/base/export.hpp"
#include "spmvpack/container/layouts/value_slot.hpp"
#include "spmvpack/encoder/device.hpp"
#include "spmvpack/encoder/layout.hpp"

namespace spmvpack::encoder {

/// The device of the aim's profile; for fewest bytes the package's, whatever the target.
SPMVPACK_EXPORT const Device& device_of(const Aim& aim);
inline const Device& device_of(const PlanOptions& options) { return device_of(options.aim); }

/// Error(errc::usage): the setting does not have this value, which is not one of `values` ("auto, 1 or 2").
[[noreturn]] SPMVPACK_EXPORT void refuse_setting(const std::string& name, const std::string& value,
                                                 std::string_view values);

/// Error(errc::usage): the setting wants values that are not each entry's own, of a matrix that is to be updatable.
[[noreturn]] SPMVPACK_EXPORT void refuse_shared_values(std::string_view name, std::string_view value);
/// The same, if it does.
inline void check_values_setting(const PlanOptions& options, std::string_view name, std::string_view value,
                                 spmvpack::layouts::ValuesAre values) {
  if (options.updatable && values != spmvpack::layouts::ValuesAre::own) refuse_shared_values(name, value);
}

/// The number of a setting, from `least` to `most`; none if it is absent or is the `word` for letting the plan choose
/// (empty: there is none). Error(errc::usage).
SPMVPACK_EXPORT std::optional<std::uint64_t> read_setting(const PlanOptions& options, const std::string& name,
                                                          std::uint64_t least, std::uint64_t most,
                                                          std::string_view word);

/// The place among `names` of a setting's value; none if it is absent or is the `word`. Error(errc::usage).
template <class Place>
std::optional<Place> read_name(const PlanOptions& options, const Setting& setting,
                               std::span<const std::string_view> names, std::string_view word = "auto") {
  const auto found = options.settings.find(std::string(setting.name));
  if (found == options.settings.end() || found->second == word) return {};
  const auto name = std::find(names.begin(), names.end(), found->second);
  if (name == names.end()) refuse_setting(found->first, found->second, setting.values);
  return static_cast<Place>(name - names.begin());
}

/// Whether a setting has the one name that it may have beside the `word`. Error(errc::usage).
inline bool has_name(const PlanOptions& options, const Setting& setting, std::string_view name,
                     std::string_view word = "auto") {
  return read_name<std::size_t>(options, setting, std::span(&name, 1), word).has_value();
}

}  // namespace spmvpack::encoder
