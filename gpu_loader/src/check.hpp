#pragma once
// The structure of what has been uploaded, checked where it lies.

#include <span>

#include "layouts/registry.hpp"

namespace spmvpack::gpu_loader {

/// What the tables alone say of a part and of its maps. Error(errc::corrupt). Must pass before anything is launched.
void check_shape(const PartView& part);

/// Runs the layouts' checks and those of the maps, and waits for them. Error(errc::corrupt), naming the container, the
/// first part that is wrong and all that is wrong with it.
void check_structure(std::span<const DevicePart> parts, const MatrixFacts& facts, const std::string& name,
                     Stream stream);

}  // namespace spmvpack::gpu_loader
