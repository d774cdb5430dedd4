#pragma once
/// Profiles of machines that the package does not have, as files: what `--target FILE` reads
/// (docs/profile.schema.json).

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "spmvpack/container/base/export.hpp"
#include "spmvpack/encoder/time_model.hpp"

namespace spmvpack::encoder {

inline constexpr std::size_t most_machine_bytes = 64;

/// What a profile says of a machine, in memory of its own.
struct ProfileFacts {
  /// What files and reports call it: 1 to 64 letters, digits, dots, dashes and underlines, no dash first, and none of
  /// target_names().
  std::string id;
  std::string machine;  ///< what was measured, in 1 to most_machine_bytes without control characters
  Target target = Target::gpu;
  XCaches x_caches = {};
  Device device = {};
  std::vector<double> picoseconds;  ///< Profile::picoseconds
};

/// Error(errc::usage) at `where` if these facts are not valid for any machine.
SPMVPACK_EXPORT std::shared_ptr<const Profile> make_profile(ProfileFacts facts, const std::string& where = {});

/// Errors: errc::io; errc::bad_input, with the place in the file, if it is not JSON of docs/profile.schema.json, lacks
/// a unit or has one that this version does not know, or if make_profile() refuses what it says.
SPMVPACK_EXPORT std::shared_ptr<const Profile> read_profile(const std::string& path);
/// The same of JSON in memory, which messages call `name`.
SPMVPACK_EXPORT std::shared_ptr<const Profile> parse_profile(std::string_view json, const std::string& name);

/// As such a file, ends with a newline. `id`: another than the profile's own; a shipped profile's is refused when read.
SPMVPACK_EXPORT std::string to_json(const Profile& profile, std::string_view id = {});

}  // namespace spmvpack::encoder
