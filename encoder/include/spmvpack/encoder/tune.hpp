#pragma once
/// Choosing a layout by measured times instead of predicted ones: encode() with EncodeRequest::tuner. The encoder
/// measures nothing itself and knows no machine; the caller's function does.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "spmvpack/container/file/contents.hpp"
#include "spmvpack/container/multiply/timing.hpp"

namespace spmvpack::encoder {

/// What is measured: the layouts and strategies that `auto` may take and whose predicted time is within this factor of
/// the least one's, the first of them if there are more; and csr, which a program has without encoding.
inline constexpr double measured_within = 1.5;
inline constexpr std::size_t most_measured = Provenance::most_measured;
/// Seconds of measuring altogether, beyond planning and loading.
inline constexpr double tuning_seconds = 1;
/// Measured times that differ by less are the same: the smaller layout is taken.
inline constexpr double measuring_noise = 0.01;

struct Tuner {
  std::string machine;  ///< that measures, for the provenance: the name of a GPU or processor
  /// Measures a container that holds A alone, without a codec. It gets an even share of the seconds that are left; what
  /// it takes of them is MultiplyTimes::spent, and the choice goes by MultiplyTimes::mean(). An Error that is_refusal()
  /// leaves this layout out; any other exception ends encode().
  MeasureMultiply measure;
};

/// A layout or strategy that was to be measured.
struct TunedLayout {
  std::string name;
  std::uint64_t device_bytes = 0;
  double predicted_seconds = 0;
  std::optional<MultiplyTimes> times;  ///< unset: it was not measured
  std::string refusal = {};            ///< why not
};

/// What was measured.
struct Tuning {
  std::string machine;
  std::vector<TunedLayout> layouts;  ///< what `auto` takes first, then by predicted time
  std::size_t chosen = 0;            ///< its place there
};

}  // namespace spmvpack::encoder
