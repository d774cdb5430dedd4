#pragma once
// A part whose sections are made on the device.

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "csr_arrays.hpp"
#include "memory.hpp"
#include "spmvpack/container/layouts/layout.hpp"
#include "spmvpack/encoder/layout.hpp"

namespace spmvpack::gpu_encoder {

struct EncodedSection {
  std::string_view name;
  std::uint64_t bytes = 0;
  std::shared_ptr<void> memory = {};  ///< null if `bytes` is 0
};

/// In the order of a file: maps first, then the layout's sections.
struct EncodedPart {
  PartInfo info;  ///< with its counts
  std::vector<EncodedSection> sections;
};

/// What a layout goes by.
struct PartOptions {
  encoder::PlanOptions plan;  ///< settings, aim and updatable
  bool force_size = false;    ///< of DeviceEncodeRequest
  bool weigh = false;         ///< whether `auto` compares the plan with others
};

/// A part whose sections are decided, and not made yet.
struct PlannedPart {
  /// As encoder's, without choices, if PartOptions::weigh: what is counted for its time alone is left out else.
  encoder::PartPlan plan = {};
  /// Makes the sections, once. The matrix, the options and what executes passes must still be there.
  std::function<EncodedPart()> write;
};

/// The table entry of the whole matrix in one part of a layout: without parameters and counts.
PartInfo part_info(const Layout& layout, const Csr& a);

/// The bytes of the sections, maps included. The parameters of `info` are set, and counts of
/// those sections whose descriptions do not tell them. `missing`: optional sections that the part does not have.
std::uint64_t section_bytes(const PartInfo& info, std::span<const std::string_view> missing = {});
/// The part as encoder has it: with its sections, and without what a multiply does.
encoder::PartPlan part_plan(PartInfo info, std::span<const std::string_view> missing = {});
/// Error(errc::unsupported) if the part takes more than max_growth times CSR, as encoder::encode() has it. Only device
/// sections count.
void check_growth(const PartInfo& info, const PartOptions& options, std::span<const std::string_view> missing = {});

/// Allocates the sections of a part, once its parameters and counts are known.
class PartMaker {
 public:
  /// Sets the counts that descriptions tell. Checks the size against `options`, and against the limit of `memory`,
  /// before anything is allocated. `missing`: optional sections of the layout that this part does not have.
  PartMaker(Memory& memory, PartInfo info, const PartOptions& options, std::vector<std::string_view> missing = {});

  [[nodiscard]] const PartInfo& info() const noexcept { return part_.info; }
  /// The memory of a section or a map. T has the size of its elements.
  template <class T>
  [[nodiscard]] T* section(std::string_view name) {
    return static_cast<T*>(memory_of(name, sizeof(T)));
  }
  [[nodiscard]] EncodedPart finish() { return std::move(part_); }

 private:
  [[nodiscard]] void* memory_of(std::string_view name, std::size_t element);
  EncodedPart part_;
};

}  // namespace spmvpack::gpu_encoder
