#pragma once

#include <nlohmann/json.hpp>
#include <optional>

namespace spmvpack {

using Json = nlohmann::ordered_json;  ///< keys in the order in which they are given

/// null for an unset value.
template <class T>
Json optional_json(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

/// Numbers by their names: encoder's counters.
template <class Counters>
Json counters_json(const Counters& counters) {
  Json json = Json::object();
  for (const auto& counter : counters) json[counter.name] = counter.value;
  return json;
}

}  // namespace spmvpack
