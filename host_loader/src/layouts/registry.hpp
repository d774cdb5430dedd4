#pragma once

#include <memory>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "kernels.hpp"

namespace spmvpack::host_loader {

/// A layout's multiply for values of type A and vectors of type V.
template <class A, class V>
struct PairMultiply {
  Multiply<V> multiply;
};

namespace detail {
template <class None, class... Pairs>
using PairTuple = std::tuple<Pairs...>;
#define SPMVPACK_AND_PAIR(A, V) , PairMultiply<A, V>
using PairMultiplies = PairTuple<void SPMVPACK_TYPE_PAIRS(SPMVPACK_AND_PAIR)>;
#undef SPMVPACK_AND_PAIR
}  // namespace detail

/// The functions of one layout.
struct LayoutMultiply {
  std::string_view name;
  detail::PairMultiplies pairs;
  /// Of a loaded part that is checked; may return null. Null if the layout needs no state.
  std::unique_ptr<const LayoutState> (*prepare)(const PartView& part, int threads) = nullptr;

  /// The function for values of type `values` and vectors of type V; null if they are no pair.
  template <class V>
  [[nodiscard]] Multiply<V> with_vectors(ValueType values) const {
    Multiply<V> found = nullptr;
    const auto look = [&]<class A, class W>(const PairMultiply<A, W>& pair) {
      if constexpr (std::is_same_v<V, W>)
        if (values == value_type_of<A>) found = pair.multiply;
    };
    std::apply([&](const auto&... pair) { (look(pair), ...); }, pairs);
    return found;
  }
};

/// Error(errc::unsupported) if this build cannot multiply with the layout.
const LayoutMultiply& find_multiply(std::string_view layout);

}  // namespace spmvpack::host_loader
