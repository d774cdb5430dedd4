#pragma once
// What multiply() does to x and y around the parts.

#include "layouts/layout.hpp"

namespace spmvpack::gpu_loader {

/// y = beta y, for n elements; y is not read where beta is 0.
void scale_vector(ValueType type, const Scalar<double>& beta, void* y, std::uint64_t n, Stream stream);
/// to[i] = from[list[i]] for i < n. With a `condition` other than null nothing is read where it is 0, and to is 0.
void gather_vector(ValueType type, const std::uint32_t* list, const void* from, void* to, std::uint64_t n,
                   const Scalar<double>* condition, Stream stream);
/// to[list[i]] = from[i] for i < n; the list has no index twice.
void scatter_vector(ValueType type, const std::uint32_t* list, const void* from, void* to, std::uint64_t n,
                    Stream stream);

}  // namespace spmvpack::gpu_loader
