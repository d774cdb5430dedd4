#pragma once
/// What plans minimise, and the machine for which times are predicted.

#include <cstdint>
#include <memory>

namespace spmvpack::encoder {

struct Profile;

enum class Objective : std::uint8_t { time, bytes };
enum class Target : std::uint8_t { gpu, host };
struct Aim {
  Objective optimize = Objective::time;
  Target target = Target::gpu;
  /// Of a machine of this kind (time_model.hpp); null: that of default_profile(). set_target() sets both.
  std::shared_ptr<const Profile> profile = nullptr;

  friend bool operator==(const Aim&, const Aim&) = default;
};

}  // namespace spmvpack::encoder
