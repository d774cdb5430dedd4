#pragma once

#include <memory>
#include <string_view>

#include "kernels.hpp"

namespace spmvpack::host_loader {

/// The functions of one layout: its multiplies by the types of values and vectors.
struct LayoutMultiply {
  std::string_view name;
  Multiply<double> f64;
  Multiply<float> f32;
  Multiply<double> f32_with_f64_vectors;
  /// Of a loaded part that is checked; may return null. Null if the layout needs no state.
  std::unique_ptr<const LayoutState> (*prepare)(const PartView& part, int threads) = nullptr;

  /// The function for values of type `values` and vectors of type V, which is at least as wide.
  template <class V>
  [[nodiscard]] Multiply<V> with_vectors(ValueType values) const {
    if constexpr (value_type_of<V> == ValueType::f32)
      return f32;
    else
      return values == ValueType::f64 ? f64 : f32_with_f64_vectors;
  }
};

/// Error(errc::unsupported) if this build cannot multiply with the layout.
const LayoutMultiply& find_multiply(std::string_view layout);

}  // namespace spmvpack::host_loader
