#pragma once
// What blocks of a GPU's kernels fetch ahead of small matrices, as they begin.

#include <cstdint>

namespace spmvpack::launch_rules::prefetch {

/// The arrays that threads wait for are fetched ahead of matrices of up to so many bytes. In larger ones, what a block
/// begins with would wait behind what is fetched. docs/notebook/GPU.md, "What is fetched ahead".
inline constexpr std::uint64_t usual_limit = 8'000'000, csr_limit = 14'000'000;
/// Up to how many bytes of a matrix x is fetched.
inline constexpr std::uint64_t limit_with_x = 32'000'000;
/// An x of more bytes is not fetched ahead, nor one of which so few entries read only a small part.
/// docs/notebook/GPU.md, "What is fetched ahead".
inline constexpr std::uint64_t most_bytes_of_x = 6'000'000, most_columns_of_entry = 64;

/// What the blocks of a grid prefetch of an array: block b has the units [b of_block, (b + 1) of_block) from `begin`
/// on, as far as there are so many.
struct Shares {
  static constexpr std::uint32_t unit = 16;  ///< bytes that a fetch counts, and begins at a multiple of
  std::uint64_t begin = 0;
  std::uint32_t units = 0, of_block = 0;
};
/// An array may begin within a unit, which is still inside its allocation, as these begin with one; what it ends with
/// of a unit is not fetched.
constexpr Shares shares_of(std::uint64_t address, std::uint64_t bytes, unsigned blocks) {
  const auto units = static_cast<std::uint32_t>((address % Shares::unit + bytes) / Shares::unit);
  return {address - address % Shares::unit, units, (units + blocks - 1) / blocks};
}

}  // namespace spmvpack::launch_rules::prefetch
