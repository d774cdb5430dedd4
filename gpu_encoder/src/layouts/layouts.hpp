#pragma once
// The layouts that are encoded on the device. Each is a template of what executes its passes, in NAME.hpp, and is
// compiled for the device in a source of its own, NAME.cu.

#include <array>

#include "csr_arrays.hpp"
#include "part.hpp"

namespace spmvpack::gpu_encoder {

/// The matrix, which has been checked, as one part of the layout.
template <class Execution>
PlannedPart plan_csr(const Execution& run, const Csr& a, const PartOptions& options);
template <class Execution>
PlannedPart plan_ell(const Execution& run, const Csr& a, const PartOptions& options);
template <class Execution>
PlannedPart plan_sell(const Execution& run, const Csr& a, const PartOptions& options);
template <class Execution>
PlannedPart plan_csell(const Execution& run, const Csr& a, const PartOptions& options);
template <class Execution>
PlannedPart plan_bitflag(const Execution& run, const Csr& a, const PartOptions& options);

template <class Execution>
struct LayoutOnDevice {
  std::string_view name;
  PlannedPart (*plan)(const Execution& run, const Csr& a, const PartOptions& options);
};

/// All of them, simplest first; layouts_on_device() in request.cpp has their names.
template <class Execution>
constexpr auto all_layouts() {
  return std::array{LayoutOnDevice<Execution>{"csr", plan_csr<Execution>},
                    LayoutOnDevice<Execution>{"ell", plan_ell<Execution>},
                    LayoutOnDevice<Execution>{"sell", plan_sell<Execution>},
                    LayoutOnDevice<Execution>{"csell", plan_csell<Execution>},
                    LayoutOnDevice<Execution>{"bitflag", plan_bitflag<Execution>}};
}

}  // namespace spmvpack::gpu_encoder
