#pragma once
// What dia and amb share: slots without an entry are all zero, and a list names the entries that are zero, too.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "spmvpack/container/base/types.hpp"
#include "spmvpack/container/file/contents.hpp"

namespace spmvpack::layouts {

/// Whether slots of `values` hold entries.
template <class T>
class Slots {
 public:
  explicit Slots(const PartView& part) : values_(part.get<T>("values")) {
    if (part.find("stored_zeros") != nullptr) zeros_ = part.get<std::uint64_t>("stored_zeros");
  }
  [[nodiscard]] std::span<const std::uint64_t> zeros() const { return zeros_; }
  /// Whether any bit of the value is set.
  [[nodiscard]] bool is_filled(std::uint64_t slot) const {
    bits_of<T> bits = 0;
    std::memcpy(&bits, &values_[slot], sizeof bits);
    return bits != 0;
  }
  [[nodiscard]] bool has_entry(std::uint64_t slot) const {
    return is_filled(slot) || std::binary_search(zeros_.begin(), zeros_.end(), slot);
  }
  /// The list strictly increases and names only slots of value +0. Error(errc::corrupt).
  void check_zeros(const PartView& part) const {
    for (std::size_t i = 0; i < zeros_.size(); ++i) {
      const auto require = [&](bool ok, const char* what) {
        part.require(ok, "stored_zeros", [&] { return fmt::format("element {}: {}", i, what); });
      };
      require(zeros_[i] < values_.size(), "a slot out of range");
      require(i == 0 || zeros_[i] > zeros_[i - 1], "slots do not rise");
      require(!is_filled(zeros_[i]), "the slot's value is not zero");
    }
  }

 private:
  std::span<const T> values_;
  std::span<const std::uint64_t> zeros_;
};

}  // namespace spmvpack::layouts
