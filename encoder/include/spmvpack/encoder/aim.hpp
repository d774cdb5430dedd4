#pragma once
/// What plans minimise, and the machine for which times are predicted.

#include <cstdint>
#include <memory>

namespace spmvpack::encoder {

struct Profile;

enum class Objective : std::uint8_t { time, bytes };
enum class Target : std::uint8_t { gpu, host };
/// The most columns of X for which a multiply can be predicted.
inline constexpr std::uint64_t most_columns = 1024;
struct Aim {
  Objective optimize = Objective::time;
  Target target = Target::gpu;
  /// The profile of a machine of this kind (time_model.hpp); null: that of default_profile(). set_target() sets both.
  std::shared_ptr<const Profile> profile = nullptr;
  /// The columns of X in a multiply Y = A X, 1 to most_columns: times are for all of them together.
  std::uint64_t columns = 1;

  friend bool operator==(const Aim&, const Aim&) = default;
};

/// Whether plans are for a GPU's kernels of several columns, which not every form of a layout has.
constexpr bool several_columns(const Aim& aim) {
  return aim.columns > 1 && aim.target == Target::gpu && aim.optimize == Objective::time;
}

}  // namespace spmvpack::encoder
