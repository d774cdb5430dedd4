#pragma once
// New values for a loaded matrix: what load() builds for that, and the kernels.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "kernels/call.hpp"
#include "spmvpack/container/multiply/value_slots.hpp"

namespace spmvpack::gpu_loader {

/// Threads of a block, and places of a thread whose loads are on their way at once.
inline constexpr unsigned update_threads = 256, places_together = 4, places_of_block = update_threads * places_together;

/// Where a part's values are, and which go there. Where a place is no_value, what is there stays.
struct PartUpdate {
  std::byte* section = nullptr;
  std::uint64_t count = 0;       ///< of `places`
  std::shared_ptr<void> places;  ///< in device memory; null: element k of the section is value k
  bool by_value = false;         ///< places are of values, in the section; else of elements, among the values
  bool wide = false;             ///< whether places are numbers of 64 bits
  bool held_by_bits = false;     ///< as ValueSlots has it
};

struct Updates {
  std::vector<PartUpdate> parts;
  /// Two numbers of 32 bits in device memory: whether the last update was refused, and whether one has been since
  /// they were last looked at. Null: none can be.
  std::shared_ptr<void> refused;
};

/// Of parts whose bytes `host` has, and `device` in device memory; the latter will be written. `allocate` returns
/// device memory. Waits for the stream. Errors: as value_sources() and value_slots().
Updates make_updates(const MatrixFacts& facts, std::span<const PartView* const> host,
                     std::span<const PartView* const> device,
                     const std::function<std::shared_ptr<void>(std::uint64_t bytes)>& allocate, Stream stream,
                     int threads);

/// Launches. `values`, of type `from`, are in device memory; a matrix of f32 takes f64, too.
void update_values(const Updates& updates, ValueType stored, ValueType from, const void* values, Stream stream);

/// Waits for the stream, and says whether an update was refused since this was last asked.
bool take_refused(const Updates& updates, Stream stream);

}  // namespace spmvpack::gpu_loader
